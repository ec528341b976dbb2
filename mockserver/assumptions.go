package mockserver

import (
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/admin"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Assumptions are the server's choices for points that the specification leaves open. None of them is
// documented behaviour of the service. The zero value of a field is its default; change fields with
// [WithAssumptions]. [World.Assumptions] and GET /_mock/assumptions list them as a table.
type Assumptions struct {
	// OpenOperations names operations that need no Authorization, such as
	// [shipping.OpListCountries]. Default: only the PDF operation.
	OpenOperations []string
	// OneWorld refuses every key but the server's with 401. Default: a key of the form
	// sk_test_<scenario>_<name> opens a new world; see [Scenarios].
	OneWorld bool
	// RuleFailureStatus is the HTTP status of a request that breaks a rule. Default: 400.
	RuleFailureStatus int
	// FundsStatus is the HTTP status of a purchase that exceeds the balance of the wallet. Default:
	// RuleFailureStatus.
	FundsStatus int
	// AnalyzeStatus is the HTTP status of a successful analysis. Default: 200.
	AnalyzeStatus int
	// PurchaseStatus is the HTTP status of a successful purchase. Default: 200.
	PurchaseStatus int
	// ProblemRefusals sends refusals as application/problem+json (RFC 9457). Default: the envelope.
	ProblemRefusals bool
	// OtherRefusalNames sends the error code of a refusal in the member "code", with other values such as
	// ERR_NOT_FOUND. Default: the member error_code, with values such as not_found.
	OtherRefusalNames bool
	// MaxBody is the longest request body in bytes. Default: 1 MiB.
	MaxBody int64
	// RefuseUnknownFields refuses a body that has an unknown field with 400.
	// Default: such fields are ignored.
	RefuseUnknownFields bool
	// RefuseUnknownParameters refuses a query that has an unknown parameter with 400.
	// Default: such parameters are ignored.
	RefuseUnknownParameters bool
	// RefuseWrongParameters refuses a page or perPage that is not a whole number of at least 1 with 400.
	// Default: the parameter falls back to its default.
	RefuseWrongParameters bool
	// TolerateWrongTypes ignores a body field of another JSON type. Default: 400.
	TolerateWrongTypes bool
	// RequireContentType refuses a body without a Content-Type with 415, except for replay, for which the
	// specification makes it optional. Default: such a body counts as JSON.
	RequireContentType bool
	// CheckResponses checks every response against the OpenAPI document and replaces one that does not
	// conform by a 500 that names the difference. Default: responses are not checked.
	CheckResponses bool
	// PerPageCap limits perPage silently. Default: 0, no cap.
	PerPageCap int
	// LastPageNull makes nextPage null on the last page of transactions. Default: 0, as prevPage is 0 on
	// the first page.
	LastPageNull bool
	// EmptyHasNoPages makes the pageCount of an empty list 0. Default: 1.
	EmptyHasNoPages bool
	// OldestFirst sorts lists from the oldest record to the newest. Default: newest first.
	OldestFirst bool
	// ObjectBreakdown makes a rate's breakdown an object with money keys. Default: an empty array.
	ObjectBreakdown bool
	// UnknownWalletIsEmpty lists no transactions for a wallet that does not exist. Default: 404.
	UnknownWalletIsEmpty bool
	// ReplayToNobody makes a replay succeed if no active webhook is subscribed to its event. Default: 400.
	ReplayToNobody bool
	// AnalyzeFailureOK responds to a failed analysis with 200 and the failed record. Default: 400, with the
	// request id in data.
	AnalyzeFailureOK bool
	// WrapRecord puts the record of a regulatory request into data.request. Default: the record is the data.
	WrapRecord bool
	// OtherRecordNames names the line items of a record "items", its purchased documents
	// "purchased_documents", and the type and price of a document "slug" and "price". Default: "line_items",
	// "documents", "document_type" and "amount".
	OtherRecordNames bool
	// MinimalRecord omits the members of a record that the specification does not name, except the currencies of
	// prices. Default: a record has all members.
	MinimalRecord bool
	// MinimalPurchase confirms a purchase with empty data. Default: the data contains the charge.
	MinimalPurchase bool
	// Purchasing is how long a purchased request stays in "purchasing". Default: 0, and the response to the
	// purchase already has "processing".
	Purchasing time.Duration
	// UnknownState is how long a request has the state "queued", which the specification does not list, when
	// its generation starts. Default: 0, and the request is "processing".
	UnknownState time.Duration
	// GenerationScale multiplies how long documents take to generate. 1 means the time of each document's form in the
	// compliance rules, 3 to 40 seconds. Default: 0, which means 0.05, so that all are generated within 2 seconds. With
	// a negative scale a document is generated at the next tick of the clock.
	GenerationScale float64
	// EvidenceAfter is how long a manual document waits for its evidence. Default: 0, until it is
	// submitted with [World.SubmitEvidence].
	EvidenceAfter time.Duration
	// NoOther refuses the document OTHER, which no goods require. Default: a profile adds it to a draft.
	NoOther bool
	// RequireProfiles refuses the purchase of a document whose profile lacks a required field with 400.
	// Default: a document is sold and generated with the fields that its profile has.
	RequireProfiles bool
	// DeliverAnywhere sends notifications to targets on other machines. Default: loopback only.
	DeliverAnywhere bool
	// DeliveryAttempts is the maximum number of attempts to deliver a notification. Default: 3.
	DeliveryAttempts int
	// DeliveryBackoff is the wait before the second attempt. It doubles before each further one.
	// Default: 500 ms.
	DeliveryBackoff time.Duration
	// DeliveryTimeout limits one attempt. Default: 10 s.
	DeliveryTimeout time.Duration
	// DeliveryAccept reports whether a receiver's response is a success. Default: 200 to 299.
	DeliveryAccept func(statusCode int) bool
	// SHA256Signature signs notifications with "sha256=" and the hexadecimal HMAC-SHA256 of the body, in the header
	// X-Signature. Default: the hexadecimal HMAC-SHA512 in X-Webhook-Signature.
	SHA256Signature bool
	// NoDeliveryHeaders sends notifications without the identifiers of delivery, event and webhook. Default: each is
	// in a header.
	NoDeliveryHeaders bool
}

// Strict refuses everything that the server tolerates by default, and checks every response against the
// OpenAPI document. Use WithAssumptions(Strict).
func Strict(a *Assumptions) {
	a.RefuseUnknownFields, a.RefuseUnknownParameters, a.RefuseWrongParameters = true, true, true
	a.TolerateWrongTypes, a.RequireContentType, a.CheckResponses = false, true, true
}

// Contrary is an edit for [WithAssumptions]. It makes the other valid choice at each point that the specification
// leaves open. A client that passes against the defaults and against Contrary does not depend on the choices of this
// server. Contrary does not change OneWorld, CheckResponses and DeliverAnywhere, which are about this server and not
// about the service, or RequireProfiles, because the specification names the conditions of a purchase. It does set
// ObjectBreakdown and UnknownState: the specification shows a list and lists the states, but services have been seen to
// differ. Its durations are short enough for tests in real time.
func Contrary(a *Assumptions) { (*world.Assumptions)(a).Contrary() }

// Assumption is one row of the table of assumptions.
type Assumption struct {
	// Field is the switch: a field of [Assumptions].
	Field string `json:"field"`
	// Open is the point that the specification leaves open.
	Open string `json:"open"`
	// Default is the server's default behaviour.
	Default string `json:"default"`
	// Basis is the reason for the default.
	Basis string `json:"basis"`
	// Changed is true if the world does not use the default.
	Changed bool `json:"changed"`
}

// Assumptions returns every open point that has a switch, in the order of the struct's fields.
func (w *World) Assumptions() []Assumption {
	table := assumptionTable()
	chosen := reflect.ValueOf(*w.core.Assume())
	for i, row := range table {
		table[i].Changed = !chosen.FieldByName(row.Field).IsZero()
	}
	return table
}

// Assumptions returns the open points with the choices of the home world.
func (s *Server) Assumptions() []Assumption { return s.World.Assumptions() }

// SetAssumptions changes assumptions of the world for what happens from now on: requests, documents that are purchased,
// attempts of deliveries. It returns an error, and changes nothing, if edit changes OpenOperations, OneWorld, MaxBody or
// DeliverAnywhere, which apply to the whole server, or ObjectBreakdown, which applies when a world opens. Reset undoes
// the changes.
func (w *World) SetAssumptions(edit func(*Assumptions)) error {
	next := *w.core.Assume()
	next.OpenOperations = slices.Clone(next.OpenOperations)
	edit((*Assumptions)(&next))
	return w.core.SetAssumptions(next)
}

func assumptionTable() []Assumption {
	return []Assumption{
		{Field: "OpenOperations", Open: "whether countries and webhooks need Authorization", Default: "every operation but the PDF needs it", Basis: "code that passes a strict server also passes a lenient one"},
		{Field: "OneWorld", Open: "which keys are valid", Default: "the server's key, and sk_test_<scenario>_<name>, one world each", Basis: "parallel tests must be isolated"},
		{Field: "RuleFailureStatus", Open: "HTTP status of a request that breaks a rule", Default: "400", Basis: "common for services of this kind"},
		{Field: "FundsStatus", Open: "HTTP status of a purchase that exceeds the balance of the wallet", Default: "that of a request that breaks a rule", Basis: "no 402 is documented"},
		{Field: "AnalyzeStatus", Open: "HTTP status of a successful analysis", Default: "200", Basis: "documented for other operations"},
		{Field: "PurchaseStatus", Open: "HTTP status of a successful purchase", Default: "200", Basis: "documented for other operations"},
		{Field: "ProblemRefusals", Open: "format of a refusal", Default: "the envelope", Basis: "common for services of this kind"},
		{Field: "OtherRefusalNames", Open: "name and values of the error code of a refusal", Default: "error_code in data", Basis: "common for services of this kind; the values are those of this server"},
		{Field: "MaxBody", Open: "body size limit", Default: "1 MiB, then 413", Basis: "the documented bodies are far smaller"},
		{Field: "RefuseUnknownFields", Open: "whether unknown body fields are refused", Default: "ignored", Basis: "services of this kind ignore them"},
		{Field: "RefuseUnknownParameters", Open: "whether unknown query parameters are refused", Default: "ignored", Basis: "services of this kind ignore them, and users send filters"},
		{Field: "RefuseWrongParameters", Open: "a page or perPage that is not a number", Default: "falls back to its default", Basis: "the pagination library with this format does so"},
		{Field: "TolerateWrongTypes", Open: "a body field of another type", Default: "400", Basis: "a mistake of the caller is reported early"},
		{Field: "RequireContentType", Open: "a body without a Content-Type", Default: "counts as JSON", Basis: "the header is documented, and optional for one operation"},
		{Field: "CheckResponses", Open: "whether responses are checked against the OpenAPI document", Default: "not checked", Basis: "it takes time; the tests of this server do it"},
		{Field: "PerPageCap", Open: "maximum perPage", Default: "no cap", Basis: "unknown; a client must use the numbers of the page"},
		{Field: "LastPageNull", Open: "nextPage of the last page of transactions", Default: "0", Basis: "prevPage is 0 on the first page, and both are numbers"},
		{Field: "EmptyHasNoPages", Open: "pageCount of an empty list", Default: "1", Basis: "as in the pagination library that has this format"},
		{Field: "OldestFirst", Open: "order of lists", Default: "newest first", Basis: "as in samples"},
		{Field: "ObjectBreakdown", Open: "shape of a rate's breakdown entry", Default: "an empty array", Basis: "as in samples; one consumer expects an object"},
		{Field: "UnknownWalletIsEmpty", Open: "a wallet that does not exist", Default: "404", Basis: "as for every unknown id"},
		{Field: "ReplayToNobody", Open: "a replay whose event no active webhook is subscribed to", Default: "400", Basis: "nothing would be sent, which is a mistake"},
		{Field: "AnalyzeFailureOK", Open: "HTTP status of a failed analysis", Default: "400, the failed record stored", Basis: "a failure has an error envelope"},
		{Field: "WrapRecord", Open: "which member contains a regulatory request", Default: "data", Basis: "the specification names the members of a request as those of the response"},
		{Field: "OtherRecordNames", Open: "names of line items, purchased documents, and the type and price of a document", Default: "line_items, documents, document_type, amount", Basis: "not documented; names of the same style"},
		{Field: "MinimalRecord", Open: "additional members of a regulatory request", Default: "all members of this server", Basis: "tests can check more"},
		{Field: "MinimalPurchase", Open: "data of a purchase", Default: "the charge and the request", Basis: "a client can check the confirmation"},
		{Field: "Purchasing", Open: "how long purchasing lasts", Default: "0", Basis: "the specification calls it transient"},
		{Field: "UnknownState", Open: "whether a request can have an undocumented state", Default: "no", Basis: "the specification lists the states"},
		{Field: "GenerationScale", Open: "how long generation takes", Default: "2 seconds at most, a twentieth of the times in the compliance rules", Basis: "long enough to poll for, short enough to wait for"},
		{Field: "EvidenceAfter", Open: "when evidence for a manual document arrives", Default: "when it is submitted to /_mock/", Basis: "a third party supplies it"},
		{Field: "NoOther", Open: "how OTHER is added to a draft", Default: "by a profile for it", Basis: "no goods require it"},
		{Field: "RequireProfiles", Open: "whether a document is sold before its required fields are set", Default: "yes", Basis: "the specification has no such condition"},
		{Field: "DeliverAnywhere", Open: "targets to which a test server may send notifications", Default: "loopback only", Basis: "test data must not leave the machine"},
		{Field: "DeliveryAttempts", Open: "retry policy of failed deliveries", Default: "3 attempts", Basis: "a policy of this server"},
		{Field: "DeliveryBackoff", Open: "wait between delivery attempts", Default: "500 ms, doubling", Basis: "a policy of this server"},
		{Field: "DeliveryTimeout", Open: "timeout of a delivery attempt", Default: "10 s", Basis: "a policy of this server"},
		{Field: "DeliveryAccept", Open: "which responses count as delivered", Default: "any 2xx", Basis: "a policy of this server"},
		{Field: "SHA256Signature", Open: "signature of a notification", Default: "hexadecimal HMAC-SHA512 in X-Webhook-Signature", Basis: "seen in a service, in a header with the name of its vendor"},
		{Field: "NoDeliveryHeaders", Open: "headers of a notification", Default: "identifiers of delivery, event and webhook", Basis: "receivers use them to recognize a delivery"},
	}
}

// WithAssumption sets the field of [Assumptions] of a name to a value in text: true, 2, 1.5, 90s, or names
// separated by commas. [Server.Err] returns an error if either is invalid. Fields of function type cannot be
// set this way.
func WithAssumption(name, value string) Option {
	return func(c *config) { c.problem = errors.Join(c.problem, c.Assume.Set(name, value)) }
}

// AssumptionNames returns the names that [WithAssumption] sets.
func AssumptionNames() []string { return world.AssumptionNames() }

// settingKind returns the kind of a field.
func settingKind(field reflect.Type) string {
	switch {
	case field == reflect.TypeFor[time.Duration]():
		return "duration"
	case field.Kind() == reflect.Bool:
		return "boolean"
	case field.Kind() == reflect.Slice:
		return "names"
	case field.Kind() == reflect.Func:
		return "function"
	default:
		return "number"
	}
}

func viewAssumptions(w *world.World) []admin.Assumption {
	chosen := reflect.ValueOf(*w.Assume())
	return list.Map(assumptionTable(), func(row Assumption) admin.Assumption {
		field := chosen.FieldByName(row.Field)
		v := admin.Assumption{
			Field: row.Field, Open: row.Open, Default: row.Default, Basis: row.Basis, Changed: !field.IsZero(),
			Kind: settingKind(field.Type()), Scope: world.ScopeOf(row.Field),
		}
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
