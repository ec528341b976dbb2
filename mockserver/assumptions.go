package mockserver

import (
	"net/http"
	"time"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

// Assumptions are the server's choices where the specification leaves a point open. None of them is
// the service's documented behaviour. The zero value is the default of each; change them with
// [WithAssumptions]. [Server.Assumptions] and GET /_mock/assumptions list them as a table.
type Assumptions struct {
	// OpenOperations names operations that need no Authorization, such as
	// [shipping.OpListCountries]. Default: none besides the PDF operation.
	OpenOperations []string
	// RuleFailureStatus is the HTTP status of a request that breaks a rule. Default: 400.
	RuleFailureStatus int
	// MaxBody is the longest request body in bytes. Default: 1 MiB.
	MaxBody int64
	// RefuseUnknownFields answers a body with a field that the operation does not know with 400.
	// Default: such fields are ignored.
	RefuseUnknownFields bool
	// PerPageCap silently caps perPage. Default: 0, no cap.
	PerPageCap int
	// LastPageNull makes a transaction page's nextPage null after the last page. Default: 0, a number
	// as prevPage is on the first.
	LastPageNull bool
	// ObjectBreakdown makes a rate's breakdown an object with money keys. Default: an empty array.
	ObjectBreakdown bool
	// UnknownWalletIsEmpty lists no transactions for a wallet that does not exist. Default: 404.
	UnknownWalletIsEmpty bool
	// ReplayToNobody lets a replay succeed that no active webhook is subscribed to. Default: 400.
	ReplayToNobody bool
	// AnalyzeFailureOK answers a failed analysis with 200 and the failed record. Default: 400, with the
	// request id in data.
	AnalyzeFailureOK bool
	// Purchasing is how long a purchased request stays in "purchasing". Default: 0, the answer to the
	// purchase already says "processing".
	Purchasing time.Duration
	// GenerationScale multiplies how long documents take to generate. Default: 0, which counts as 1,
	// each form's own time. A negative scale generates at once, on the next tick of the clock.
	GenerationScale float64
	// EvidenceAfter is how long a manual document waits for its evidence. Default: 0, until it is
	// submitted with [Server.SubmitEvidence].
	EvidenceAfter time.Duration
	// NoOther refuses the form OTHER, which no goods call for. Default: its profile puts it on a draft.
	NoOther bool
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
}

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
}

// Assumptions returns every open point that has a switch.
func (s *Server) Assumptions() []Assumption { return assumptionTable() }

func assumptionTable() []Assumption {
	return []Assumption{
		{"OpenOperations", "whether countries and webhooks need Authorization", "every operation but the PDF needs it", "code that passes a strict server also passes a lenient one"},
		{"RuleFailureStatus", "HTTP status of a broken rule", "400", "seen on services of this kind"},
		{"MaxBody", "body size limit", "1 MiB, then 413", "none of the documented bodies comes near"},
		{"RefuseUnknownFields", "whether unknown body fields are refused", "ignored", "services of this kind ignore them"},
		{"PerPageCap", "maximum perPage", "no cap", "unknown; a client must trust what the page says"},
		{"LastPageNull", "nextPage of the last page of transactions", "0", "prevPage is 0 on the first page, and both are numbers"},
		{"ObjectBreakdown", "shape of a rate's breakdown entry", "an empty array", "as samples have it; an object was seen in one consumer"},
		{"UnknownWalletIsEmpty", "a wallet that does not exist", "404", "as every unknown id"},
		{"ReplayToNobody", "a replay that no active webhook is subscribed to", "400", "nothing would be sent, which a caller wants to know"},
		{"AnalyzeFailureOK", "HTTP status of a failed analysis", "400, the failed record stored", "a failure is an error envelope"},
		{"Purchasing", "how long purchasing lasts", "no time", "the specification calls it transient"},
		{"GenerationScale", "how long generation takes", "seconds, each form its own", "long enough to poll for, short enough to wait for"},
		{"EvidenceAfter", "when evidence for a manual document arrives", "when it is submitted to /_mock/", "a third party brings it"},
		{"NoOther", "how OTHER gets on a draft", "by filling in its profile", "no goods call for it"},
		{"DeliverAnywhere", "where a double may send notifications", "loopback only", "test data must not reach strangers"},
		{"DeliveryAttempts", "retry policy of failed deliveries", "3 attempts", "the double's own policy"},
		{"DeliveryBackoff", "wait between delivery attempts", "500 ms, doubling", "the double's own policy"},
		{"DeliveryTimeout", "patience with a receiver", "10 s", "the double's own policy"},
		{"DeliveryAccept", "what counts as delivered", "any 2xx", "the double's own policy"},
	}
}

func (a *Assumptions) maxBody() int64 {
	if a.MaxBody > 0 {
		return a.MaxBody
	}
	return 1 << 20
}

func (a *Assumptions) ruleFailure() int {
	if a.RuleFailureStatus >= 400 && a.RuleFailureStatus <= 599 {
		return a.RuleFailureStatus
	}
	return http.StatusBadRequest
}

func (a *Assumptions) settings() regulatory.Settings {
	settings := regulatory.DefaultSettings()
	settings.Purchasing, settings.EvidenceAfter, settings.NoOther = a.Purchasing, a.EvidenceAfter, a.NoOther
	if a.GenerationScale != 0 {
		settings.GenerationScale = a.GenerationScale
	}
	return settings
}

func (a *Assumptions) deliveryPolicy() delivery.Policy {
	policy := delivery.DefaultPolicy()
	if a.DeliveryAttempts > 0 {
		policy.Attempts = a.DeliveryAttempts
	}
	if a.DeliveryBackoff > 0 {
		policy.Backoff = a.DeliveryBackoff
	}
	if a.DeliveryTimeout > 0 {
		policy.Timeout = a.DeliveryTimeout
	}
	if a.DeliveryAccept != nil {
		policy.Accept = a.DeliveryAccept
	}
	return policy
}
