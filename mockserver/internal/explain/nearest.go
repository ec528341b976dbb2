package explain

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// draftRequest is a valid request of an operation that is being built. Everything that was right in the refused
// request is copied into it.
type draftRequest struct {
	operation string
	values    map[string]string // of the route's placeholders
	query     url.Values
	body      any // or nil
}

// parse parses the request of an entry for an operation. Malformed parts are ignored.
func parse(w *world.World, c *journal.Entry, op operations.Operation) *sentRequest {
	sent := &sentRequest{world: w, values: routeValues(op.Route, c.Path)}
	sent.query, _ = url.ParseQuery(c.Query)
	_ = json.Unmarshal([]byte(c.RequestBody), &sent.body)
	return sent
}

// nearest returns the valid request that is nearest to the one sent, or nil.
func (r *sentRequest) nearest(op operations.Operation, table []operations.Operation) *journal.Suggestion {
	r.world.Lock()
	made := r.corrected(op)
	r.world.Unlock()
	if made == nil {
		return nil
	}
	return suggest(made, table)
}

// suggest converts a draft to a suggestion, or returns nil if its operation is not in the table.
func suggest(made *draftRequest, table []operations.Operation) *journal.Suggestion {
	i := slices.IndexFunc(table, func(row operations.Operation) bool { return row.Name == made.operation })
	if i < 0 {
		return nil
	}
	suggestion := &journal.Suggestion{Operation: made.operation, Method: table[i].Method, Target: table[i].Route}
	for name, value := range made.values {
		suggestion.Target = strings.ReplaceAll(suggestion.Target, "{"+name+"}", url.PathEscape(value))
	}
	if len(made.query) > 0 {
		suggestion.Target += "?" + made.query.Encode()
	}
	if made.body != nil {
		body, err := jsontext.Encode(made.body)
		if err != nil {
			return nil
		}
		suggestion.Body = string(body)
	}
	return suggestion
}

// sentRequest is the refused request, as far as it can be parsed.
type sentRequest struct {
	world  *world.World
	values map[string]string
	query  url.Values
	body   map[string]any
}

func (r *sentRequest) text(name string) string {
	text, _ := r.body[name].(string)
	return text
}

// corrected returns the valid request nearest to the refused one. The caller holds the world's lock.
func (r *sentRequest) corrected(op operations.Operation) *draftRequest {
	operation := op.Name
	if op.Method == http.MethodGet && !strings.Contains(op.Route, "{") {
		return r.list(operation)
	}
	switch operation {
	case shipping.OpReplayWebhook:
		return r.replay()
	case shipping.OpAnalyze:
		return r.analyze()
	case shipping.OpPurchase:
		return r.purchase()
	case shipping.OpGetRequest:
		return r.get()
	case operations.RetryRequest:
		return r.onRequest(operation, canRetry, func(*regulatory.Record) any { return nil })
	case operations.DocumentPDF:
		return r.pdf()
	default:
		if operations.Once(op) { // a suggestion can be sent, and must not do something that cannot be undone
			return r.get()
		}
		return r.edit(operation)
	}
}

func (r *sentRequest) list(operation string) *draftRequest {
	made := &draftRequest{operation: operation, query: url.Values{}}
	for _, name := range api.Parameters(operation) {
		if api.Positive(r.query.Get(name), 0) > 0 {
			made.query.Set(name, r.query.Get(name))
		}
	}
	if operation == shipping.OpListTransactions {
		wallets := r.world.Account.Ledger.Wallets()
		wallet := r.query.Get("wallet")
		if _, known := r.world.Account.Transactions[wallet]; !known {
			if len(wallets) == 0 {
				return nil
			}
			wallet = wallets[0].Reference
		}
		made.query.Set("wallet", wallet)
	}
	return made
}

func (r *sentRequest) replay() *draftRequest {
	w, body := r.world, map[string]any{}
	event := r.text("event")
	if stored, known := w.Dispatcher.Find(r.text("delivery_id")); known {
		event, body["delivery_id"] = stored.Event, stored.ID
	}
	if !strings.HasPrefix(event, "shipment.") || len(w.Account.Webhooks.Receivers(event)) == 0 {
		i := slices.IndexFunc(account.EventKinds(), func(kind string) bool { return len(w.Account.Webhooks.Receivers(kind)) > 0 })
		if i < 0 {
			return nil
		}
		event = account.EventKinds()[i]
		delete(body, "delivery_id")
	}
	if body["delivery_id"] == nil {
		body["event"], body["shipment_id"] = event, r.text("shipment_id")
		if w.Account.Shipments[r.text("shipment_id")] == nil {
			if len(w.Account.ShipmentIDs) == 0 {
				return nil
			}
			body["shipment_id"] = w.Account.ShipmentIDs[0]
		}
	}
	if h := w.Account.Webhooks.Find(r.text("webhook_id")); h != nil && h.Receives(event) {
		body["webhook_id"] = h.WebhookID
	}
	return &draftRequest{operation: shipping.OpReplayWebhook, body: body}
}

