package evidence

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/decimal"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/status"
)

// Record is what the data of a response shows about a purchase. It is read once.
type Record struct {
	// Unclear is the reason why the data is not evidence; "" if it is evidence.
	Unclear string
	// Status is the status of the record; "" if it shows none.
	Status string
	// Draft: the data shows the status draft, in any case of letters.
	Draft bool
	// Transaction: the data shows a transaction, or one that cannot be read.
	Transaction bool
	// Charge is the charged amount as it was written; "" if none is shown. Zero is not a charge.
	Charge string
	// Failures: the data lists what failed.
	Failures bool
	// Failed: the data, or the record inside it, states that something was not performed.
	Failed bool
	// Data is the record itself: the data of the response, or the record inside it.
	Data jsonread.Value
	// lists has the slugs of the documents in each member of listNames; a slug that cannot be read is "".
	lists   map[string][]string
	charge  jsonread.Member // of Charge
	dialect *dialect.Dialect
}

// listNames are the members that may list purchased documents, as slugs or as objects with a slug.
//
// Assumption: the specification does not show the list. Services use "documents" and "document_types" for other
// lists too, such as the documents that are available or uploaded: see [Record.Since].
var listNames = []string{"documents", "document_types", "purchased_documents"}

// Read reads the data of a response. The record may be data, data.request, or the member that the dialect names. A
// dialect, which may be nil, only adds names under which evidence is found.
func Read(data string, d *dialect.Dialect) *Record {
	if d == nil {
		d = new(dialect.Dialect)
	}
	return readValue(jsonread.Parse(data), d)
}

func readValue(root jsonread.Value, d *dialect.Dialect) *Record {
	inner := root.Get("request")
	if own := root.Get(d.Record.At); own.Kind != 0 {
		inner = own
	}
	r := &Record{Unclear: unclear(root, inner, d.Record.At), lists: map[string][]string{}, Data: root, dialect: d}
	if inner.Kind == '{' && root.Get("request_id").Text == "" {
		r.Data = inner
	}
	r.Status = r.Data.Get("status").Text
	for _, level := range []jsonread.Value{root, inner} {
		r.Draft = r.Draft || strings.EqualFold(strings.TrimSpace(level.Get("status").Text), "draft")
		r.Failures = r.Failures ||
			hasAny(level, "failed", "failures", "failed_documents", "errors", "rejected", "unpurchased")
		// The status failed of a record states that its documents failed, not its purchase.
		isFailed := level.Get("request_id").Text != "" && status.Of(level.Get("status").Text).Failed
		r.Failed = r.Failed || isFalse(level) || StatesFailure(level) && !isFailed
		for _, name := range also(d.Record.TransactionID, "transaction_id") {
			if transaction := level.At(name); !transaction.Scalar() || transaction.Text != "" {
				r.Transaction = true
			}
		}
		for _, name := range also(d.Record.ChargedAmount, "charged_amount") {
			if charge := level.At(name); isCharge(charge) {
				r.Charge += charged(charge) // joined, because it is only compared: two charges differ from one
				r.charge = jsonread.Member{Name: name, Value: charge}
			}
		}
		for _, name := range also(d.Record.Documents, listNames...) {
			list := level.At(name)
			if list.Kind == 0 {
				list = level.Get(name) // Members writes a path as one name
			}
			for _, entry := range list.Items() {
				if entry.Kind != 0 && !owesPayment(entry.Get("status").Text) {
					r.lists[name] = append(r.lists[name], slug(entry, d))
				}
			}
		}
	}
	return r
}

// in returns the dialect of the service; an empty one if none is known.
func (r *Record) in() *dialect.Dialect {
	if r == nil || r.dialect == nil {
		return new(dialect.Dialect)
	}
	return r.dialect
}

// also returns the usual names of a member, and its name in a dialect, if set.
func also(name string, usual ...string) []string {
	if name == "" || name == "-" || slices.Contains(usual, name) {
		return usual
	}
	return append(slices.Clip(usual), name)
}

