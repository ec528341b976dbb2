// Package evidence decides whether a purchase charged the wallet. [Decide] is a pure function from the evidence
// about a purchase, a [Case], to its [Result]. The other functions find in the JSON of a response what it shows about a
// purchase, and contradictions in it. The package does not depend on HTTP, and reads no clock.
package evidence

import "github.com/shipping-go/shipping/internal/status"

// Response is the kind of response to the purchase.
type Response uint8

const (
	// Lost is any response of none of the kinds below, such as a 503, a 4xx that is not in the form of a refusal, or a 2xx
	// that does not confirm the purchase; and any exchange that broke off.
	Lost Response = 1 << iota
	// Unsent: the client's own transport never handed the request to the network.
	Unsent
	// Confirmation: the service reported success, and named no other request and no other documents.
	Confirmation
	// Refusal: the service itself reported that it did not perform the purchase.
	Refusal
	// Contradicted is a refusal that shows a purchase, or another request.
	Contradicted
)

// Documents compares the documents that the record lists with the documents of this purchase. Only new lists count:
// members in which the draft listed no documents.
type Documents uint8

const (
	// NoList: no list is new.
	NoList Documents = 1 << iota
	// These: new lists hold every document of this purchase, and no others.
	These
	// Others: new lists hold documents, and none of this purchase.
	Others
	// Some: new lists hold a part of the documents of this purchase, or other documents too, or some that could not be
	// read.
	Some
)

// Case is the evidence about a purchase.
type Case struct {
	Response Response
	// State is the status of the request when it was read back after the purchase.
	State status.State
	// Documents compares the new lists. If the record before the purchase is not known, no list is known to be new:
	// Documents is then NoList, or Some if the request is still a draft and has a list, which may be new.
	Documents Documents
	// Known: the record from before the purchase is known, and was a draft.
	Known bool
	// Sole: nobody else can have purchased from this draft.
	Sole bool
	// AnalysisFailed: the analysis may have failed, not the generation: the request is failed without a transaction, and
	// was never read as a draft before the purchase.
	AnalysisFailed bool
	// OnlyThese: the record shows that a purchase of this request can only have bought these documents.
	OnlyThese bool
	// Purchased: a record has shown a charge (or a possible one) or documents that the draft did not show, or a status
	// to which only a purchase leads. The status purchasing does not count: the service can still refuse that purchase.
	Purchased bool
	// Quiet: the request has read as a draft for as long as the response requires. After a refusal, a draft that has
	// expired counts, too.
	Quiet bool
	// Denied: the purchase and the read-back were refused with the same status, 401, 403 or 404, and the request was not
	// read in between.
	Denied bool
}

// Result is the effect of a purchase on the wallet.
type Result uint8

const (
	// Unknown: the evidence is not sufficient, or contradicts itself.
	Unknown Result = iota
	// Success: this purchase charged the wallet.
	Success
	// NotCharged: this purchase charged nothing.
	NotCharged
	// PurchasedBefore: this purchase was refused because the documents are purchased already.
	PurchasedBefore
)

// row is a line of the table. A zero set matches everything.
type row struct {
	response  Response
	state     status.State
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

// notDraft holds every state that was read, except a draft.
const notDraft = ^(status.Unread | status.Draft)

// rows has a row for each line of the table of [Decide], except the last.
var rows = [...]row{
	{response: Unsent, result: NotCharged},
	{response: Confirmation, result: Success},
	{response: Lost, state: notDraft, documents: These, also: known, result: Success},
	{response: Lost, state: status.PurchasedStates, documents: NoList, also: sole, result: Success},
	{response: Lost, state: status.PurchasedStates, also: onlyThese, result: Success},
	{response: Lost, state: status.Draft, documents: NoList, also: quiet, result: NotCharged},
	{response: Refusal, state: status.Draft | status.Other, documents: NoList, also: quiet, result: NotCharged},
	{response: Refusal, state: status.Completed, documents: Others, also: known, result: NotCharged},
	{response: Refusal, state: status.Unread, also: denied, result: NotCharged},
	{response: Refusal | Contradicted, state: notDraft, documents: These, also: known, result: PurchasedBefore},
}

// Decide returns the result of a purchase, by this table. Only lists and charges that the draft did not show count:
// what the record shows before and after the purchase proves nothing.
//
//	Response      Before     Read-back                                             Result
//	unsent        any        any                                                   not charged
//	confirmation  any        any                                                   success
//	lost          draft      not a draft, and it lists these documents             success
//	lost          draft,     purchasing, processing, completed or failed,          success
//	              sole       without a list; not a failed analysis
//	lost          not known  purchasing, processing, completed or failed, and      success
//	                         only these documents can have been purchased
//	lost          any        a draft throughout QuietFor, without a list; no       not charged
//	                         reading has shown a purchase
//	refusal       any        the same throughout RefusedFor; a draft that has      not charged
//	                         expired counts, too
//	refusal       draft      completed, and it lists documents, none of these      not charged
//	refusal       any        refused with the same status, 401, 403 or 404         not charged
//	refusal, also draft      not a draft, and it lists these documents             purchased before
//	contradicted
//	              any other combination                                            unknown
//
// Sole means that nobody else can have purchased from the draft. The caller measures how long the request stays a
// draft, and sets Quiet.
func Decide(c Case) Result {
	for _, row := range rows {
		if row.matches(c) {
			return row.result
		}
	}
	return Unknown
}

// Undecidable reports whether no later reading can decide what [Decide] has not: the request has ended, or it is not a
// draft and has a new list.
func (c Case) Undecidable() bool {
	return c.State.Final() || c.State != status.Draft && c.Documents != NoList
}

func known(c Case) bool     { return c.Known }
func sole(c Case) bool      { return c.Known && c.Sole && !c.AnalysisFailed }
func onlyThese(c Case) bool { return !c.Known && c.OnlyThese }
func quiet(c Case) bool     { return c.Quiet && !c.Purchased }
func denied(c Case) bool    { return c.Denied }
