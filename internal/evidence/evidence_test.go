package evidence

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/status"
)

// of returns a case in which the named facts are true.
func of(response Response, state status.State, documents Documents, facts string) Case {
	is := func(fact string) bool { return slices.Contains(strings.Fields(facts), fact) }
	return Case{
		Response: response, State: state, Documents: documents, Known: is("known"), Sole: is("sole"),
		AnalysisFailed: is("analysisFailed"), OnlyThese: is("onlyThese"), Purchased: is("purchased"), Quiet: is("quiet"),
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
		"unsent, purchased by another":            {of(Unsent, status.Completed, These, "known purchased"), NotCharged},
		"confirmation":                            {of(Confirmation, status.Unread, NoList, ""), Success},
		"lost, processing, these":                 {of(Lost, status.Processing, These, "known"), Success},
		"lost, processing, these, not known":      {of(Lost, status.Processing, These, ""), Unknown},
		"lost, processing, others":                {of(Lost, status.Processing, Others, "known sole"), Unknown},
		"lost, completed, some of these":          {of(Lost, status.Completed, Some, "known sole"), Unknown},
		"lost, failed, these":                     {of(Lost, status.Failed, These, "known"), Success},
		"lost, unknown state, these":              {of(Lost, status.Other, These, "known"), Success},
		"lost, purchasing, no list":               {of(Lost, status.Purchasing, NoList, "known purchased"), Unknown},
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
		"lost, draft for long, shows a charge":    {of(Lost, status.Draft, NoList, "quiet purchased"), Unknown},
		"lost, draft for long, shows a list":      {of(Lost, status.Draft, Others, "known quiet"), Unknown},
		"lost, not read":                          {of(Lost, status.Unread, NoList, "known sole quiet denied"), Unknown},
		"refusal, draft":                          {of(Refusal, status.Draft, NoList, "known"), Unknown},
		"refusal, draft for long":                 {of(Refusal, status.Draft, NoList, "known quiet"), NotCharged},
		"refusal, draft for long, shows a charge": {of(Refusal, status.Draft, NoList, "known quiet purchased"), Unknown},
		"refusal, completed, others":              {of(Refusal, status.Completed, Others, "known"), NotCharged},
		"refusal, completed, others, not known":   {of(Refusal, status.Completed, Others, ""), Unknown},
		"refusal, processing, others":             {of(Refusal, status.Processing, Others, "known"), Unknown},
		"refusal, completed, some of these":       {of(Refusal, status.Completed, Some, "known"), Unknown},
		"refusal, completed, no list, sole":       {of(Refusal, status.Completed, NoList, "known sole"), Unknown},
		"refusal, failed, shows a charge":         {of(Refusal, status.Failed, NoList, "known purchased"), Unknown},
		"refusal, processing, these":              {of(Refusal, status.Processing, These, "known"), PurchasedBefore},
		"refusal, unknown state, these":           {of(Refusal, status.Other, These, "known"), PurchasedBefore},
		"refusal, these, not known":               {of(Refusal, status.Completed, These, "onlyThese"), Unknown},
		"refusal, not read":                       {of(Refusal, status.Unread, NoList, "known"), Unknown},
		"refusal, denied twice":                   {of(Refusal, status.Unread, NoList, "denied"), NotCharged},
		"refusal, expired":                        {of(Refusal, status.Other, NoList, "known"), Unknown},
		"refusal, expired for long":               {of(Refusal, status.Other, NoList, "quiet"), NotCharged},
		"refusal, expired for long, a charge":     {of(Refusal, status.Other, NoList, "quiet purchased"), Unknown},
		"refusal, expired for long, others":       {of(Refusal, status.Other, Others, "known quiet"), Unknown},
		"lost, expired for long":                  {of(Lost, status.Other, NoList, "known sole quiet"), Unknown},
		"contradicted, expired for long":          {of(Contradicted, status.Other, NoList, "quiet"), Unknown},
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
	facts := []string{"known", "sole", "analysisFailed", "onlyThese", "purchased", "quiet", "denied"}
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
			"a draft that was purchased decides nothing":    sent && draft && c.Purchased && decided,
			"a draft that shows a list decides nothing":     sent && draft && documents != NoList && decided,
			"a list of only some of the documents is open": sent && documents == Some && c.Known && decided &&
				state != status.Unread,
			"no list decides only for the sole buyer": sent && c.Known && documents == NoList && bought && !c.Sole &&
				decided && !(refusal && c.Quiet),
			"a failed analysis charges nothing": sent && c.Known && c.AnalysisFailed && documents == NoList &&
				success,
			"without the record before, no list is a proof": sent && !c.Known && !c.OnlyThese && bought && decided &&
				!(refusal && c.Quiet),
			"a refusal while it is processed is never free": refusal && bought && state != status.Completed && free &&
				!(state == status.Other && c.Quiet),
			"an expired draft is free only if it shows nothing": refusal && state == status.Other && free &&
				!(c.Quiet && !c.Purchased && documents == NoList),
		} {
			if broken {
				t.Errorf("%s: Decide(%+v) = %d", rule, c, got)
			}
		}
	}
}