// isCharge reports whether the value of a member may be a charge: it is given, and not zero in any form, such as
// "0.00 NGN" or {"amount": 0, "currency": "NGN"}.
func isCharge(v jsonread.Value) bool {
	if v.Kind != '{' {
		return !v.Scalar() || v.Text != "" && !cost.IsZero(v)
	}
	zero := false
	for _, m := range v.Members {
		switch {
		case cost.IsZero(m.Value):
			zero = true
		case m.Value.Kind != '"' || !cost.IsCode(m.Value.Text):
			return true
		}
	}
	return !zero
}

// isNumber reports whether a value is a number of any length.
func isNumber(v jsonread.Value) bool {
	_, err := decimal.Parse(v.Text)
	return v.Scalar() && (err == nil || errors.Is(err, decimal.ErrRange))
}

// charged returns a charged amount as it was written, if it is a number.
func charged(v jsonread.Value) string {
	if !isNumber(v) {
		return "an amount that cannot be read"
	}
	return v.Text
}

// ReadCharge reads a charge that is a text, such as "46.86 GBP".
func (r *Record) ReadCharge() (n decimal.Number, currency string, read bool) {
	return cost.Charge(r.charge.Value)
}

// UnreadCharge describes a charge that cannot be read, with the line that names the only amount in it; "" if the charge
// can be read.
func (r *Record) UnreadCharge() string {
	if _, _, read := r.ReadCharge(); read || r.Charge == "" {
		return ""
	}
	text := "the charge cannot be read, and may be more than the draft can cost: " + r.charge.Name + " is "
	if r.charge.Value.Scalar() {
		return text + spelling.Quote(r.charge.Value.Text)
	}
	text += "not an amount"
	var lines []string
	for _, m := range r.charge.Value.Members {
		line := dialect.Line{Field: "record.charged_amount", Value: r.charge.Name + "." + m.Name}
		if _, _, read := cost.Charge(m.Value); read {
			lines = append(lines, r.dialect.Declare(line))
		}
	}
	if len(lines) != 1 || lines[0] == "" { // one of several may be less than the charge
		return text
	}
	return text + "; only if a transaction of the wallet confirms it, " + lines[0]
}

// slug returns the slug of a document in a list; "" if it has none that could be read.
func slug(entry jsonread.Value, d *dialect.Dialect) string {
	for _, found := range purchasedSlugs(entry, d) {
		return found
	}
	return ""
}

// purchasedSlugs returns every text of a purchased document that may be its slug, first the one that a dialect names.
func purchasedSlugs(entry jsonread.Value, d *dialect.Dialect) []string {
	found := cost.Slugs(entry, cmp.Or(d.Document.DocumentType, d.Offer.DocumentType))
	if len(found) == 0 {
		found = cost.Slugs(entry, "")
	}
	return found
}

// unclear returns the reason why a record, which may be wrapped in an outer object, is not evidence.
func unclear(outer, inner jsonread.Value, at string) string {
	if inner.Get("request").Kind == '{' || inner.Get(at).Kind == '{' {
		return "nests records"
	}
	for _, level := range []jsonread.Value{outer, inner} {
		if level.Kind == '[' {
			return "holds a list instead of a record"
		}
		if name, twice := level.Repeated(); twice {
			return "gives " + spelling.Quote(name) + " twice"
		}
		for _, name := range []string{"request_id", "status"} {
			if !level.Get(name).Scalar() {
				return "has a " + name + " that cannot be read"
			}
		}
		if status := level.Get("status").Text; owesPayment(status) {
			return "has the status " + spelling.Quote(status) + ", in which a payment is missing"
		}
	}
	if outer.Get("request_id").Text == "" {
		return "" // the outer object is not a record: its status is that of the operation
	}
	for _, name := range []string{"request_id", "status"} {
		if one, other := outer.Get(name).Text, inner.Get(name).Text; one != "" && other != "" && one != other {
			return "gives two values for " + name
		}
	}
	return ""
}

