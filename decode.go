package shipping

import (
	"reflect"
	"time"

	"github.com/shipping-go/shipping/internal/jsonscan"
)

// scanEnvelope reads the answer of a list in one pass, several times as fast as encoding/json does.
// It reports false for any answer that it is not sure to read as encoding/json would: that one then
// decides. What it returns is always what encoding/json returns, which the fuzz tests hold it to.
//
// The text of the body is copied once, and the strings of all records are pieces of that one copy.
func scanEnvelope[T any](body []byte) (envelope[T], bool) {
	var answer envelope[T]
	switch any(&answer.Data).(type) {
	case *rateList, *transactionList, *webhookList, *[]Country:
	default:
		return answer, false
	}
	d := recordReader{Scanner: jsonscan.New(string(body)), size: len(body)}
	d.fields = d.room[:0]
	d.record(&envelopeFields{&answer.Status, &answer.Message, &answer.Data}, envelopeKind)
	if !d.Done() {
		return envelope[T]{}, false
	}
	return answer, true
}

// WithPlainDecoding reads every answer with encoding/json alone, not the answers of lists with the
// client's own decoder, which is several times as fast and gives the same records. The difference is
// in memory: with the fast decoder the strings of a page's records are pieces of one copy of its
// body, so a record that is kept keeps all of that. A program that keeps a few records of very many
// pages can use this option, or [strings.Clone] what it keeps.
func WithPlainDecoding() Option { return func(s *settings) { s.plainDecoding = true } }

// recordReader reads JSON into the fields of records.
type recordReader struct {
	jsonscan.Scanner
	size   int // of the text
	orders [kinds]jsonscan.Order

	// fields holds pointers to the fields of the record being read, behind those of the records that
	// it is part of. There is room for the fields of a transaction and all around it.
	fields []any
	room   [40]any
	// Lists within a record are gathered here before they are copied to their size.
	events    []EventKind
	timezones []Timezone
}

// value reads the value that comes next into target, a pointer. A null leaves it as it is, as
// encoding/json does. Only raw JSON keeps it.
func (d *recordReader) value(target any) {
	if d.Peek() == 'n' {
		d.Null()
		if v, ok := target.(*RawJSON); ok {
			*v = "null"
		}
		return
	}
	switch v := target.(type) {
	case *string:
		*v = d.Text()
	case *Amount:
		*v = amountOf(d.Raw())
	case *RawJSON:
		*v = RawJSON(d.Raw())
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
	default:
		d.compound(target)
	}
}

// compound reads a record, or a list of them.
func (d *recordReader) compound(target any) {
	switch v := target.(type) {
	case *Rate:
		d.record(v, rateKind)
	case *Transaction:
		d.record(v, transactionKind)
	case *Webhook:
		d.webhook(v)
	case *Country:
		d.record(v, countryKind)
	case *Timezone:
		d.record(v, timezoneKind)
	case *Receiver:
		d.record(v, receiverKind)
	case *Sender:
		d.record(v, senderKind)
	case *Pagination:
		d.record(v, paginationKind)
	case *rateList:
		d.record(v, rateListKind)
	case *transactionList:
		d.record(v, transactionListKind)
	case *webhookList:
		d.record(v, webhookListKind)
	case *[]Rate:
		*v = readPage[Rate](d)
	case *[]Transaction:
		*v = readPage[Transaction](d)
	case *[]Webhook:
		*v = readPage[Webhook](d)
	case *[]Country:
		*v = readPage[Country](d)
	case *[]EventKind:
		*v = readList(d, &d.events)
	case *[]Timezone:
		*v = readList(d, &d.timezones)
	default:
		d.Fail()
	}
}

// record reads a JSON object into the fields of r.
func (d *recordReader) record(r record, kind recordKind) {
	base := len(d.fields)
	d.fields = r.appendFields(d.fields)
	fields := d.fields[base:]
	object := jsonscan.Object{Names: recordNames()[kind], Order: &d.orders[kind]}
	for i := d.Member(&object); i >= 0; i = d.Member(&object) {
		d.value(fields[i])
	}
	d.fields = d.fields[:base]
}

// webhook reads the kinds of events under both of their names, as [Webhook.UnmarshalJSON] does.
func (d *recordReader) webhook(w *Webhook) {
	wire := webhookFields{Webhook: w}
	d.record(&wire, webhookKind)
	if w.Event == nil {
		w.Event = wire.events
	}
}

// readPage reads the records of a page. Their memory is sized by the first of them: the text that
// follows holds about as many more as it has room for.
func readPage[T any](d *recordReader) []T {
	items, start := []T{}, d.Offset()
	for first := true; d.Element(first); first = false {
		if n := len(items); n == cap(items) {
			items = append(make([]T, 0, d.capacity(n, d.Offset()-start, int(reflect.TypeFor[T]().Size()))), items...)
		}
		items = items[:len(items)+1]
		d.value(&items[len(items)-1])
	}
	return items
}

// capacity returns room for a page of which n records were read, from so many bytes of text. It is
// an eighth more than would do if the others were of the same length; but records that begin a page
// can be short by mistake or malice, so at most twice the size of the body is taken on their word.
func (d *recordReader) capacity(n, read, recordSize int) int {
	if n == 0 {
		return 1
	}
	likely := n + (d.size-d.Offset())/(read/n+1)*9/8 + 1
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

// timestamp reads an RFC 3339 timestamp.
func (d *recordReader) timestamp(t *time.Time) {
	raw := d.Raw()
	if at, ok := utcTimestamp(raw); ok {
		*t = at
	} else if t.UnmarshalJSON([]byte(raw)) != nil {
		d.Fail()
	}
}

// utcTimestamp reads what services nearly always send: "2026-01-05T09:30:00.000Z", the fraction of
// any length or absent.
func utcTimestamp(raw string) (at time.Time, ok bool) {
	const layout = `"2006-01-02T15:04:05Z"`
	if len(raw) < len(layout) || raw[5] != '-' || raw[8] != '-' || raw[11] != 'T' || raw[14] != ':' || raw[17] != ':' || raw[len(raw)-2] != 'Z' {
		return at, false
	}
	high, ok0 := twoDigits(raw[1:])
	low, ok1 := twoDigits(raw[3:])
	month, ok2 := twoDigits(raw[6:])
	day, ok3 := twoDigits(raw[9:])
	hour, ok4 := twoDigits(raw[12:])
	minute, ok5 := twoDigits(raw[15:])
	second, ok6 := twoDigits(raw[18:])
	nanosecond, ok7 := fraction(raw[20 : len(raw)-2])
	if !(ok0 && ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && ok7) || day > 28 && month == 2 ||
		month < 1 || month > 12 || day < 1 || day > 30 || hour > 23 || minute > 59 || second > 59 {
		return at, false // days that not every month has are left to the full parser
	}
	return time.Date(100*high+low, time.Month(month), day, hour, minute, second, nanosecond, time.UTC), true
}

func twoDigits(s string) (n int, ok bool) {
	tens, units := s[0]-'0', s[1]-'0'
	return 10*int(tens) + int(units), tens <= 9 && units <= 9
}

// fraction reads ".000" and the like as nanoseconds.
func fraction(s string) (nanoseconds int, ok bool) {
	if s == "" {
		return 0, true
	}
	if s[0] != '.' || len(s) < 2 || len(s) > 10 {
		return 0, false
	}
	unit := 1_000_000_000
	for i := 1; i < len(s); i++ {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		unit /= 10
		nanoseconds += int(digit) * unit
	}
	return nanoseconds, true
}