// at is a reading some seconds after the purchase; without data, it failed.
type at struct {
	seconds int
	data    string
}

// What a reading shows is evidence together with what earlier ones showed: a list and a purchase do not vanish,
// and a request is a draft since the first of the drafts in a row.
func TestMemory_Observe(t *testing.T) {
	t.Parallel()
	const draft, processing, failed = `{"status":"draft"}`, `{"status":"processing"}`, `{"status":"failed"}`
	const these, others = `{"status":"processing","documents":["FDA"]}`, `{"status":"processing","documents":["MSDS"]}`
	const charged, unclear = `{"status":"draft","charged_amount":5}`, `{"status":"draft","status":"draft"}`
	const analyzed, paid = `{"request_id":"RD-1"}`, `{"status":"failed","transaction_id":"TR-1"}`
	const isDraft, unread, bought, hasFailed = status.Draft, status.Unread, status.Processing, status.Failed
	const part, withID = `{"status":"processing","documents":["FDA","MSDS"]}`, `{"request_id":"RD-1","status":"draft"}`
	const listed, misc = `{"status":"draft","documents":["FDA"]}`, `{"status":"draft","documents":["MSDS"]}`
	const twice = `{"status":"draft","status":"draft","transaction_id":"TR-1"}`
	const gone, goneListed = `{"status":"gone"}`, `{"status":"gone","documents":["FDA"]}`
	const completed, printing, purchasing = `{"status":"completed"}`, `{"status":"printing"}`, `{"status":"purchasing"}`
	means := map[string]string{"gone": "expired", "printing": "generating"}
	type row struct {
		before   string // "" if it is not known
		readings []at
		state    status.State
		lists    Documents
		facts    string
		since    int // the draft, in seconds; -1 if it is none
	}
	rows := map[string]row{
		"not read, denied":              {draft, []at{{0, ""}}, unread, NoList, "known denied", -1},
		"not read":                      {draft, []at{{0, ""}}, unread, NoList, "known", -1},
		"a draft":                       {draft, []at{{1, draft}}, isDraft, NoList, "known", 1},
		"a draft, not known before":     {"", []at{{1, draft}}, isDraft, NoList, "", 1},
		"a list before, not known":      {"", []at{{1, listed}, {2, processing}}, bought, NoList, "", -1},
		"a draft with a list":           {"", []at{{1, listed}}, isDraft, Some, "purchased", 1},
		"a list, then none":             {draft, []at{{1, listed}, {6, draft}}, isDraft, NoList, "known purchased quiet", 1},
		"others on a draft, then none":  {draft, []at{{1, misc}, {6, draft}}, isDraft, Some, "known purchased quiet", 1},
		"unclear, with a charge":        {draft, []at{{1, twice}, {6, draft}}, isDraft, NoList, "known purchased", 6},
		"a draft for QuietFor":          {draft, []at{{1, draft}, {5, draft}, {6, draft}}, isDraft, NoList, "known quiet", 1},
		"a draft for less":              {draft, []at{{1, draft}, {5, draft}}, isDraft, NoList, "known", 1},
		"a failed reading in between":   {draft, []at{{1, draft}, {3, ""}, {6, draft}}, isDraft, NoList, "known quiet", 1},
		"purchased in between":          {draft, []at{{1, processing}, {6, draft}}, isDraft, NoList, "known purchased", 6},
		"completed in between":          {draft, []at{{1, completed}, {6, draft}}, isDraft, NoList, "known purchased", 6},
		"generating in between":         {draft, []at{{1, printing}, {6, draft}}, isDraft, NoList, "known purchased", 6},
		"purchasing in between":         {draft, []at{{1, draft}, {3, purchasing}, {6, draft}}, isDraft, NoList, "known", 6},
		"an unclear record in between":  {draft, []at{{1, draft}, {3, unclear}, {6, draft}}, isDraft, NoList, "known", 6},
		"the status draft in capitals":  {draft, []at{{1, draft}, {6, `{"status":"DRAFT"}`}}, unread, NoList, "known", -1},
		"processing":                    {draft, []at{{1, draft}, {6, processing}}, bought, NoList, "known", -1},
		"these":                         {draft, []at{{1, these}}, bought, These, "known", -1},
		"the list of the draft":         {listed, []at{{1, these}}, bought, NoList, "known", -1},
		"the same draft":                {listed, []at{{1, listed}}, isDraft, NoList, "known", 1},
		"others, then no list":          {draft, []at{{1, others}, {2, processing}}, bought, Some, "known", -1},
		"a part, then no list":          {draft, []at{{1, part}, {2, processing}}, bought, Some, "known", -1},
		"others, these, then no list":   {draft, []at{{1, others}, {2, these}, {3, processing}}, bought, Some, "known", -1},
		"others, then these":            {draft, []at{{1, others}, {2, these}}, bought, These, "known", -1},
		"a charge, then none":           {draft, []at{{1, charged}, {6, draft}}, isDraft, NoList, "known purchased quiet", 1},
		"the charge of the draft":       {charged, []at{{1, charged}}, isDraft, NoList, "known", 1},
		"failed":                        {draft, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"failed, nobody else can buy":   {draft, []at{{1, failed}}, hasFailed, NoList, "known sole", -1},
		"failed, from a stored draft":   {`{}`, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"failed, read as a draft":       {withID, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"processing, only analyzed":     {analyzed, []at{{1, processing}}, bought, NoList, "known", -1},
		"a transaction, only analyzed":  {analyzed, []at{{1, paid}}, hasFailed, NoList, "known purchased", -1},
		"expired, lost":                 {draft, []at{{1, draft}, {2, gone}, {6, gone}}, status.Other, NoList, "known", -1},
		"expired, lost, then a draft":   {draft, []at{{1, gone}, {6, draft}}, isDraft, NoList, "known", 6},
		"refused, expired":              {draft, []at{{1, gone}}, status.Other, NoList, "known", 1},
		"refused, expired for long":     {draft, []at{{1, gone}, {6, gone}}, status.Other, NoList, "known quiet", 1},
		"refused, draft, expired":       {draft, []at{{1, draft}, {6, gone}}, status.Other, NoList, "known quiet", 1},
		"refused, expired, a draft":     {draft, []at{{1, gone}, {6, draft}}, isDraft, NoList, "known quiet", 1},
		"refused, bought, expired":      {draft, []at{{3, these}, {6, gone}}, status.Other, NoList, "known purchased", 6},
		"refused, expired, a list":      {"", []at{{1, goneListed}}, status.Other, Some, "purchased", 1},
		"a status that is not a string": {draft, []at{{1, `{"status":["draft"]}`}}, unread, NoList, "known", -1},
	}
	for _, s := range status.All() {
		if data := `{"status":"` + s.Name + `"}`; s.Failed {
			rows[s.Name+", only analyzed"] = row{analyzed, []at{{1, data}}, s.State, NoList, "known analysisFailed", -1}
		}
	}
	for name, test := range rows {
		start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
		want := of(Lost, test.state, test.lists, test.facts)
		want.Purchased = want.Purchased || test.state&status.PurchasedStates&^status.Purchasing != 0
		purchase := Purchase{Response: Lost, Documents: []string{"FDA"}, Sole: want.Sole, QuietFor: 5 * time.Second}
		if strings.HasPrefix(name, "refused") {
			want.Response, purchase.Response = Refusal, Refusal
		}
		if test.before != "" {
			purchase.Before = Read(test.before, nil)
		}
		var memory Memory
		var got Case
		for _, r := range test.readings {
			reading := Reading{Sent: start.Add(time.Duration(r.seconds) * time.Second), Denied: want.Denied}
			if r.data != "" {
				reading.Record = Read(r.data, nil)
				reading.Status, reading.Means = reading.Record.Status, means[reading.Record.Status]
			}
			memory, got = memory.Observe(purchase, reading)
		}
		since := -1
		if !memory.DraftSince.IsZero() {
			since = int(memory.DraftSince.Sub(start).Seconds())
		}
		got.OnlyThese = got.OnlyThese && !got.Known // it counts for no other
		if got != want || since != test.since {
			t.Errorf("%s: %+v since %d s, want %+v since %d s", name, got, since, want, test.since)
		}
	}
}

// Without QuietFor, a request never counts as one that stayed a draft.
func TestMemory_ObserveWithoutQuietFor(t *testing.T) {
	t.Parallel()
	draft := Reading{Sent: time.Unix(1, 0), Record: Read(`{"status":"draft"}`, nil), Status: "draft"}
	if _, c := (Memory{}).Observe(Purchase{Response: Lost}, draft); c.Quiet {
		t.Errorf("%+v", c)
	}
}