// OnlyAnalyzed reports whether the record has an id but no status, like the response to an analysis: it may not be a
// draft. The [Record.Members] of any other record have no id.
func (r *Record) OnlyAnalyzed() bool { return r.Status == "" && r.Data.Get("request_id").Text != "" }

// Members returns the members of a smaller record with which [Record.Since] and [Record.OnlyAnalyzed] return the same
// results. Because they are stored, they hold no text of the service except the id and numbers.
func (r *Record) Members() map[string]any {
	members := map[string]any{}
	if r.OnlyAnalyzed() {
		members["request_id"] = r.Data.Get("request_id").Text
	}
	for name := range r.lists {
		members[name] = []string{""} // it listed something
	}
	if r.Charge != "" {
		members["charged_amount"] = r.Charge
	}
	return members
}

// ReadList returns why a list, the data of a successful response, does not confirm the purchase of these documents; ""
// if it does. A list confirms the purchase if it is empty, if it holds only the record, or if it names each of the
// documents once and nothing else. An element with an id or a status is read as a record.
func ReadList(data, requestID string, purchased []string, draft *Record) string {
	elements, d := jsonread.Parse(data).Items(), draft.in()
	named := map[string]bool{}
	records := 0
	for _, element := range elements {
		isRecord := element.Get("request_id").Kind != 0 || element.Get("status").Kind != 0 ||
			element.Get("request").Kind != 0 || element.Get(d.Record.At).Kind != 0
		if isRecord {
			if problem := readValue(element, d).Unconfirmed(requestID, purchased, draft); problem != "" {
				return problem
			}
		}
		if StatesFailure(element) {
			return "shows a failure"
		}
		found := purchasedSlugs(element, d)
		if len(found) == 0 && isRecord {
			records++
			continue
		}
		for _, slug := range found {
			if !slices.ContainsFunc(purchased, func(p string) bool { return folded(p) == folded(slug) }) {
				return "lists documents that were not purchased"
			}
		}
		if len(found) == 0 || named[folded(found[0])] {
			return "holds a list that is not that of the documents that were purchased"
		}
		named[folded(found[0])] = true
	}
	switch {
	case len(elements) == 0, records == 1 && len(elements) == 1, records == 0 && len(named) == len(purchased):
		return ""
	}
	return "holds a list that is not that of the documents that were purchased"
}

// Unconfirmed returns why the record of a successful response does not confirm the purchase of these documents; "" if
// it does. Such a response is [Lost]. It is not [Contradicted], which is a refusal.
func (r *Record) Unconfirmed(requestID string, purchased []string, draft *Record) string {
	switch id := r.Data.Get("request_id").Text; {
	case id != "" && id != requestID:
		return "is about the request " + spelling.Quote(id)
	case r.Unclear != "":
		return r.Unclear
	case r.Draft:
		return "shows the request as a draft"
	case r.Failures:
		return "lists failures"
	case r.Failed:
		return "shows a failure"
	case r.Since(draft).ListsOthers(purchased):
		return "lists documents that were not purchased"
	}
	return ""
}

// StatesFailure reports whether a value, its status, its success or another member states that something was not
// performed. The value is a whole response, its data, a record, or an element of a list.
func StatesFailure(v jsonread.Value) bool {
	for _, text := range []string{v.Text, v.Get("status").Text} {
		if status.Of(folded(text)).Failed {
			return true
		}
		switch folded(text) {
		case "failure", "error", "rejected", "refused", "declined", "canceled", "cancelled", "false":
			return true
		}
	}
	return isFalse(v) || hasAny(v, "failure", "failure_reason", "error", "errors")
}

// isFalse reports whether a value, or its success, is false.
func isFalse(v jsonread.Value) bool { return v.Text == "false" || v.Get("success").Text == "false" }

// hasAny reports whether an object has a member of these names that holds anything.
func hasAny(object jsonread.Value, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return holdsAny(object.Get(name)) })
}

// holdsAny reports whether a value, or one in it, is not empty, false or 0.
func holdsAny(v jsonread.Value) bool {
	return v.Text != "" && v.Text != "false" && v.Text != "0" || slices.ContainsFunc(v.Elements, holdsAny) ||
		slices.ContainsFunc(v.Members, func(m jsonread.Member) bool { return holdsAny(m.Value) })
}

