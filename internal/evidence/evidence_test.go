package evidence

import (
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/status"
)

// of returns a case in which the named facts are true.
func of(response Response, state status.State, documents Documents, facts string) Case {
	is := func(fact string) bool { return slices.Contains(strings.Fields(facts), fact) }
	return Case{
		Response: response, State: state, Documents: documents, Known: is("known"), Sole: is("sole"),
		AnalysisFailed: is("analysisFailed"), OnlyThese: is("onlyThese"), Charge: is("charge"), Quiet: is("quiet"),
		Denied: is("denied"),
	}
}

// Each row of the table decides its own cases, and none beyond its borders.
func TestDecide_Rows(t *testing.T) {
	t.Parallel()
	used := map[int]bool{}
	for name, test := range map[string]struct {
		c    Case
		want Result
	}{
		"unsent":                                  {of(Unsent, status.Unread, NoList, ""), NotCharged},
		"unsent, purchased by another":            {of(Unsent, status.Completed, These, "known charge"), NotCharged},
		"confirmation":                            {of(Confirmation, status.Unread, NoList, ""), Success},
		"lost, processing, these":                 {of(Lost, status.Processing, These, "known"), Success},
		"lost, processing, these, not known":      {of(Lost, status.Processing, These, ""), Unknown},
		"lost, processing, others":                {of(Lost, status.Processing, Others, "known sole"), Unknown},
		"lost, completed, some of these":          {of(Lost, status.Completed, Some, "known sole"), Unknown},
		"lost, failed, these":                     {of(Lost, status.Failed, These, "known"), Success},
		"lost, unknown state, these":              {of(Lost, status.Other, These, "known"), Success},
		"lost, purchasing, no list":               {of(Lost, status.Purchasing, NoList, "known charge"), Unknown},
		"lost, purchasing, no list, sole":         {of(Lost, status.Purchasing, NoList, "known sole"), Success},
		"lost, failed, no list, sole":             {of(Lost, status.Failed, NoList, "known sole"), Success},
		"lost, failed analysis, sole":             {of(Lost, status.Failed, NoList, "known sole analysisFailed"), Unknown},
		"lost, failed analysis, these":            {of(Lost, status.Failed, These, "known analysisFailed"), Success},
		"lost, unknown state, no list, sole":      {of(Lost, status.Other, NoList, "known sole"), Unknown},
		"lost, processing, sole, not known":       {of(Lost, status.Processing, NoList, "sole"), Unknown},
		"lost, processing, only these":            {of(Lost, status.Processing, NoList, "onlyThese"), Success},
		"lost, processing, only these, known":     {of(Lost, status.Processing, NoList, "known onlyThese"), Unknown},
		"lost, unknown state, only these":         {of(Lost, status.Other, NoList, "onlyThese"), Unknown},
		"lost, draft":                             {of(Lost, status.Draft, NoList, "known onlyThese"), Unknown},
		"lost, draft for long":                    {of(Lost, status.Draft, NoList, "known quiet"), NotCharged},
		"lost, draft for long, not known":         {of(Lost, status.Draft, NoList, "quiet"), NotCharged},
		"lost, draft for long, shows a charge":    {of(Lost, status.Draft, NoList, "quiet charge"), Unknown},
		"lost, draft for long, shows a list":      {of(Lost, status.Draft, Others, "known quiet"), Unknown},
		"lost, not read":                          {of(Lost, status.Unread, NoList, "known sole quiet denied"), Unknown},
		"refusal, draft":                          {of(Refusal, status.Draft, NoList, "known"), Unknown},
		"refusal, draft for long":                 {of(Refusal, status.Draft, NoList, "known quiet"), NotCharged},
		"refusal, draft for long, shows a charge": {of(Refusal, status.Draft, NoList, "known quiet charge"), Unknown},
		"refusal, completed, others":              {of(Refusal, status.Completed, Others, "known"), NotCharged},
		"refusal, completed, others, not known":   {of(Refusal, status.Completed, Others, ""), Unknown},
		"refusal, processing, others":             {of(Refusal, status.Processing, Others, "known"), Unknown},
		"refusal, completed, some of these":       {of(Refusal, status.Completed, Some, "known"), Unknown},
		"refusal, completed, no list, sole":       {of(Refusal, status.Completed, NoList, "known sole"), Unknown},
		"refusal, failed, shows a charge":         {of(Refusal, status.Failed, NoList, "known charge"), Unknown},
		"refusal, processing, these":              {of(Refusal, status.Processing, These, "known"), PurchasedBefore},
		"refusal, unknown state, these":           {of(Refusal, status.Other, These, "known"), PurchasedBefore},
		"refusal, these, not known":               {of(Refusal, status.Completed, These, "onlyThese"), Unknown},
		"refusal, not read":                       {of(Refusal, status.Unread, NoList, "known"), Unknown},
		"refusal, denied twice":                   {of(Refusal, status.Unread, NoList, "denied"), NotCharged},
		"contradicted, draft for long":            {of(Contradicted, status.Draft, NoList, "known quiet"), Unknown},
		"contradicted, completed, others":         {of(Contradicted, status.Completed, Others, "known"), Unknown},
		"contradicted, denied twice":              {of(Contradicted, status.Unread, NoList, "denied"), Unknown},
		"contradicted, failed, these":             {of(Contradicted, status.Failed, These, "known"), PurchasedBefore},
	} {
		if got := Decide(test.c); got != test.want {
			t.Errorf("%s: Decide(%+v) = %d, want %d", name, test.c, got, test.want)
		}
		for i, row := range rows {
			used[i] = used[i] || row.matches(test.c)
		}
	}
	for i, row := range rows {
		if !used[i] {
			t.Errorf("no example decides by row %d, %+v: add one", i+1, row)
		}
	}
}