func (r *sentRequest) analyze() *draftRequest {
	w, body := r.world, map[string]any{}
	switch {
	case w.Account.Shipments[r.text("shipment_id")] != nil:
		body["shipment_id"] = r.text("shipment_id")
	case isKey(w.Account.Invoices, r.text("file_url")):
		body["file_url"] = r.text("file_url")
	case r.text("file_url") != "" && len(w.Account.InvoiceURLs) > 0:
		body["file_url"] = w.Account.InvoiceURLs[0]
	case len(w.Account.ShipmentIDs) > 0:
		body["shipment_id"] = w.Account.ShipmentIDs[0]
	default:
		return nil
	}
	if _, known := w.Account.Ledger.Balance(r.text("wallet")); known {
		body["wallet"] = r.text("wallet")
	}
	return &draftRequest{operation: shipping.OpAnalyze, body: body}
}

// purchase keeps the request if it is a draft, and the document types that it offers, with spelling corrected. If the
// funds are insufficient, it suggests the cheapest document. It never suggests the purchase of another request, because
// sending the suggestion would charge for it: for a purchased request it suggests to read it, for an unknown one to
// analyze.
func (r *sentRequest) purchase() *draftRequest {
	record, err := r.world.Regulatory.Get(r.text("request_id"))
	switch {
	case err != nil:
		return r.analyze()
	case !isDraft(record) || len(record.AvailableDocuments) == 0:
		return &draftRequest{operation: shipping.OpGetRequest, values: map[string]string{"request_id": record.RequestID}}
	}
	balance, _ := r.world.Account.Ledger.Balance(record.Wallet)
	var types []string
	var sum shipping.Amount
	offers := slices.Clone(record.AvailableDocuments)
	slices.SortStableFunc(offers, func(a, b regulatory.AvailableDocument) int { return a.Amount.Cmp(b.Amount) })
	wanted := r.documentTypes(offers)
	for _, offer := range offers {
		next, err := sum.Add(offer.Amount)
		if err == nil && next.Cmp(balance) <= 0 && slices.Contains(wanted, offer.DocumentType) {
			types, sum = append(types, offer.DocumentType), next
		}
	}
	if types == nil {
		if offers[0].Amount.Cmp(balance) > 0 {
			return nil
		}
		types = []string{offers[0].DocumentType}
	}
	return &draftRequest{operation: shipping.OpPurchase, body: map[string]any{"request_id": record.RequestID, "document_types": types}}
}

// documentTypes returns the document types of the refused request that are offered, with spelling corrected.
func (r *sentRequest) documentTypes(offers []regulatory.AvailableDocument) []string {
	var offered []string
	for _, offer := range offers {
		offered = append(offered, offer.DocumentType)
	}
	sent, _ := r.body["document_types"].([]any)
	var types []string
	for _, one := range sent {
		if name, ok := one.(string); ok {
			types = append(types, spelling.Nearest(name, offered))
		}
	}
	return types
}

func (r *sentRequest) get() *draftRequest {
	return r.onRequest(shipping.OpGetRequest, func(*regulatory.Record) bool { return true }, func(*regulatory.Record) any { return nil })
}

func (r *sentRequest) pdf() *draftRequest {
	generated := func(doc regulatory.Document) bool { return doc.Status == regulatory.DocumentGenerated }
	record := r.record(r.values["request_id"], func(rec *regulatory.Record) bool { return slices.ContainsFunc(rec.Documents, generated) })
	if record == nil {
		return r.get()
	}
	i := slices.IndexFunc(record.Documents, func(doc regulatory.Document) bool {
		return generated(doc) && doc.DocumentType == r.values["document_type"]
	})
	if i < 0 {
		i = slices.IndexFunc(record.Documents, generated)
	}
	return &draftRequest{operation: operations.DocumentPDF, values: map[string]string{
		"request_id": record.RequestID, "document_type": record.Documents[i].DocumentType,
	}}
}