// owesPayment reports whether a status means that a payment is missing, such as awaiting_payment or unpaid. A list with
// such a status does not list purchased documents.
func owesPayment(status string) bool {
	has := func(names ...string) bool {
		return slices.ContainsFunc(spelling.Words(status), func(word string) bool { return slices.Contains(names, word) })
	}
	return has("unpaid", "payment", "insufficient") && !has("received", "confirmed", "succeeded", "completed")
}

// Since returns the record with only the lists and the charge that a purchase after the earlier record may have added.
// A member that lists documents in both records is left out as a whole, even if it lists other documents now. A charge
// is left out if it has not changed.
func (r *Record) Since(earlier *Record) *Record {
	since := *r
	since.lists = map[string][]string{}
	for name, slugs := range r.lists {
		if len(earlier.lists[name]) == 0 {
			since.lists[name] = slugs
		}
	}
	if since.Charge == earlier.Charge {
		since.Charge = ""
	}
	return &since
}

// ShowsCharge reports whether the record shows that the wallet was charged, or may have been.
//
// Assumption: the members that show it.
func (r *Record) ShowsCharge() bool { return r.Transaction || r.Charge != "" }

// ShowsPurchase reports whether a record with this status shows a purchase: by the status, a charge or documents.
// With the status "", only its other members count. The charge of a draft can be a quote, and its documents can be
// offers. A status that means analyzing is like a draft.
func (r *Record) ShowsPurchase(name string) bool {
	if name == "draft" || r.in().Record.States[name] == "analyzing" {
		return r.Transaction || r.Charge != "" && !r.in().Purchase.Quoted
	}
	return status.Of(name).Purchased || r.in().Record.States[name] == "generating" || r.ShowsCharge() || r.ListsPurchased()
}

// ListsPurchased reports whether the record lists documents that may be purchased. Under document_types, it can repeat
// the types that a purchase selected, or that it offers.
func (r *Record) ListsPurchased() bool {
	for name := range r.lists {
		if name != "document_types" {
			return true
		}
	}
	return false
}

// ListsOthers reports whether the record lists a document that is not in purchased.
func (r *Record) ListsOthers(purchased []string) bool {
	_, others, _ := r.among(purchased)
	return others
}

// Compare returns how the listed documents relate to those of a purchase.
func (r *Record) Compare(purchased []string) Documents {
	found, others, unreadable := r.among(purchased)
	switch {
	case found == 0 && !others && !unreadable:
		return NoList
	case found == len(purchased) && !others && !unreadable:
		return These
	case found == 0 && !unreadable:
		return Others
	}
	return Some
}

// among counts the documents of a purchase that are listed, and reports whether other documents are listed, and whether
// some slugs could not be read.
func (r *Record) among(purchased []string) (found int, others, unreadable bool) {
	missing := make(map[string]bool, len(purchased))
	for _, slug := range purchased {
		missing[folded(slug)] = true
	}
	for _, slugs := range r.lists {
		for _, slug := range slugs {
			isMissing, isPurchased := missing[folded(slug)]
			switch {
			case slug == "":
				unreadable = true
			case !isPurchased:
				others = true
			case isMissing:
				missing[folded(slug)] = false
				found++
			}
		}
	}
	return found, others, unreadable
}

// OnlyThese reports whether a purchase of this request can only have bought these documents: the record names only
// them as purchased. Without documents, any purchase counts. What the record offers proves nothing, because a service
// may offer the remaining documents after the purchase of others. A failed request that shows no transaction may have
// failed in its analysis.
func (r *Record) OnlyThese(purchased []string) bool {
	named := &Record{lists: map[string][]string{"": r.lists[cmp.Or(r.in().Record.Documents, "purchased_documents")]}}
	return (!status.Of(r.Status).Failed || r.Transaction) && (len(purchased) == 0 || named.Compare(purchased) == These)
}

