// Package evidence decides whether a purchase charged the wallet. [Decide] is a pure function from the evidence
// about a purchase, a [Case], to its [Result]. The other functions find in the JSON of a response or a draft the
// fields about money, and contradictions between them. The package does not depend on HTTP or time.
package evidence

// Response is the kind of response to the purchase.
type Response uint8

const (
	// Lost is every response that proves nothing, and every exchange that broke off.
	Lost Response = 1 << iota
	// Unsent: the client's own transport never handed the request to the network.
	Unsent
	// Confirmation: the service reported success, about this request and these documents.
	Confirmation
	// Refusal: the service itself reported that it did not perform the purchase.
	Refusal
)

// State is the status of the request when it was read back after the purchase.
type State uint8

const (
	// Unread: the request could not be read, or the response was about another request.
	Unread State = 1 << iota
	Draft
	Purchasing
	Processing
	Completed
	Failed
	// Other is a status that the specification does not list.
	Other
)

// Documents compares the purchased documents that the record lists with those of this purchase.
type Documents uint8

const (
	// NoList: the record lists no documents that could be read.
	NoList Documents = 1 << iota
	// These: the record lists every document of this purchase.
	These
	// Others: the record lists documents, and none of this purchase.
	Others
	// Some: the record lists some documents of this purchase, or documents that could not be read.
	Some
)

// Case is the evidence about a purchase.
type Case struct {
	Response Response
	State    State
	// Documents are the documents that the record lists.
	Documents Documents
	// Charge: the record shows a charged amount or a transaction. For a draft, one that an earlier record
	// showed counts too, and so does one that cannot be read.
	Charge bool
	// WasDraft: the request was read as a draft before the purchase.
	WasDraft bool
	// Quiet: the request has read as a draft for as long as the response requires.
	Quiet bool
	// Denied: the purchase and the read-back were both refused with the same status, it is 401, 403 or 404,
	// and the request was never read.
	Denied bool
}

// Result is the effect of a purchase on the wallet.
type Result uint8

const (
	// Unknown: the evidence decides nothing, or contradicts itself.
	Unknown Result = iota
	// Success: this purchase charged the wallet.
	Success
	// NotCharged: this purchase charged nothing.
	NotCharged
	// ChargedBefore: this purchase was refused because the documents had been purchased before.
	ChargedBefore
)

// row is a line of the table. Zero sets match everything.
type row struct {
	response  Response
	state     State
	documents Documents
	also      func(Case) bool
	result    Result
}

func (r row) matches(c Case) bool {
	return r.response&c.Response != 0 &&
		(r.state == 0 || r.state&c.State != 0) &&
		(r.documents == 0 || r.documents&c.Documents != 0) &&
		(r.also == nil || r.also(c))
}

// Decide returns the result of a purchase, by this table:
//
//	Response      Read-back                                                    Result
//	unsent        any                                                          not charged
//	confirmation  any                                                          success
//	lost          purchasing, processing, completed or an unknown state,       success
//	              and it lists these documents
//	lost          purchasing, processing or completed, without a list          success
//	lost          failed, and it lists these documents                         success
//	lost          failed, without a list, and it shows a charge or was a       success
//	              draft before
//	refusal       not a draft, and it lists these documents                    charged before
//	refusal       failed, without a list, and it shows a charge                charged before
//	refusal       completed, and it lists documents, none of these             not charged
//	refusal       refused with the same status, 401, 403 or 404                not charged
//	lost, refusal a draft for as long as is required, and no charge shown      not charged
//	              any other pair                                               unknown
//
// A draft is required to stay one for RefusedFor after a refusal, and for QuietFor after a lost response;
// the caller measures both and sets Quiet.
func Decide(c Case) Result {
	for _, row := range [...]row{
		{response: Unsent, result: NotCharged},
		{response: Confirmation, result: Success},
		{response: Lost, state: Purchasing | Processing | Completed | Other, documents: These, result: Success},
		{response: Lost, state: Purchasing | Processing | Completed, documents: NoList, result: Success},
		{response: Lost, state: Failed, documents: These, result: Success},
		{response: Lost, state: Failed, documents: NoList, also: chargedOrDraft, result: Success},
		{response: Refusal, state: Purchasing | Processing | Completed | Other | Failed, documents: These, result: ChargedBefore},
		{response: Refusal, state: Failed, documents: NoList, also: showsCharge, result: ChargedBefore},
		{response: Refusal, state: Completed, documents: Others, result: NotCharged},
		{response: Refusal, state: Unread, also: denied, result: NotCharged},
		{response: Lost | Refusal, state: Draft, also: quietWithoutCharge, result: NotCharged},
	} {
		if row.matches(c) {
			return row.result
		}
	}
	return Unknown
}

func chargedOrDraft(c Case) bool     { return c.Charge || c.WasDraft }
func showsCharge(c Case) bool        { return c.Charge }
func denied(c Case) bool             { return c.Denied }
func quietWithoutCharge(c Case) bool { return c.Quiet && !c.Charge }
