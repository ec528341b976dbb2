package mockserver

import (
	"errors"
	"reflect"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Assumptions are the server's choices where the specification leaves a point open. None of them is
// the service's documented behaviour. The zero value is the default of each; change them with
// [WithAssumptions]. [Server.Assumptions] and GET /_mock/assumptions list them as a table.
type Assumptions struct {
	// OpenOperations names operations that need no Authorization, such as
	// [shipping.OpListCountries]. Default: none besides the PDF operation.
	OpenOperations []string
	// OneWorld answers 401 to every key but the server's own. Default: a key of the form
	// sk_test_<scenario>_<name> opens a world of its own; see [Scenarios].
	OneWorld bool
	// RuleFailureStatus is the HTTP status of a request that breaks a rule. Default: 400.
	RuleFailureStatus int
	// FundsStatus is the HTTP status of a purchase that the wallet cannot pay. Default: that of a broken rule.
	FundsStatus int
	// AnalyzeStatus is the HTTP status of a successful analysis. Default: 200.
	AnalyzeStatus int
	// PurchaseStatus is the HTTP status of a successful purchase. Default: 200.
	PurchaseStatus int
	// ProblemRefusals sends refusals as application/problem+json (RFC 9457). Default: in the envelope.
	ProblemRefusals bool
	// OtherRefusalNames gives a refusal's code in the member "code", with other values such as ERR_NOT_FOUND.
	// Default: error_code, such as not_found.
	OtherRefusalNames bool
	// MaxBody is the longest request body in bytes. Default: 1 MiB.
	MaxBody int64
	// RefuseUnknownFields answers a body with a field that the operation does not know with 400.
	// Default: such fields are ignored.
	RefuseUnknownFields bool
	// RefuseUnknownParameters answers a query with a parameter that the operation does not list with
	// 400. Default: such parameters are ignored.
	RefuseUnknownParameters bool
	// RefuseWrongParameters answers a page or perPage that is no whole number of at least 1 with 400.
	// Default: it falls back to its default.
	RefuseWrongParameters bool
	// TolerateWrongTypes takes a body field of another JSON type as absent. Default: 400.
	TolerateWrongTypes bool
	// RequireContentType answers a body without a Content-Type with 415, but for replay, where the
	// specification makes it optional. Default: such a body counts as JSON.
	RequireContentType bool
	// CheckResponses holds every answer against the OpenAPI document; one that does not fit it is
	// replaced by a 500 that says where. Default: answers are not checked.
	CheckResponses bool
	// PerPageCap silently caps perPage. Default: 0, no cap.
	PerPageCap int
	// LastPageNull makes a transaction page's nextPage null after the last page. Default: 0, a number
	// as prevPage is on the first.
	LastPageNull bool
	// EmptyHasNoPages makes the pageCount of an empty list 0. Default: 1.
	EmptyHasNoPages bool
	// OldestFirst lists the oldest record first. Default: the newest.
	OldestFirst bool
	// ObjectBreakdown makes a rate's breakdown an object with money keys. Default: an empty array.
	ObjectBreakdown bool
	// UnknownWalletIsEmpty lists no transactions for a wallet that does not exist. Default: 404.
	UnknownWalletIsEmpty bool
	// ReplayToNobody lets a replay succeed that no active webhook is subscribed to. Default: 400.
	ReplayToNobody bool
	// AnalyzeFailureOK answers a failed analysis with 200 and the failed record. Default: 400, with the
	// request id in data.
	AnalyzeFailureOK bool
	// WrapRecord puts the record of a regulatory request into data.request. Default: it is the data itself.
	WrapRecord bool
	// OtherRecordNames gives the line items of a record as "items", its purchased documents as
	// "purchased_documents", and a document's type and price as "slug" and "price". Default: "line_items",
	// "documents", "document_type" and "amount".
	OtherRecordNames bool
	// MinimalRecord leaves out of a record what the specification does not name, except the currencies of prices.
	// Default: it shows everything that the server holds.
	MinimalRecord bool
	// MinimalPurchase confirms a purchase with empty data. Default: with the charge.
	MinimalPurchase bool
	// Purchasing is how long a purchased request stays in "purchasing". Default: 0, the answer to the
	// purchase already says "processing".
	Purchasing time.Duration
	// UnknownState is how long a request shows the state "queued", which the specification does not list, when
	// its generation starts. Default: 0, it shows "processing".
	UnknownState time.Duration
	// GenerationScale multiplies how long documents take to generate. Default: 0, which counts as 1,
	// each form's own time. A negative scale generates at once, on the next tick of the clock.
	GenerationScale float64
	// EvidenceAfter is how long a manual document waits for its evidence. Default: 0, until it is
	// submitted with [World.SubmitEvidence].
	EvidenceAfter time.Duration
	// NoOther refuses the form OTHER, which no goods call for. Default: its profile puts it on a draft.
	NoOther bool
	// RequireProfiles answers the purchase of a form whose profile lacks a required field with 400.
	// Default: a form is sold and generated with whatever its profile holds.
	RequireProfiles bool
	// DeliverAnywhere sends notifications to targets off this machine. Default: loopback only.
	DeliverAnywhere bool
	// DeliveryAttempts is how often a notification is tried. Default: 3.
	DeliveryAttempts int
	// DeliveryBackoff is the wait before the second try, doubled before each further one.
	// Default: 500 ms.
	DeliveryBackoff time.Duration
	// DeliveryTimeout ends a try. Default: 10 s.
	DeliveryTimeout time.Duration
	// DeliveryAccept says which answers of a receiver are a success. Default: 200 to 299.
	DeliveryAccept func(statusCode int) bool
	// SHA256Signature signs notifications with "sha256=" and the hexadecimal HMAC-SHA256 of the body, in the header
	// X-Signature. Default: the hexadecimal HMAC-SHA512 in X-Webhook-Signature.
	SHA256Signature bool
	// NoDeliveryHeaders sends notifications without the identifiers of delivery, event and webhook. Default: each is
	// in a header.
	NoDeliveryHeaders bool
}

// Strict refuses everything that this server would otherwise tolerate, and checks every answer of its
// own: an edit for [WithAssumptions].
func Strict(a *Assumptions) {
	a.RefuseUnknownFields, a.RefuseUnknownParameters, a.RefuseWrongParameters = true, true, true
	a.TolerateWrongTypes, a.RequireContentType, a.CheckResponses = false, true, true
}

// Contrary makes the other choice at each point that the specification leaves open: an edit for [WithAssumptions]. A
// client that passes against the defaults and against Contrary is not fitted to this server. It leaves alone what is
// about this server and not about the service (OneWorld, CheckResponses, DeliverAnywhere), and RequireProfiles: the
// specification names the conditions of a purchase. ObjectBreakdown and UnknownState are met in the wild although the
// specification shows a list and lists the states. Durations are short enough for tests in real time.
func Contrary(a *Assumptions) { (*world.Assumptions)(a).Contrary() }

// Assumption is a row of the table of assumptions.
type Assumption struct {
	// Field is the switch: a field of [Assumptions].
	Field string `json:"field"`
	// Open is the point that the specification does not show.
	Open string `json:"open"`
	// Default is what the server does unless told otherwise.
	Default string `json:"default"`
	// Basis is why that was chosen.
	Basis string `json:"basis"`
	// Changed is true where this server does otherwise.
	Changed bool `json:"changed"`
}

// Assumptions returns every open point that has a switch, in the order of the struct's fields.
func (s *Server) Assumptions() []Assumption {
	table := assumptionTable()
	chosen := reflect.ValueOf(s.config.Assume)
	for i, row := range table {
		table[i].Changed = !chosen.FieldByName(row.Field).IsZero()
	}
	return table
}

func assumptionTable() []Assumption {
	return []Assumption{
		{Field: "OpenOperations", Open: "whether countries and webhooks need Authorization", Default: "every operation but the PDF needs it", Basis: "code that passes a strict server also passes a lenient one"},
		{Field: "OneWorld", Open: "which keys there are", Default: "the server's own, and sk_test_<scenario>_<name>, each for a world of its own", Basis: "tests that run at the same time must not see each other"},
		{Field: "RuleFailureStatus", Open: "HTTP status of a broken rule", Default: "400", Basis: "seen on services of this kind"},
		{Field: "FundsStatus", Open: "HTTP status of a purchase that the wallet cannot pay", Default: "that of a broken rule", Basis: "no 402 is documented"},
		{Field: "AnalyzeStatus", Open: "HTTP status of a successful analysis", Default: "200", Basis: "documented for other operations"},
		{Field: "PurchaseStatus", Open: "HTTP status of a successful purchase", Default: "200", Basis: "documented for other operations"},
		{Field: "ProblemRefusals", Open: "form of a refusal", Default: "the envelope", Basis: "seen on services of this kind"},
		{Field: "OtherRefusalNames", Open: "member and values of a refusal's code", Default: "error_code in data", Basis: "seen on services of this kind; the values are the server's own"},
		{Field: "MaxBody", Open: "body size limit", Default: "1 MiB, then 413", Basis: "none of the documented bodies comes near"},
		{Field: "RefuseUnknownFields", Open: "whether unknown body fields are refused", Default: "ignored", Basis: "services of this kind ignore them"},
		{Field: "RefuseUnknownParameters", Open: "whether unknown query parameters are refused", Default: "ignored", Basis: "services of this kind ignore them, and users send filters"},
		{Field: "RefuseWrongParameters", Open: "a page or perPage that is no number", Default: "falls back to its default", Basis: "as the pagination library does whose shape this is"},
		{Field: "TolerateWrongTypes", Open: "a body field of another type", Default: "400", Basis: "a mistake of the caller's is told as early as can be"},
		{Field: "RequireContentType", Open: "a body that does not say what it is", Default: "counts as JSON", Basis: "the header is listed, and optional on one operation"},
		{Field: "CheckResponses", Open: "whether answers are held against the OpenAPI document", Default: "not checked", Basis: "costs time; tests of this server do it"},
		{Field: "PerPageCap", Open: "maximum perPage", Default: "no cap", Basis: "unknown; a client must trust what the page says"},
		{Field: "LastPageNull", Open: "nextPage of the last page of transactions", Default: "0", Basis: "prevPage is 0 on the first page, and both are numbers"},
		{Field: "EmptyHasNoPages", Open: "pageCount of an empty list", Default: "1", Basis: "as the pagination library does whose shape this is"},
		{Field: "OldestFirst", Open: "order of lists", Default: "newest first", Basis: "as samples have it"},
		{Field: "ObjectBreakdown", Open: "shape of a rate's breakdown entry", Default: "an empty array", Basis: "as samples have it; an object was seen in one consumer"},
		{Field: "UnknownWalletIsEmpty", Open: "a wallet that does not exist", Default: "404", Basis: "as every unknown id"},
		{Field: "ReplayToNobody", Open: "a replay that no active webhook is subscribed to", Default: "400", Basis: "nothing would be sent, which a caller wants to know"},
		{Field: "AnalyzeFailureOK", Open: "HTTP status of a failed analysis", Default: "400, the failed record stored", Basis: "a failure is an error envelope"},
		{Field: "WrapRecord", Open: "where data holds a regulatory request", Default: "data itself", Basis: "the specification names its members as those of the response"},
		{Field: "OtherRecordNames", Open: "names of line items, purchased documents, a document's type and price", Default: "line_items, documents, document_type, amount", Basis: "not shown; names of the same style"},
		{Field: "MinimalRecord", Open: "further members of a regulatory request", Default: "all that the server holds", Basis: "more to test with"},
		{Field: "MinimalPurchase", Open: "data of a purchase", Default: "the charge and the request", Basis: "a confirmation that can be checked"},
		{Field: "Purchasing", Open: "how long purchasing lasts", Default: "no time", Basis: "the specification calls it transient"},
		{Field: "UnknownState", Open: "whether a state that is not listed may show", Default: "never", Basis: "the specification lists the states"},
		{Field: "GenerationScale", Open: "how long generation takes", Default: "seconds, each form its own", Basis: "long enough to poll for, short enough to wait for"},
		{Field: "EvidenceAfter", Open: "when evidence for a manual document arrives", Default: "when it is submitted to /_mock/", Basis: "a third party brings it"},
		{Field: "NoOther", Open: "how OTHER gets on a draft", Default: "by filling in its profile", Basis: "no goods call for it"},
		{Field: "RequireProfiles", Open: "whether a form is sold before its required fields are filled in", Default: "it is", Basis: "no such condition of a purchase is documented"},
		{Field: "DeliverAnywhere", Open: "where a double may send notifications", Default: "loopback only", Basis: "test data must not reach strangers"},
		{Field: "DeliveryAttempts", Open: "retry policy of failed deliveries", Default: "3 attempts", Basis: "the double's own policy"},
		{Field: "DeliveryBackoff", Open: "wait between delivery attempts", Default: "500 ms, doubling", Basis: "the double's own policy"},
		{Field: "DeliveryTimeout", Open: "patience with a receiver", Default: "10 s", Basis: "the double's own policy"},
		{Field: "DeliveryAccept", Open: "what counts as delivered", Default: "any 2xx", Basis: "the double's own policy"},
		{Field: "SHA256Signature", Open: "signature of a notification", Default: "hexadecimal HMAC-SHA512 in X-Webhook-Signature", Basis: "seen, in a header with a vendor's name"},
		{Field: "NoDeliveryHeaders", Open: "headers of a notification", Default: "identifiers of delivery, event and webhook", Basis: "receivers use them to recognize a delivery"},
	}
}

// WithAssumption sets the assumption of a name, a field of [Assumptions], to a value that is written as text: true,
// 2, 1.5, 90s, or names with commas between them. [Server.Err] returns what is wrong with either. Functions cannot be
// set this way.
func WithAssumption(name, value string) Option {
	return func(c *config) { c.problem = errors.Join(c.problem, c.Assume.Set(name, value)) }
}

// AssumptionNames returns the assumptions that [WithAssumption] sets.
func AssumptionNames() []string { return world.AssumptionNames() }

// assumptionView is an [Assumption] of a world with its value.
type assumptionView struct {
	Assumption
	Value any `json:"value"`
}

func viewAssumptions(w *world.World) []assumptionView {
	chosen := reflect.ValueOf(w.Assume)
	return list.Map(assumptionTable(), func(row Assumption) assumptionView {
		field := chosen.FieldByName(row.Field)
		row.Changed = !field.IsZero()
		v := assumptionView{Assumption: row}
		switch value := field.Interface().(type) {
		case time.Duration:
			v.Value = value.String()
		default:
			if field.Kind() != reflect.Func {
				v.Value = value
			}
		}
		return v
	})
}
