package evidence

import "testing"

var (
	responses = []Response{Lost, Unsent, Confirmation, Refusal, Contradicted}
	states    = everyState()
	relations = []Documents{NoList, These, Others, Some}
)

// everyState returns each state that a reading can have.
func everyState() []State {
	states := []State{Unread, Other}
	for _, status := range Statuses() {
		states = append(states, status.State)
	}
	return states
}

func TestState_Final(t *testing.T) {
	t.Parallel()
	for _, status := range append(Statuses(), Status{State: Unread}, StatusOf("quoted")) {
		if status.State.Final() != status.Final {
			t.Errorf("%+v", status)
		}
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
		"unsent":                                  {Case{Response: Unsent, State: Unread}, NotCharged},
		"unsent, purchased by another":            {Case{Response: Unsent, State: Completed, Documents: These, Known: true, Charge: true}, NotCharged},
		"confirmation":                            {Case{Response: Confirmation, State: Unread}, Success},
		"lost, processing, these":                 {Case{Response: Lost, State: Processing, Documents: These, Known: true}, Success},
		"lost, processing, these, not known":      {Case{Response: Lost, State: Processing, Documents: These}, Unknown},
		"lost, processing, others":                {Case{Response: Lost, State: Processing, Documents: Others, Known: true, Sole: true}, Unknown},
		"lost, completed, some of these":          {Case{Response: Lost, State: Completed, Documents: Some, Known: true, Sole: true}, Unknown},
		"lost, failed, these":                     {Case{Response: Lost, State: Failed, Documents: These, Known: true}, Success},
		"lost, unknown state, these":              {Case{Response: Lost, State: Other, Documents: These, Known: true}, Success},
		"lost, purchasing, no list":               {Case{Response: Lost, State: Purchasing, Documents: NoList, Known: true, Charge: true}, Unknown},
		"lost, purchasing, no list, sole":         {Case{Response: Lost, State: Purchasing, Documents: NoList, Known: true, Sole: true}, Success},
		"lost, failed, no list, sole":             {Case{Response: Lost, State: Failed, Documents: NoList, Known: true, Sole: true}, Success},
		"lost, unknown state, no list, sole":      {Case{Response: Lost, State: Other, Documents: NoList, Known: true, Sole: true}, Unknown},
		"lost, processing, sole, not known":       {Case{Response: Lost, State: Processing, Documents: NoList, Sole: true}, Unknown},
		"lost, processing, only these":            {Case{Response: Lost, State: Processing, Documents: NoList, OnlyThese: true}, Success},
		"lost, processing, only these, known":     {Case{Response: Lost, State: Processing, Documents: NoList, OnlyThese: true, Known: true}, Unknown},
		"lost, unknown state, only these":         {Case{Response: Lost, State: Other, Documents: NoList, OnlyThese: true}, Unknown},
		"lost, draft":                             {Case{Response: Lost, State: Draft, Documents: NoList, Known: true, OnlyThese: true}, Unknown},
		"lost, draft for long":                    {Case{Response: Lost, State: Draft, Documents: NoList, Known: true, Quiet: true}, NotCharged},
		"lost, draft for long, not known":         {Case{Response: Lost, State: Draft, Documents: NoList, Quiet: true}, NotCharged},
		"lost, draft for long, shows a charge":    {Case{Response: Lost, State: Draft, Documents: NoList, Quiet: true, Charge: true}, Unknown},
		"lost, draft for long, shows a list":      {Case{Response: Lost, State: Draft, Documents: Others, Known: true, Quiet: true}, Unknown},
		"lost, not read":                          {Case{Response: Lost, State: Unread, Denied: true, Quiet: true, Known: true, Sole: true}, Unknown},
		"refusal, draft":                          {Case{Response: Refusal, State: Draft, Documents: NoList, Known: true}, Unknown},
		"refusal, draft for long":                 {Case{Response: Refusal, State: Draft, Documents: NoList, Known: true, Quiet: true}, NotCharged},
		"refusal, draft for long, shows a charge": {Case{Response: Refusal, State: Draft, Documents: NoList, Known: true, Quiet: true, Charge: true}, Unknown},
		"refusal, completed, others":              {Case{Response: Refusal, State: Completed, Documents: Others, Known: true}, NotCharged},
		"refusal, completed, others, not known":   {Case{Response: Refusal, State: Completed, Documents: Others}, Unknown},
		"refusal, processing, others":             {Case{Response: Refusal, State: Processing, Documents: Others, Known: true}, Unknown},
		"refusal, completed, some of these":       {Case{Response: Refusal, State: Completed, Documents: Some, Known: true}, Unknown},
		"refusal, completed, no list, sole":       {Case{Response: Refusal, State: Completed, Documents: NoList, Known: true, Sole: true}, Unknown},
		"refusal, failed, shows a charge":         {Case{Response: Refusal, State: Failed, Documents: NoList, Known: true, Charge: true}, Unknown},
		"refusal, processing, these":              {Case{Response: Refusal, State: Processing, Documents: These, Known: true}, PurchasedBefore},
		"refusal, unknown state, these":           {Case{Response: Refusal, State: Other, Documents: These, Known: true}, PurchasedBefore},
		"refusal, these, not known":               {Case{Response: Refusal, State: Completed, Documents: These, OnlyThese: true}, Unknown},
		"refusal, not read":                       {Case{Response: Refusal, State: Unread, Known: true}, Unknown},
		"refusal, denied twice":                   {Case{Response: Refusal, State: Unread, Denied: true}, NotCharged},
		"contradicted, draft for long":            {Case{Response: Contradicted, State: Draft, Documents: NoList, Known: true, Quiet: true}, Unknown},
		"contradicted, completed, others":         {Case{Response: Contradicted, State: Completed, Documents: Others, Known: true}, Unknown},
		"contradicted, denied twice":              {Case{Response: Contradicted, State: Unread, Denied: true}, Unknown},
		"contradicted, failed, these":             {Case{Response: Contradicted, State: Failed, Documents: These, Known: true}, PurchasedBefore},
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

// Every combination of evidence keeps the rules that no row may break.
func TestDecide_EveryCombination(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, response := range responses {
		for _, state := range states {
			for _, documents := range relations {
				for flags := range 64 {
					c := Case{
						Response: response, State: state, Documents: documents, Known: flags&1 != 0, Sole: flags&2 != 0,
						OnlyThese: flags&4 != 0, Charge: flags&8 != 0, Quiet: flags&16 != 0, Denied: flags&32 != 0,
					}
					cases++
					got := Decide(c)
					sent := response != Unsent && response != Confirmation
					refused := response == Refusal || response == Contradicted
					for rule, broken := range map[string]bool{
						"a refusal is never a success":                               refused && got == Success,
						"a contradicted refusal is never free":                       response == Contradicted && got == NotCharged,
						"only a refusal reports an earlier purchase":                 !refused && got == PurchasedBefore,
						"a confirmation is a success":                                response == Confirmation && got != Success,
						"a request that was not sent charged nothing":                response == Unsent && got != NotCharged,
						"a lost response is free only if the draft stayed one":       response == Lost && got == NotCharged && !(state == Draft && c.Quiet),
						"a request that was not read decides nothing":                sent && state == Unread && got != Unknown && !(response == Refusal && c.Denied),
						"a draft is never a charge":                                  sent && state == Draft && (got == Success || got == PurchasedBefore),
						"a draft that shows a charge or a list decides nothing":      sent && state == Draft && (c.Charge || documents != NoList) && got != Unknown,
						"a record that lists only some of the documents is open":     sent && documents == Some && c.Known && state != Unread && got != Unknown,
						"a record without a list decides only for the sole buyer":    sent && c.Known && documents == NoList && state&(purchased|Other) != 0 && !c.Sole && got != Unknown,
						"without the record before, a list of documents is no proof": sent && !c.Known && !c.OnlyThese && state&(purchased|Other) != 0 && got != Unknown,
						"a refusal with a processing record is never free":           response == Refusal && state&(Purchasing|Processing|Failed|Other) != 0 && got == NotCharged,
					} {
						if broken {
							t.Errorf("%s: Decide(%+v) = %d", rule, c, got)
						}
					}
				}
			}
		}
	}
	t.Logf("%d combinations", cases)
}
