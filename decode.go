package shipping

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/shipping-go/shipping/internal/jsonscan"
)

// scanEnvelope reads the answer of a list, or one with a regulatory record, in one pass, several times
// as fast as encoding/json does.
// It reports false for any answer that it is not sure to read as package jsonexact would: that one then
// decides. What it returns is always what jsonexact returns, which the fuzz tests check.
//
// Nothing of the body is kept. The strings of neighbouring records share blocks of a few kilobytes.
func scanEnvelope[T any](body []byte) (envelope[T], bool) {
	var answer envelope[T]
	switch any(&answer.Data).(type) {
	case *rateList, *transactionList, *webhookList, *[]Country, *requestData:
	default:
		return answer, false
	}
	d := recordReader{Scanner: jsonscan.New(body), size: len(body)}
	d.record(&envelopeFields{&answer.Status, &answer.Message, &answer.Data})
	if !d.Done() {
		return envelope[T]{}, false
	}
	return answer, true
}

// WithPlainDecoding reads every answer with encoding/json alone, except that names of members match byte for
// byte. Without it the answers of lists are read by a decoder of the client's own, which is several times as fast and gives the same records; it
// leaves whatever is out of the ordinary to encoding/json. The difference is in memory: the strings of
// neighbouring records share blocks of 4 KB, so a record that is kept keeps what it shares.
func WithPlainDecoding() Option { return func(s *settings) { s.plainDecoding = true } }

// recordReader reads JSON into the fields of records.
type recordReader struct {
	jsonscan.Scanner
	size   int // of the text
	orders [kinds]jsonscan.Order

	// Lists within a record are gathered here before they are copied to their size.
	events    []EventKind
	timezones []Timezone
}

// value reads the value that comes next into target, a pointer. A null leaves it as it is, as
// encoding/json does. Only raw JSON keeps it.
func (d *recordReader) value(target any) {
	if d.Peek() == 'n' {
		d.Null()
		switch v := target.(type) {
		case *RawJSON:
			*v = "null"
		case *requestData, *AvailableDocument: // their UnmarshalJSON is called
			d.Fail()
		}
		return
	}
	switch v := target.(type) {
	case *string:
		*v = d.Text()
	case *Amount:
		*v = d.amount()
	case *RawJSON:
		*v = RawJSON(d.RawText())
	case *time.Time:
		d.timestamp(v)
	case *bool:
		*v = d.Bool()
	case *float64:
		*v = d.Float()
	case *int64:
		*v = d.Int()
	case *int:
		n := d.Int()
		if *v = int(n); int64(*v) != n {
			d.Fail()
		}
	case **bool:
		b := d.Bool()
		*v = &b
	case *EventKind:
		*v = EventKind(d.Text())
	case *TransactionFlow:
		*v = TransactionFlow(d.Text())
	case *TransactionStatus:
		*v = TransactionStatus(d.Text())
	case *RequestStatus:
		*v = RequestStatus(d.Text())
	case *Source:
		*v = Source(d.Text())
	case *DocumentType:
		*v = DocumentType(d.Text())
	default:
		d.compound(target)
	}
}

// compound reads a record, or a list of them.
func (d *recordReader) compound(target any) {
	switch v := target.(type) {
	case *[]Rate:
		*v = readPage[Rate](d)
	case *[]Transaction:
		*v = readPage[Transaction](d)
	case *[]Webhook:
		*v = readPage[Webhook](d)
	case *[]Country:
		*v = readPage[Country](d)
	case *[]EventKind:
		if *v != nil { // under both of its names: which counts is up to Webhook.UnmarshalJSON
			d.Fail()
		}
		*v = readList(d, &d.events)
	case *[]Timezone:
		*v = readList(d, &d.timezones)
	case *requestData:
		d.request(v)
	case *otherName:
		d.Fail()
	case *[]AvailableDocument:
		*v = readPage[AvailableDocument](d)
	case *[]MatchReason:
		*v = readPage[MatchReason](d)
	case *[]ProfileField:
		*v = readPage[ProfileField](d)
	case *[]LineItem:
		*v = readPage[LineItem](d)
	case *[]Document:
		*v = readPage[Document](d)
	case **Addresses:
		*v = &Addresses{}
		d.record(*v)
	case **Address:
		*v = &Address{}
		d.record(*v)
	case **Shipping:
		*v = &Shipping{}
		d.record(*v)
	case *map[DocumentType]RawJSON:
		if json.Unmarshal(d.Raw(), v) != nil {
			d.Fail()
		}
	default:
		d.record(target)
	}
}

// otherName is the target of a member that stands for a field under a name of its own. Which of the two
// counts is up to the record's UnmarshalJSON.
type otherName struct{}

// request reads a regulatory record, and keeps its text.
func (d *recordReader) request(data *requestData) {
	d.Peek()
	start := d.Offset()
	data.record = &RegulatoryRequest{}
	d.record(data.record)
	data.raw = RawJSON(d.Since(start))
	data.record.Raw = data.raw
}

// record reads a JSON object into the fields of the record that target points to.
func (d *recordReader) record(target any) {
	var room [32]any // on the stack, where pointers are cheap
	kind, fields, known := recordFields(target, room[:0])
	if !known {
		d.Fail()
		return
	}
	object := jsonscan.Object{Names: recordNames()[kind], Order: &d.orders[kind]}
	for i := d.Member(&object); i >= 0; i = d.Member(&object) {
		d.value(fields[i])
	}
}

// readPage reads the records of a page.
func readPage[T any](d *recordReader) []T {
	items, start := []T{}, d.Offset()
	for first := true; d.Element(first); first = false {
		if n := len(items); n == cap(items) {
			room := d.roomFor(n, d.Offset()-start, int(reflect.TypeFor[T]().Size()))
			items = append(make([]T, 0, room), items...)
		}
		items = items[:len(items)+1]
		d.value(&items[len(items)-1])
	}
	return items
}

// roomFor returns for how many records a page needs memory, of which n were read from so many bytes.
// If the others are as long as the first few, it is what they need and a little more. Records that
// begin a page may be short by accident or malice, so on their word no more memory is taken than
// twice the size of the body.
func (d *recordReader) roomFor(n, read, recordSize int) int {
	const few = 8
	if n == 0 {
		return 1
	}
	likely := n + (d.size-d.Offset())/(read/n+1)*17/16 + 1
	if n < few {
		return min(max(likely, n+1), few)
	}
	return max(2*n, min(likely, 2*d.size/recordSize))
}

// readList reads a short list by way of a scratch list, into memory of just its size.
func readList[T any](d *recordReader, scratch *[]T) []T {
	items := (*scratch)[:0]
	for first := true; d.Element(first); first = false {
		var zero T
		items = append(items, zero)
		d.value(&items[len(items)-1])
	}
	*scratch = items
	return append([]T{}, items...)
}

func (d *recordReader) amount() Amount { return amountOf(d.Raw()) }