// folded returns a slug without spaces around it, in lower case.
func folded(slug string) string { return strings.ToLower(strings.TrimSpace(slug)) }

// Refused is what the body of a refusal shows about the request that it refuses. It holds no text of the service,
// because errors keep it.
type Refused struct {
	contradicts string // why the refusal contradicts itself, whatever the draft showed
	charges     []string
	generated   bool // it shows a document that is generated or generating
	listed      bool // it lists purchased documents, under a name that has no other meaning
}

// ReadRefusal reads the whole body of the refusal of a request: an envelope with the status false, "error" or "fail",
// or else an object with members of a record. The members of a record count at any depth, because the form of a refusal
// is not specified.
//
// Assumption: the code "already_purchased" of the envelope's data states that an earlier purchase was performed.
func ReadRefusal(body, requestID string, d *dialect.Dialect) Refused {
	root := jsonread.Parse(body)
	var r Refused
	if d == nil {
		d = new(dialect.Dialect)
	}
	r.read(root, d)
	if root.Get("data").Get("error_code").Text == "already_purchased" {
		r.contradicts = "it states that the request is purchased already"
	}
	records := []jsonread.Value{root.Get("data"), root.Get("data").Get("request"), root.Get("request"),
		root.Get("data").Get(d.Record.At)}
	if !isEnvelope(root) {
		records = append(records, root)
	}
	for _, record := range records {
		status := strings.TrimSpace(record.Get("status").Text)
		if record.Get("status").Kind == '"' && status != "" && !strings.EqualFold(status, "draft") {
			r.contradicts = otherStatus
		}
		if id := record.Get("request_id").Text; id != "" && id != requestID {
			r.contradicts = "it is about another request"
		}
	}
	return r
}

// isEnvelope reports whether the status in a refusal is that of an envelope, not of a record.
func isEnvelope(refusal jsonread.Value) bool {
	switch refusal.Get("status").Text {
	case "false":
		return true
	case "error", "fail":
		return refusal.Get("request_id").Kind == 0
	}
	return false
}

const (
	otherStatus = "it shows a status other than draft"
	showsCharge = "it shows a charged amount"
)

// read looks for members that the refusal of a draft cannot have.
func (r *Refused) read(n jsonread.Value, d *dialect.Dialect) {
	if _, twice := n.Repeated(); twice {
		r.contradicts = "it gives a member twice"
	}
	switch state := strings.ToLower(n.Get("status").Text); {
	case status.Of(state).Purchased:
		r.contradicts = otherStatus
	case state == "generating", state == "generated":
		r.generated = true
	}
	for _, name := range also(d.Record.TransactionID, "transaction_id") {
		if transaction := n.At(name); transaction.Text != "" || !transaction.Scalar() {
			r.contradicts = "it shows a transaction"
		}
	}
	for _, name := range also(d.Record.ChargedAmount, "charged_amount") {
		switch charge := n.At(name); {
		case isCharge(charge) && !isNumber(charge):
			r.contradicts = showsCharge
		case isCharge(charge):
			r.charges = append(r.charges, charge.Text)
		}
	}
	for _, name := range also(d.Record.Documents, "purchased_documents") {
		r.listed = r.listed || holdsAny(n.At(name))
	}
	for _, m := range n.Members {
		r.read(m.Value, d)
	}
	for _, entry := range n.Elements {
		r.read(entry, d)
	}
}

// Contradiction returns why a purchase of this draft may have charged the wallet despite the refusal; "" without a
// reason. A charge is no contradiction if the draft showed it already, nor is a generated document if the draft showed
// one.
func (r Refused) Contradiction(draft *Record) string {
	var before Refused
	before.read(draft.Data, draft.in())
	switch {
	case slices.ContainsFunc(r.charges, func(charge string) bool { return charge != draft.Charge }):
		return showsCharge
	case r.generated && !before.generated:
		return "it shows a document that is generated or generating"
	case r.listed && !before.listed:
		return "it lists purchased documents"
	}
	return r.contradicts
}
