// Package assumption holds the choices of the reference server for points that the specification leaves open. None of
// them is documented behaviour of the service.
package assumption

import "time"

// Set contains a choice for every open point. The zero value of a field is the default of the server.
//
// The tags of a field are the only description of its choice: the open point, the default, the reason for the default,
// the values of [Contrary] and [Strict], the range of a number other than 0, and the [Scope] if it is not [ScopeWorld]. The flag -assume,
// the routes below /_mock/ and docs/ASSUMPTIONS.md follow from them.
type Set struct {
	// OpenOperations names operations that need no Authorization, such as "countries.list".
	OpenOperations []string `open:"whether operations need Authorization for which the specification does not show it" default:"every operation but the PDF needs it" basis:"code that passes a strict server also passes a lenient one" contrary:"countries.list,webhooks.list" scope:"server"`
	// OneWorld refuses every key but the server's with 401.
	OneWorld bool `open:"which keys are valid" default:"the server's key, and sk_test_<scenario>_<name>, one world each" basis:"parallel tests must be isolated" contrary:"-" scope:"server"`
	// RuleFailureStatus is the HTTP status of a request that breaks a rule.
	RuleFailureStatus int `open:"HTTP status of a request that breaks a rule" default:"400" basis:"common for services of this kind" contrary:"422" range:"400..599"`
	// FundsStatus is the HTTP status of a purchase that exceeds the balance of the wallet.
	FundsStatus int `open:"HTTP status of a purchase that exceeds the balance of the wallet" default:"that of a request that breaks a rule" basis:"no 402 is documented" contrary:"402" range:"400..499"`
	// AnalyzeStatus is the HTTP status of a successful analysis.
	AnalyzeStatus int `open:"HTTP status of a successful analysis" default:"200" basis:"documented for other operations" contrary:"201" range:"200..299"`
	// PurchaseStatus is the HTTP status of a successful purchase.
	PurchaseStatus int `open:"HTTP status of a successful purchase" default:"200" basis:"documented for other operations" contrary:"202" range:"200..299"`
	// ProblemRefusals sends refusals as application/problem+json (RFC 9457).
	ProblemRefusals bool `open:"format of a refusal" default:"the envelope" basis:"common for services of this kind" contrary:"true"`
	// OtherRefusalNames sends the error code of a refusal in the member "code", with other values such as
	// ERR_NOT_FOUND.
	OtherRefusalNames bool `open:"name and values of the error code of a refusal" default:"error_code in data" basis:"common for services of this kind; the values are those of this server" contrary:"true"`
	// MaxBody is the longest request body in bytes.
	MaxBody int64 `open:"body size limit" default:"1 MiB, then 413" basis:"the documented bodies are far smaller" contrary:"262144" range:"1..1073741824" scope:"server"`
	// RefuseUnknownFields refuses a body that has an unknown field with 400.
	RefuseUnknownFields bool `open:"whether unknown body fields are refused" default:"ignored" basis:"services of this kind ignore them" contrary:"true" strict:"true"`
	// RefuseUnknownParameters refuses a query that has an unknown parameter with 400.
	RefuseUnknownParameters bool `open:"whether unknown query parameters are refused" default:"ignored" basis:"services of this kind ignore them, and users send filters" contrary:"true" strict:"true"`
	// RefuseWrongParameters refuses a page or perPage that is not a whole number of at least 1 with 400.
	RefuseWrongParameters bool `open:"a page or perPage that is not a number" default:"falls back to its default" basis:"the pagination library with this format does so" contrary:"true" strict:"true"`
	// RequireContentType refuses a body without a Content-Type with 415, except for replay, for which the
	// specification makes it optional.
	RequireContentType bool `open:"a body without a Content-Type" default:"counts as JSON" basis:"the header is documented, and optional for one operation" contrary:"true" strict:"true"`
	// PerPageCap limits perPage silently.
	PerPageCap int `open:"maximum perPage" default:"no cap" basis:"unknown; a client must use the numbers of the page" contrary:"100" range:"1..1000000"`
	// LastPageNull makes nextPage null on the last page of transactions.
	LastPageNull bool `open:"nextPage of the last page of transactions" default:"0" basis:"prevPage is 0 on the first page, and both are numbers" contrary:"true"`
	// EmptyHasNoPages makes the pageCount of an empty list 0.
	EmptyHasNoPages bool `open:"pageCount of an empty list" default:"1" basis:"as in the pagination library that has this format" contrary:"true"`
	// OldestFirst sorts lists from the oldest record to the newest.
	OldestFirst bool `open:"order of lists" default:"newest first" basis:"as in samples" contrary:"true"`
	// ObjectBreakdown makes a rate's breakdown an object with money keys.
	ObjectBreakdown bool `open:"shape of a rate's breakdown entry" default:"an empty array" basis:"as in samples; one consumer expects an object" contrary:"true" scope:"opening"`
	// UnknownWalletIsEmpty lists no transactions for a wallet that does not exist.
	UnknownWalletIsEmpty bool `open:"a wallet that does not exist" default:"404" basis:"as for every unknown id" contrary:"true"`
	// ReplayToNobody makes a replay succeed if no active webhook is subscribed to its event.
	ReplayToNobody bool `open:"a replay whose event no active webhook is subscribed to" default:"400" basis:"nothing would be sent, which is a mistake" contrary:"true"`
	// AnalyzeFailureOK responds to a failed analysis with 200 and the failed record.
	AnalyzeFailureOK bool `open:"HTTP status of a failed analysis" default:"400, the failed record stored" basis:"a failure has an error envelope" contrary:"true"`
	// WrapRecord puts the record of a regulatory request into data.request.
	WrapRecord bool `open:"which member contains a regulatory request" default:"data" basis:"the specification names the members of a request as those of the response" contrary:"true"`
	// OtherRecordNames names the line items of a record "items", its purchased documents "purchased_documents", and
	// the type and price of a document "slug" and "price".
	OtherRecordNames bool `open:"names of line items, purchased documents, and the type and price of a document" default:"line_items, documents, document_type, amount" basis:"not documented; names of the same style" contrary:"true"`
	// MinimalRecord omits the members of a record that the specification does not name, except the currencies of
	// prices.
	MinimalRecord bool `open:"additional members of a regulatory request" default:"all members of this server" basis:"tests can check more" contrary:"true"`
	// MinimalPurchase confirms a purchase with empty data.
	MinimalPurchase bool `open:"data of a purchase" default:"the charge and the request" basis:"a client can check the confirmation" contrary:"true"`
	// Purchasing is how long a purchased request stays in "purchasing".
	Purchasing time.Duration `open:"how long purchasing lasts" default:"0" basis:"the specification calls it transient" contrary:"50ms"`
	// UnknownState is how long a request has the state "queued", which the specification does not list, when its
	// generation starts.
	UnknownState time.Duration `open:"whether a request can have an undocumented state" default:"no" basis:"the specification lists the states" contrary:"30ms"`
	// GenerationScale multiplies how long documents take to generate. 1 means the time of each document's form in the
	// compliance rules, 3 to 40 seconds. 0 means 0.05, so that all are generated within 2 seconds. With a negative
	// scale a document is generated at the next tick of the clock.
	GenerationScale float64 `open:"how long generation takes" default:"2 seconds at most, a twentieth of the times in the compliance rules" basis:"long enough to poll for, short enough to wait for" contrary:"0.02" range:"-1000000..1000000"`
	// EvidenceAfter is how long a manual document waits for its evidence.
	EvidenceAfter time.Duration `open:"when evidence for a manual document arrives" default:"when it is submitted to /_mock/" basis:"a third party supplies it" contrary:"200ms"`
	// DeliverAnywhere sends notifications to targets on other machines.
	DeliverAnywhere bool `open:"targets to which a test server may send notifications" default:"loopback only" basis:"test data must not leave the machine" contrary:"-" scope:"server"`
	// DeliveryAttempts is the maximum number of attempts to deliver a notification.
	DeliveryAttempts int `open:"retry policy of failed deliveries" default:"3 attempts" basis:"a policy of this server" contrary:"5" range:"1..1000"`
	// DeliveryBackoff is the wait before the second attempt. It doubles before each further one.
	DeliveryBackoff time.Duration `open:"wait between delivery attempts" default:"500 ms, doubling" basis:"a policy of this server" contrary:"100ms"`
	// DeliveryTimeout limits one attempt.
	DeliveryTimeout time.Duration `open:"timeout of a delivery attempt" default:"10 s" basis:"a policy of this server" contrary:"5s"`
	// DeliveryAccept is the only HTTP status with which a receiver accepts a notification.
	DeliveryAccept int `open:"which responses count as delivered" default:"any 2xx" basis:"a policy of this server" contrary:"200" range:"200..599"`
	// SHA256Signature signs notifications with "sha256=" and the hexadecimal HMAC-SHA256 of the body, in the header
	// X-Signature.
	SHA256Signature bool `open:"signature of a notification" default:"hexadecimal HMAC-SHA512 in X-Webhook-Signature" basis:"seen in a service, in a header with the name of its vendor" contrary:"true"`
	// NoDeliveryHeaders sends notifications without the identifiers of delivery, event and webhook.
	NoDeliveryHeaders bool `open:"headers of a notification" default:"identifiers of delivery, event and webhook" basis:"receivers use them to recognize a delivery" contrary:"true"`
}

// Strict is an edit for mockserver.WithAssumptions. It refuses everything that the server tolerates by default.
func Strict(a *Set) { a.edit("strict", ScopeServer, ScopeOpening, ScopeWorld) }

// Contrary is an edit for mockserver.WithAssumptions. It makes the other valid choice at each point that the
// specification leaves open. A client that passes against the defaults and against Contrary does not depend on the
// choices of this server. Contrary does not change OneWorld and DeliverAnywhere, which are about this server and not
// about the service. It does set ObjectBreakdown and UnknownState: the specification shows a list and lists the states,
// but services have been seen to differ. Its durations are short enough for tests in real time.
func Contrary(a *Set) { a.edit("contrary", ScopeServer, ScopeOpening, ScopeWorld) }
