// Package outcomes compares the reports of purchases with the wallet, in every combination of what a service shows,
// how it responds, and who else purchases.
package outcomes

import (
	"fmt"
	"math/big"
	"time"

	"github.com/shipping-go/shipping"
)

// kind is a service: what its records show, which has the same meaning before and after a purchase.
type kind struct {
	documents, types string // the meaning of the lists "documents" and "document_types"
	charge           string // the meaning of "charged_amount"; a service that shows charges also shows transactions
	status           string // of a purchased request
	records          string // how much of a record is sent
}

const (
	nothing = "nothing"

	available = "available" // all offers
	bought    = "purchased" // the purchased documents
	uploaded  = "uploaded"  // evidence for these documents that was uploaded before the purchase

	charged = "charged"
	quoted  = "quoted" // the price of all offers

	full            = "full"
	minimalAnalysis = "minimal analysis" // an analysis returns the id and the offers
	minimal         = "minimal"          // so it does, and a reading returns the id and the status
)

func kinds() (all []kind) {
	meanings := []string{nothing, available, bought, uploaded}
	for _, status := range []string{"purchasing", "processing", "completed", "failed", "fulfilling"} {
		all = append(all, kind{nothing, nothing, nothing, status, minimal})
		for i, documents := range meanings {
			for _, types := range meanings[i:] { // the two lists are read in the same way
				for _, charge := range []string{nothing, charged, quoted} {
					all = append(all, kind{documents, types, charge, status, full}, kind{documents, types, charge, status, minimalAnalysis})
				}
			}
		}
	}
	return all
}

// course is what happens to one purchase.
type course struct {
	method      string
	draft       string // the special property of the request
	other, when string // what another client purchases of the request
	post        string // what the service does with the purchase
	// response is the response that the client receives. If the service performs the purchase and the response is a
	// refusal, a gateway has sent the purchase twice, and returns the response to the second one.
	response string
	lag      time.Duration // how long reads lag behind
}

const (
	purchaseDraft = "Purchase of an analyzed draft"
	purchaseID    = "Purchase by id"
	resume        = "Resume"
	analyze       = "AnalyzeAndPoll"
	inBatch       = "batch.Run"

	plain            = "plain"
	showsCharge      = "shows a charge"
	showsTransaction = "shows a transaction"
	analysisFailed   = "analysis failed"
	notDraft         = "not a draft"

	nobody    = "nobody"
	these     = "these"
	others    = "others"
	some      = "some"
	before    = "1 s before"
	meanwhile = "after the draft was read"
	after     = "2 s after"

	confirmed    = "confirmed"
	performed    = "performed"
	notPerformed = "not performed"

	refused          = "refusal"
	refusedAsDraft   = "refusal with the status draft"
	alreadyPurchased = "already purchased"
	namesAnother     = "refusal of another request"
	problem          = "problem+json"
	notFound         = "404 refusal"
	lost             = "lost"
)

// dimensions are the values of a course, in the order of its fields; purchasers stand for two of them.
var dimensions = [][]string{
	{purchaseDraft, purchaseID, resume, analyze, inBatch},
	{plain, showsCharge, showsTransaction, analysisFailed, notDraft},
	{confirmed, performed, notPerformed},
	{"", refused, refusedAsDraft, alreadyPurchased, namesAnother, problem, notFound, lost},
}

var purchasers = [][2]string{
	{nobody, ""}, {these, before}, {others, before}, {some, before}, {these, meanwhile}, {others, meanwhile}, {some, meanwhile},
	{these, after}, {others, after}, {some, after},
}

var lags = []time.Duration{0, 500 * time.Millisecond, 2500 * time.Millisecond, 15 * time.Second, 30 * time.Second}

func courses() (all []course) {
	for _, method := range dimensions[0] {
		for _, draft := range dimensions[1] {
			for _, post := range dimensions[2] {
				for _, response := range dimensions[3] {
					for _, purchaser := range purchasers {
						for _, lag := range lags {
							if c := (course{method, draft, purchaser[0], purchaser[1], post, response, lag}); c.possible() {
								all = append(all, c)
							}
						}
					}
				}
			}
		}
	}
	return all
}