// edit suggests an edit with the values that the draft has already.
func (r *sentRequest) edit(operation string) *draftRequest {
	switch operation {
	case operations.UpdateItems:
		return r.onRequest(operation, isDraft, func(rec *regulatory.Record) any { return regulatory.ItemsUpdate{LineItems: rec.LineItems} })
	case operations.UpdateAddresses:
		return r.onRequest(operation, isDraft, func(rec *regulatory.Record) any {
			return regulatory.AddressesUpdate{Origin: &rec.Addresses.Origin, Destination: &rec.Addresses.Destination}
		})
	case operations.UpdateShipping:
		if record := r.record(r.values["request_id"], isInvoiceDraft); record != nil {
			return r.onRequest(operation, isInvoiceDraft, func(rec *regulatory.Record) any { return rec.Shipping })
		}
		r.body = map[string]any{"file_url": "any"} // only an invoice's shipping can be edited
		return r.analyze()
	default:
		made := r.onRequest(operation, func(rec *regulatory.Record) bool { return isDraft(rec) && len(rec.AvailableDocuments) > 0 },
			func(*regulatory.Record) any { return map[string]any{} })
		if made == nil || made.operation != operation {
			return made
		}
		record, err := r.world.Regulatory.Get(made.values["request_id"])
		if err != nil {
			return nil
		}
		made.values["document_type"] = record.AvailableDocuments[0].DocumentType
		if slices.ContainsFunc(record.AvailableDocuments, func(d regulatory.AvailableDocument) bool { return d.DocumentType == r.values["document_type"] }) {
			made.values["document_type"] = r.values["document_type"]
		}
		return made
	}
}

// onRequest suggests an operation on the request that was sent if it fits, else on the newest one that fits, else an
// analysis.
func (r *sentRequest) onRequest(operation string, fits func(*regulatory.Record) bool, body func(*regulatory.Record) any) *draftRequest {
	record := r.record(r.values["request_id"], fits)
	if record == nil {
		return r.analyze()
	}
	return &draftRequest{operation: operation, values: map[string]string{"request_id": record.RequestID}, body: body(record)}
}

func (r *sentRequest) record(id string, fits func(*regulatory.Record) bool) *regulatory.Record {
	if named, err := r.world.Regulatory.Get(id); err == nil && fits(named) {
		return named
	}
	for _, record := range slices.Backward(r.world.Regulatory.Records()) {
		if fits(record) {
			return record
		}
	}
	return nil
}

func isDraft(r *regulatory.Record) bool { return r.Status == regulatory.StateDraft }

func isInvoiceDraft(r *regulatory.Record) bool { return isDraft(r) && r.Shipping != nil }

func canRetry(r *regulatory.Record) bool {
	return r.Status == regulatory.StateFailed && slices.ContainsFunc(r.Documents, func(d regulatory.Document) bool {
		return d.Status == regulatory.DocumentFailed && d.Mode == "automated"
	})
}

func isKey[V any](m map[string]V, key string) bool {
	_, known := m[key]
	return known
}

// nearestOperation returns the operation of an entry, or the one whose method and route have the smallest edit distance
// to the entry's.
func nearestOperation(c *journal.Entry, table []operations.Operation) operations.Operation {
	var nearest operations.Operation
	least := -1
	for _, op := range table {
		if op.Name == c.Operation {
			return op
		}
		route := op.Route
		for name, value := range routeValues(op.Route, c.Path) {
			route = strings.ReplaceAll(route, "{"+name+"}", value)
		}
		away := 2 * spelling.Distance(c.Path, route)
		if op.Method != c.Method && (op.Method != http.MethodGet || c.Method != http.MethodHead) {
			away++
		}
		if least < 0 || away < least {
			nearest, least = op, away
		}
	}
	return nearest
}

// routeValues returns the values of a route's placeholders in a path, segment by segment.
func routeValues(route, path string) map[string]string {
	values := map[string]string{}
	sent := strings.Split(path, "/")
	for i, segment := range strings.Split(route, "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok && i < len(sent) {
			values[strings.TrimSuffix(name, "}")] = sent[i]
		}
	}
	return values
}

func splitTarget(target string) (path, query string) {
	path, query, _ = strings.Cut(target, "?")
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	return path, query
}

// AnalyzeCommand returns a command that analyzes the newest shipment, or else the first invoice, or "" if the world has
// neither.
func AnalyzeCommand(w *world.World, table []operations.Operation) string {
	w.Lock()
	sent := sentRequest{world: w}
	made := sent.analyze()
	w.Unlock()
	if made == nil {
		return ""
	}
	suggestion := suggest(made, table)
	if suggestion == nil {
		return ""
	}
	return entry(suggestion).Curl(w.URL)
}