// A request that has ended is not read again, nor is one that lists other documents than those of the purchase.
func TestCase_Undecidable(t *testing.T) {
	t.Parallel()
	for c, want := range map[Case]bool{
		of(Lost, status.Failed, NoList, ""): true, of(Lost, status.Processing, Others, ""): true,
		of(Lost, status.Processing, NoList, ""): false, of(Lost, status.Draft, Others, ""): false,
		of(Lost, status.Unread, NoList, ""): false,
	} {
		if c.Undecidable() != want {
			t.Errorf("%+v: %t", c, !want)
		}
	}
}

// No combination of evidence breaks a rule, whatever the rows of the table are.
func TestDecide_EveryCombination(t *testing.T) {
	t.Parallel()
	facts := []string{"known", "sole", "analysisFailed", "onlyThese", "charge", "quiet", "denied"}
	states := []status.State{status.Unread, status.Other}
	for _, row := range status.All() {
		states = append(states, row.State)
	}
	for n := range 5 * len(states) * 4 << len(facts) {
		var is []string
		for i, fact := range facts {
			if n>>i&1 == 1 {
				is = append(is, fact)
			}
		}
		n >>= len(facts)
		response := []Response{Lost, Unsent, Confirmation, Refusal, Contradicted}[n%5]
		state := states[n/5%len(states)]
		documents := []Documents{NoList, These, Others, Some}[n/5/len(states)]
		c := of(response, state, documents, strings.Join(is, " "))
		got := Decide(c)
		sent, refusal := response != Unsent && response != Confirmation, response == Refusal
		refused, draft := refusal || response == Contradicted, state == status.Draft
		bought := state&(status.PurchasedStates|status.Other) != 0
		success, free, decided := got == Success, got == NotCharged, got != Unknown
		for rule, broken := range map[string]bool{
			"a refusal is never a success":                  refused && success,
			"a contradicted refusal is never free":          response == Contradicted && free,
			"only a refusal reports an earlier purchase":    !refused && got == PurchasedBefore,
			"a confirmation is a success":                   response == Confirmation && !success,
			"a request that was not sent charged nothing":   response == Unsent && !free,
			"a lost response is free only if a draft stays": response == Lost && free && !(draft && c.Quiet),
			"what was not read decides nothing":             sent && state == status.Unread && decided && !(refusal && c.Denied),
			"a draft is never a charge":                     sent && draft && (success || got == PurchasedBefore),
			"a draft that shows a charge decides nothing":   sent && draft && c.Charge && decided,
			"a draft that shows a list decides nothing":     sent && draft && documents != NoList && decided,
			"a list of only some of the documents is open":  sent && documents == Some && c.Known && state != status.Unread && decided,
			"no list decides only for the sole buyer": sent && c.Known && documents == NoList && bought && !c.Sole &&
				decided,
			"a failed analysis charges nothing":             sent && c.Known && c.AnalysisFailed && documents == NoList && success,
			"without the record before, no list is a proof": sent && !c.Known && !c.OnlyThese && bought && decided,
			"a refusal while it is processed is never free": refusal && bought && state != status.Completed && free,
		} {
			if broken {
				t.Errorf("%s: Decide(%+v) = %d", rule, c, got)
			}
		}
	}
}
