package shipping

import "net/http"

// Repeat says when the client may send an operation a second time.
type Repeat uint8

const (
	// RepeatNever operations are sent once, whatever happens. The zero value, so that an operation
	// nobody thought about is never repeated.
	RepeatNever Repeat = iota
	// RepeatUnsent operations repeat only on positive evidence that nothing was sent, such as a
	// refused connection.
	RepeatUnsent
	// RepeatSafe operations change nothing on the service and repeat after any transient failure.
	RepeatSafe
)

// String returns "never", "unsent" or "safe".
func (r Repeat) String() string {
	switch r {
	case RepeatSafe:
		return "safe"
	case RepeatUnsent:
		return "unsent"
	default:
		return "never"
	}
}

// Operation describes one operation of the service. The client's retry decisions, the labels of
// logs, errors and metrics, and the reference server's router all follow from it.
type Operation struct {
	// Name is a stable, low-cardinality label such as "rates.list".
	Name string
	// Method is the HTTP method.
	Method string
	// Route is the path below the base address, with placeholders in braces, such as
	// "/v1/regulatory-documents/request/{request_id}".
	Route string
	// Repeat says when the client may send the operation again.
	Repeat Repeat
	// Charges is true where the operation takes money from the wallet.
	Charges bool
	// Open is true where the operation needs no Authorization header.
	Open bool
	// Provisional is true where the specification names the operation but not its path. The route
	// is then an assumption; see [WithProvisionalRoutes].
	Provisional bool
}

// Names of the operations that the specification documents with their paths.
const (
	OpListRates         = "rates.list"
	OpListCountries     = "countries.list"
	OpListWebhooks      = "webhooks.list"
	OpReplayWebhook     = "webhooks.replay"
	OpListTransactions  = "transactions.list"
	OpAnalyze           = "regulatory.analyze"
	OpPurchase          = "regulatory.purchase"
	OpGetRequest        = "regulatory.get"
	OpUpdateItems       = "regulatory.items.update"
	OpUpdateAddresses   = "regulatory.addresses.update"
	OpUpdateShipping    = "regulatory.shipping.update"
	OpUpdateProfile     = "regulatory.profile.update"
	OpRetryRequest      = "regulatory.retry"
	OpDocumentPDF       = "regulatory.pdf"
	regulatoryBase      = "/v1/regulatory-documents"
	regulatoryRequest   = regulatoryBase + "/request/{request_id}"
	regulatoryRequestID = "request_id"
	regulatoryDocument  = "document_type"
)

// Operations returns every operation, documented ones first, in the order of the specification
// ("Endpoints"). The slice is the caller's own.
func Operations() []Operation {
	return append([]Operation{
		{Name: OpListRates, Method: http.MethodGet, Route: "/v1/rates", Repeat: RepeatSafe},
		{Name: OpListCountries, Method: http.MethodGet, Route: "/v1/countries", Repeat: RepeatSafe},
		{Name: OpListWebhooks, Method: http.MethodGet, Route: "/v1/webhooks", Repeat: RepeatSafe},
		{Name: OpReplayWebhook, Method: http.MethodPost, Route: "/v1/webhooks/replay", Repeat: RepeatUnsent},
		{Name: OpListTransactions, Method: http.MethodGet, Route: "/v1/transactions", Repeat: RepeatSafe},
		{Name: OpAnalyze, Method: http.MethodPost, Route: regulatoryBase + "/analyze", Repeat: RepeatUnsent},
		{Name: OpPurchase, Method: http.MethodPost, Route: regulatoryBase + "/purchase", Charges: true},
		{Name: OpGetRequest, Method: http.MethodGet, Route: regulatoryRequest, Repeat: RepeatSafe},
	}, ProvisionalOperations()...)
}

// ProvisionalOperations returns the operations that the specification names without a path
// ("Regulatory documents": editing, retry, PDF), on the routes that this project assumes. It is the
// one table that the reference server serves and that [WithProvisionalRoutes] starts from.
//
// Assumption: every route in it. Pass an edited copy to [WithProvisionalRoutes] to switch.
func ProvisionalOperations() []Operation {
	return []Operation{
		{Name: OpUpdateItems, Method: http.MethodPut, Route: regulatoryRequest + "/items", Repeat: RepeatUnsent, Provisional: true},
		{Name: OpUpdateAddresses, Method: http.MethodPut, Route: regulatoryRequest + "/addresses", Repeat: RepeatUnsent, Provisional: true},
		{Name: OpUpdateShipping, Method: http.MethodPut, Route: regulatoryRequest + "/shipping", Repeat: RepeatUnsent, Provisional: true},
		{Name: OpUpdateProfile, Method: http.MethodPut, Route: regulatoryRequest + "/profiles/{document_type}", Repeat: RepeatUnsent, Provisional: true},
		{Name: OpRetryRequest, Method: http.MethodPost, Route: regulatoryRequest + "/retry", Repeat: RepeatUnsent, Provisional: true},
		{Name: OpDocumentPDF, Method: http.MethodGet, Route: regulatoryRequest + "/documents/{document_type}/pdf", Repeat: RepeatSafe, Open: true, Provisional: true},
	}
}