// fresh reports whether the client itself has just made the request.
func (c course) fresh() bool { return c.method != purchaseID && c.method != resume }

// possible reports whether the course can happen, and is not another one under another name.
func (c course) possible() bool {
	isPurchased := c.post == performed || c.when == before || c.when == meanwhile
	switch {
	case c.other != nobody && (c.method == analyze || c.method == inBatch || c.draft != plain),
		c.fresh() && c.when == before,
		(c.post == confirmed) != (c.response == ""),
		c.other != nobody && (c.post == performed || c.post == confirmed), // by the specification only a draft is purchased
		c.response == alreadyPurchased && !isPurchased,
		(c.response == refusedAsDraft || c.response == notFound) && c.post == performed: // they are the service's word
		return false
	}
	switch c.draft {
	case analysisFailed:
		return c.post == notPerformed && c.response == refused
	case notDraft: // an analysis makes a draft
		return c.post == notPerformed && c.response == refused && !c.fresh()
	}
	return true
}

// A combination is a course of a purchase from a kind of service. The other fields vary with its number.
type combination struct {
	number int
	kind
	course
	lost          int                     // the form of a lost response
	ours, foreign []shipping.DocumentType // the documents of this purchase and of the other client's
	shrinks       bool                    // the offers of a purchased request are those that are not purchased
	asQuote       bool                    // the client is configured for charged amounts that are quotes
	late          bool                    // an analyzed draft is purchased once readings show it
}

var offers = []shipping.DocumentType{"FDA", "TEXTILE", "STEEL"}

var prices = map[shipping.DocumentType]int{"FDA": 10, "TEXTILE": 7, "STEEL": 5}

func newCombination(number int, k kind, c course) combination {
	mixed := int(uint32(number) * 2654435769 >> 8)
	one := combination{
		number: number, kind: k, course: c, lost: mixed % 6, ours: offers[:1+mixed/6%2], shrinks: mixed/12%2 == 1,
		asQuote: k.charge == quoted && mixed/24%8 > 0, late: mixed/192%2 == 1,
	}
	switch {
	case c.other == these:
		one.foreign = one.ours
	case c.other == others:
		one.foreign = offers[len(one.ours):]
	case c.other == some && len(one.ours) == 1:
		one.foreign = []shipping.DocumentType{offers[0], offers[2]}
	case c.other == some:
		one.foreign = offers[1:]
	}
	return one
}

// sample returns the numbers of combinations that contain every two values that occur together.
func sample(kinds []kind, courses []course) (numbers []int) {
	seen, byKind, byCourse := map[[2]string]bool{}, stride(len(kinds)), stride(len(courses))
	for i := range 20 * len(courses) {
		k, c := i*byKind%len(kinds), i*byCourse%len(courses)
		isNew, values := false, values(kinds[k], courses[c])
		for at, one := range values {
			for _, other := range values[:at] {
				isNew = isNew || !seen[[2]string{one, other}]
				seen[[2]string{one, other}] = true
			}
		}
		if isNew {
			numbers = append(numbers, c*len(kinds)+k)
		}
	}
	return numbers
}

// values returns the values of a combination, each with its dimension.
func values(k kind, c course) []string {
	all := []string{k.documents, k.types, k.charge, k.status, k.records, c.method, c.draft, c.other + c.when, c.post, c.response, c.lag.String()}
	for i := range all {
		all[i] = fmt.Sprint(i, all[i])
	}
	return all
}

// stride returns a number without a common divisor with n, near n divided by the golden ratio.
func stride(n int) int {
	s := int64(float64(n) * 0.6180339887)
	for new(big.Int).GCD(nil, nil, big.NewInt(s), big.NewInt(int64(n))).Int64() != 1 {
		s++
	}
	return int(s)
}
