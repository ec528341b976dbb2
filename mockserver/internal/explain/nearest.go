package explain

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// draftRequest is a valid request of an operation that is being built. Everything that was right in the refused
// request is copied into it.
type draftRequest struct {
	operation string
	id        string // of the regulatory request in the route, or empty
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

// nearest returns the valid request that is nearest to the one sent, or nil if none was found, or if its operation is
// not in the table.
func (r *sentRequest) nearest(op operations.Operation, table []operations.Operation,
	address string) *journal.Suggestion {
	r.world.Lock()
	made := r.corrected(op)
	r.world.Unlock()
	if made == nil {
		return nil
	}
	i := slices.IndexFunc(table, func(row operations.Operation) bool { return row.Name == made.operation })
	if i < 0 {
		return nil
	}
	target := url.URL{Path: table[i].Route, RawQuery: made.query.Encode()}
	if made.id != "" {
		target.Path = strings.ReplaceAll(target.Path, "{request_id}", made.id)
	}
	entry := journal.Entry{Method: table[i].Method, Path: target.Path, Query: target.RawQuery, Key: wire.KeyPrefix}
	if made.body != nil {
		body := jsontext.Of(made.body)
		entry.ContentType, entry.RequestBody, entry.RequestBytes = "application/json", string(body), len(body)
	}
	return &journal.Suggestion{
		Operation: made.operation, Method: entry.Method, Target: target.RequestURI(), Body: entry.RequestBody,
		Curl: entry.Curl(address),
	}
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

// corrected returns the valid request that is nearest to the refused one. The caller holds the world's lock.
func (r *sentRequest) corrected(op operations.Operation) *draftRequest {
	operation := op.Name
	if op.Method == http.MethodGet && !strings.Contains(op.Route, "{") {
		return r.list(operation)
	}
	switch {
	case operation == shipping.OpReplayWebhook:
		return r.replay()
	case operation == shipping.OpAnalyze:
		return r.analyze()
	case operation == shipping.OpPurchase:
		return r.purchase()
	case strings.Contains(op.Route, "{request_id}"): // the effect of a suggestion must be reversible
		return r.get()
	}
	return nil // no way is known to make a valid one
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
		i := slices.IndexFunc(account.EventKinds(),
			func(kind string) bool { return len(w.Account.Webhooks.Receivers(kind)) > 0 })
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
	_, isInvoice := w.Account.Invoices[r.text("file_url")]
	switch {
	case w.Account.Shipments[r.text("shipment_id")] != nil:
		body["shipment_id"] = r.text("shipment_id")
	case isInvoice:
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
// sending the suggestion would charge for it: it suggests reading a purchased request, and an analysis for an unknown
// one.
func (r *sentRequest) purchase() *draftRequest {
	record, err := r.world.Regulatory.Get(r.text("request_id"))
	switch {
	case err != nil:
		return r.analyze()
	case record.Status != regulatory.StateDraft || len(record.AvailableDocuments) == 0:
		return &draftRequest{operation: shipping.OpGetRequest, id: record.RequestID}
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
	return &draftRequest{operation: shipping.OpPurchase,
		body: map[string]any{"request_id": record.RequestID, "document_types": types}}
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

// get suggests reading the named or the newest request; if there is none, an analysis.
func (r *sentRequest) get() *draftRequest {
	id := r.values["request_id"]
	if _, err := r.world.Regulatory.Get(id); err != nil {
		all := r.world.Regulatory.Records()
		if len(all) == 0 {
			return r.analyze()
		}
		id = all[len(all)-1].RequestID
	}
	return &draftRequest{operation: shipping.OpGetRequest, id: id}
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
		away := 2 * spelling.Distance(c.Path, api.Filled(op.Route, c.Path))
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
