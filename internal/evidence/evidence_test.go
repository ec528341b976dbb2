package evidence

import (
	"slices"
	"strings"
	"testing"
)

func TestState_Final(t *testing.T) {
	t.Parallel()
	for _, status := range append(Statuses(), Status{State: Unread}, StatusOf("quoted")) {
		if status.State.Final() != status.Final {
			t.Errorf("%+v", status)
		}
	}
}

// of returns a case in which the named facts are true.
func of(response Response, state State, documents Documents, facts string) Case {
	is := func(fact string) bool { return slices.Contains(strings.Fields(facts), fact) }
	return Case{
		Response: response, State: state, Documents: documents, Known: is("known"), Sole: is("sole"),
		OnlyThese: is("onlyThese"), Charge: is("charge"), Quiet: is("quiet"), Denied: is("denied"),
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
		"unsent":                                  {of(Unsent, Unread, NoList, ""), NotCharged},
		"unsent, purchased by another":            {of(Unsent, Completed, These, "known charge"), NotCharged},
		"confirmation":                            {of(Confirmation, Unread, NoList, ""), Success},
		"lost, processing, these":                 {of(Lost, Processing, These, "known"), Success},
		"lost, processing, these, not known":      {of(Lost, Processing, These, ""), Unknown},
		"lost, processing, others":                {of(Lost, Processing, Others, "known sole"), Unknown},
		"lost, completed, some of these":          {of(Lost, Completed, Some, "known sole"), Unknown},
		"lost, failed, these":                     {of(Lost, Failed, These, "known"), Success},
		"lost, unknown state, these":              {of(Lost, Other, These, "known"), Success},
		"lost, purchasing, no list":               {of(Lost, Purchasing, NoList, "known charge"), Unknown},
		"lost, purchasing, no list, sole":         {of(Lost, Purchasing, NoList, "known sole"), Success},
		"lost, failed, no list, sole":             {of(Lost, Failed, NoList, "known sole"), Success},
		"lost, unknown state, no list, sole":      {of(Lost, Other, NoList, "known sole"), Unknown},
		"lost, processing, sole, not known":       {of(Lost, Processing, NoList, "sole"), Unknown},
		"lost, processing, only these":            {of(Lost, Processing, NoList, "onlyThese"), Success},
		"lost, processing, only these, known":     {of(Lost, Processing, NoList, "known onlyThese"), Unknown},
		"lost, unknown state, only these":         {of(Lost, Other, NoList, "onlyThese"), Unknown},
		"lost, draft":                             {of(Lost, Draft, NoList, "known onlyThese"), Unknown},
		"lost, draft for long":                    {of(Lost, Draft, NoList, "known quiet"), NotCharged},
		"lost, draft for long, not known":         {of(Lost, Draft, NoList, "quiet"), NotCharged},
		"lost, draft for long, shows a charge":    {of(Lost, Draft, NoList, "quiet charge"), Unknown},
		"lost, draft for long, shows a list":      {of(Lost, Draft, Others, "known quiet"), Unknown},
		"lost, not read":                          {of(Lost, Unread, NoList, "known sole quiet denied"), Unknown},
		"refusal, draft":                          {of(Refusal, Draft, NoList, "known"), Unknown},
		"refusal, draft for long":                 {of(Refusal, Draft, NoList, "known quiet"), NotCharged},
		"refusal, draft for long, shows a charge": {of(Refusal, Draft, NoList, "known quiet charge"), Unknown},
		"refusal, completed, others":              {of(Refusal, Completed, Others, "known"), NotCharged},
		"refusal, completed, others, not known":   {of(Refusal, Completed, Others, ""), Unknown},
		"refusal, processing, others":             {of(Refusal, Processing, Others, "known"), Unknown},
		"refusal, completed, some of these":       {of(Refusal, Completed, Some, "known"), Unknown},
		"refusal, completed, no list, sole":       {of(Refusal, Completed, NoList, "known sole"), Unknown},
		"refusal, failed, shows a charge":         {of(Refusal, Failed, NoList, "known charge"), Unknown},
		"refusal, processing, these":              {of(Refusal, Processing, These, "known"), PurchasedBefore},
		"refusal, unknown state, these":           {of(Refusal, Other, These, "known"), PurchasedBefore},
		"refusal, these, not known":               {of(Refusal, Completed, These, "onlyThese"), Unknown},
		"refusal, not read":                       {of(Refusal, Unread, NoList, "known"), Unknown},
		"refusal, denied twice":                   {of(Refusal, Unread, NoList, "denied"), NotCharged},
		"contradicted, draft for long":            {of(Contradicted, Draft, NoList, "known quiet"), Unknown},
		"contradicted, completed, others":         {of(Contradicted, Completed, Others, "known"), Unknown},
		"contradicted, denied twice":              {of(Contradicted, Unread, NoList, "denied"), Unknown},
		"contradicted, failed, these":             {of(Contradicted, Failed, These, "known"), PurchasedBefore},
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

// No combination of evidence breaks a rule, whatever the rows of the table are.
func TestDecide_EveryCombination(t *testing.T) {
	t.Parallel()
	facts := []string{"known", "sole", "onlyThese", "charge", "quiet", "denied"}
	for n := range 5 * 8 * 4 << len(facts) {
		var is []string
		for i, fact := range facts {
			if n>>i&1 == 1 {
				is = append(is, fact)
			}
		}
		n >>= len(facts)
		response := []Response{Lost, Unsent, Confirmation, Refusal, Contradicted}[n%5]
		state := []State{Unread, Draft, Purchasing, Processing, Completed, Failed, Other}[n/5%8%7]
		documents := []Documents{NoList, These, Others, Some}[n/5/8]
		c := of(response, state, documents, strings.Join(is, " "))
		got := Decide(c)
		sent, refusal := response != Unsent && response != Confirmation, response == Refusal
		refused, draft, bought := refusal || response == Contradicted, state == Draft, state&(purchased|Other) != 0
		success, free, decided := got == Success, got == NotCharged, got != Unknown
		for rule, broken := range map[string]bool{
			"a refusal is never a success":                  refused && success,
			"a contradicted refusal is never free":          response == Contradicted && free,
			"only a refusal reports an earlier purchase":    !refused && got == PurchasedBefore,
			"a confirmation is a success":                   response == Confirmation && !success,
			"a request that was not sent charged nothing":   response == Unsent && !free,
			"a lost response is free only if a draft stays": response == Lost && free && !(draft && c.Quiet),
			"what was not read decides nothing":             sent && state == Unread && decided && !(refusal && c.Denied),
			"a draft is never a charge":                     sent && draft && (success || got == PurchasedBefore),
			"a draft that shows a charge decides nothing":   sent && draft && c.Charge && decided,
			"a draft that shows a list decides nothing":     sent && draft && documents != NoList && decided,
			"a list of only some of the documents is open":  sent && documents == Some && c.Known && state != Unread && decided,
			"no list decides only for the sole buyer": sent && c.Known && documents == NoList && bought && !c.Sole &&
				decided,
			"without the record before, no list is a proof": sent && !c.Known && !c.OnlyThese && bought && decided,
			"a refusal while it is processed is never free": refusal && bought && state != Completed && free,
		} {
			if broken {
				t.Errorf("%s: Decide(%+v) = %d", rule, c, got)
			}
		}
	}
}
