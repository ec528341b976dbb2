package evidence

import "testing"

// The rows of the table in Decide, each with the cases at its borders.
func TestDecide_Rows(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		c    Case
		want Result
	}{
		"unsent":                                           {Case{Response: Unsent, State: Unread}, NotCharged},
		"unsent, purchased by another":                     {Case{Response: Unsent, State: Completed, Documents: These, Charge: true}, NotCharged},
		"confirmation":                                     {Case{Response: Confirmation, State: Unread}, Success},
		"lost, purchasing, no list":                        {Case{Response: Lost, State: Purchasing, Documents: NoList}, Success},
		"lost, processing, these":                          {Case{Response: Lost, State: Processing, Documents: These}, Success},
		"lost, processing, others":                         {Case{Response: Lost, State: Processing, Documents: Others}, Unknown},
		"lost, completed, some of these":                   {Case{Response: Lost, State: Completed, Documents: Some}, Unknown},
		"lost, completed, others, shows a charge":          {Case{Response: Lost, State: Completed, Documents: Others, Charge: true}, Unknown},
		"lost, unknown state, these":                       {Case{Response: Lost, State: Other, Documents: These}, Success},
		"lost, unknown state, no list":                     {Case{Response: Lost, State: Other, Documents: NoList}, Unknown},
		"lost, unknown state, no list, was a draft":        {Case{Response: Lost, State: Other, Documents: NoList, WasDraft: true, Charge: true}, Unknown},
		"lost, failed":                                     {Case{Response: Lost, State: Failed, Documents: NoList}, Unknown},
		"lost, failed, these":                              {Case{Response: Lost, State: Failed, Documents: These}, Success},
		"lost, failed, shows a charge":                     {Case{Response: Lost, State: Failed, Documents: NoList, Charge: true}, Success},
		"lost, failed, was a draft":                        {Case{Response: Lost, State: Failed, Documents: NoList, WasDraft: true}, Success},
		"lost, failed, others, was a draft":                {Case{Response: Lost, State: Failed, Documents: Others, WasDraft: true, Charge: true}, Unknown},
		"lost, draft":                                      {Case{Response: Lost, State: Draft, Documents: NoList}, Unknown},
		"lost, draft for long":                             {Case{Response: Lost, State: Draft, Documents: NoList, Quiet: true}, NotCharged},
		"lost, draft for long, shows a charge":             {Case{Response: Lost, State: Draft, Documents: NoList, Quiet: true, Charge: true}, Unknown},
		"lost, not read":                                   {Case{Response: Lost, State: Unread, Denied: true, Quiet: true, WasDraft: true}, Unknown},
		"refusal, draft":                                   {Case{Response: Refusal, State: Draft, Documents: NoList}, Unknown},
		"refusal, draft for long":                          {Case{Response: Refusal, State: Draft, Documents: NoList, Quiet: true}, NotCharged},
		"refusal, draft for long, shows a charge":          {Case{Response: Refusal, State: Draft, Documents: NoList, Quiet: true, Charge: true}, Unknown},
		"refusal, processing, these":                       {Case{Response: Refusal, State: Processing, Documents: These}, ChargedBefore},
		"refusal, processing, no list":                     {Case{Response: Refusal, State: Processing, Documents: NoList, Charge: true}, Unknown},
		"refusal, processing, others":                      {Case{Response: Refusal, State: Processing, Documents: Others}, Unknown},
		"refusal, completed, others":                       {Case{Response: Refusal, State: Completed, Documents: Others}, NotCharged},
		"refusal, completed, some of these":                {Case{Response: Refusal, State: Completed, Documents: Some}, Unknown},
		"refusal, completed, no list":                      {Case{Response: Refusal, State: Completed, Documents: NoList}, Unknown},
		"refusal, unknown state, these":                    {Case{Response: Refusal, State: Other, Documents: These}, ChargedBefore},
		"refusal, failed, these":                           {Case{Response: Refusal, State: Failed, Documents: These}, ChargedBefore},
		"refusal, failed, shows a charge":                  {Case{Response: Refusal, State: Failed, Documents: NoList, Charge: true}, ChargedBefore},
		"refusal, failed, others, shows a charge":          {Case{Response: Refusal, State: Failed, Documents: Others, Charge: true}, Unknown},
		"refusal, failed, was a draft, purchase not shown": {Case{Response: Refusal, State: Failed, Documents: NoList, WasDraft: true}, Unknown},
		"refusal, failed analysis":                         {Case{Response: Refusal, State: Failed, Documents: NoList}, Unknown},
		"refusal, not read":                                {Case{Response: Refusal, State: Unread}, Unknown},
		"refusal, denied twice":                            {Case{Response: Refusal, State: Unread, Denied: true}, NotCharged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Decide(test.c); got != test.want {
				t.Errorf("Decide(%+v) = %d, want %d", test.c, got, test.want)
			}
		})
	}
}

// Every combination of evidence keeps the rules that no row may break.
func TestDecide_EveryCombination(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, response := range []Response{Lost, Unsent, Confirmation, Refusal} {
		for state := Unread; state <= Other; state <<= 1 {
			for documents := NoList; documents <= Some; documents <<= 1 {
				for flags := range 16 {
					c := Case{response, state, documents, flags&1 != 0, flags&2 != 0, flags&4 != 0, flags&8 != 0}
					cases++
					for rule, broken := range map[string]bool{
						"a refusal is never a success":                               response == Refusal && Decide(c) == Success,
						"only a refusal reports an earlier purchase":                 response != Refusal && Decide(c) == ChargedBefore,
						"a confirmation is a success":                                response == Confirmation && Decide(c) != Success,
						"a request that was not sent charged nothing":                response == Unsent && Decide(c) != NotCharged,
						"a lost response with a purchased record is never free":      response == Lost && state&(Purchasing|Processing|Completed|Failed|Other) != 0 && Decide(c) == NotCharged,
						"a lost response without a read-back is unknown":             response == Lost && state == Unread && Decide(c) != Unknown,
						"a draft is never a charge":                                  response&(Lost|Refusal) != 0 && state == Draft && (Decide(c) == Success || Decide(c) == ChargedBefore),
						"a draft that shows a charge is unknown":                     response&(Lost|Refusal) != 0 && state == Draft && c.Charge && Decide(c) != Unknown,
						"a record that lists some of the documents decides nothing":  response&(Lost|Refusal) != 0 && state&(Unread|Draft) == 0 && documents == Some && Decide(c) != Unknown,
						"failed with no sign of a purchase is never a charge":        response&(Lost|Refusal) != 0 && state == Failed && documents == NoList && !c.Charge && !c.WasDraft && Decide(c) != Unknown,
						"a refusal before the draft stayed one long enough is open":  response == Refusal && state == Draft && !c.Quiet && Decide(c) != Unknown,
						"a refusal with a processing record is never free":           response == Refusal && state&(Purchasing|Processing|Other) != 0 && Decide(c) == NotCharged,
						"an unread request after a refusal is free only when denied": response == Refusal && state == Unread && (Decide(c) == NotCharged) != c.Denied,
					} {
						if broken {
							t.Errorf("%s: Decide(%+v) = %d", rule, c, Decide(c))
						}
					}
				}
			}
		}
	}
	t.Logf("%d combinations", cases)
}
