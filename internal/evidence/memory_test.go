package evidence

import (
	"testing"
	"time"

	"github.com/shipping-go/shipping/internal/status"
)

// at is a reading some seconds after the purchase; without data, it failed.
type at struct {
	seconds int
	data    string
}

// What a reading shows is evidence together with what earlier ones showed: a list and a charge do not vanish, and a
// request is a draft since the first of the drafts in a row.
func TestMemory_Observe(t *testing.T) {
	t.Parallel()
	const draft, processing, failed = `{"status":"draft"}`, `{"status":"processing"}`, `{"status":"failed"}`
	const these, others = `{"status":"processing","documents":["FDA"]}`, `{"status":"processing","documents":["MSDS"]}`
	const charged, unclear = `{"status":"draft","charged_amount":5}`, `{"status":"draft","status":"draft"}`
	const analyzed, paid = `{"request_id":"RD-1"}`, `{"status":"failed","transaction_id":"TR-1"}`
	const isDraft, unread, bought, hasFailed = status.Draft, status.Unread, status.Processing, status.Failed
	const part, withID = `{"status":"processing","documents":["FDA","MSDS"]}`, `{"request_id":"RD-1","status":"draft"}`
	const listed = `{"status":"draft","documents":["FDA"]}`
	for name, test := range map[string]struct {
		before   string // "" if it is not known
		readings []at
		state    status.State
		lists    Documents
		facts    string
		since    int // the draft, in seconds; -1 if it is none
	}{
		"not read, denied":              {draft, []at{{0, ""}}, unread, NoList, "known denied", -1},
		"not read":                      {draft, []at{{0, ""}}, unread, NoList, "known", -1},
		"a draft":                       {draft, []at{{1, draft}}, isDraft, NoList, "known", 1},
		"a draft, not known before":     {"", []at{{1, draft}}, isDraft, NoList, "", 1},
		"a draft for QuietFor":          {draft, []at{{1, draft}, {5, draft}, {6, draft}}, isDraft, NoList, "known quiet", 1},
		"a draft for less":              {draft, []at{{1, draft}, {5, draft}}, isDraft, NoList, "known", 1},
		"a failed reading in between":   {draft, []at{{1, draft}, {3, ""}, {6, draft}}, isDraft, NoList, "known quiet", 1},
		"another status in between":     {draft, []at{{1, draft}, {3, processing}, {6, draft}}, isDraft, NoList, "known", 6},
		"an unclear record in between":  {draft, []at{{1, draft}, {3, unclear}, {6, draft}}, isDraft, NoList, "known", 6},
		"the status draft in capitals":  {draft, []at{{1, draft}, {6, `{"status":"DRAFT"}`}}, unread, NoList, "known", -1},
		"processing":                    {draft, []at{{1, draft}, {6, processing}}, bought, NoList, "known", -1},
		"these":                         {draft, []at{{1, these}}, bought, These, "known", -1},
		"the list of the draft":         {listed, []at{{1, these}}, bought, NoList, "known", -1},
		"others, then no list":          {draft, []at{{1, others}, {2, processing}}, bought, Some, "known", -1},
		"a part, then no list":          {draft, []at{{1, part}, {2, processing}}, bought, Some, "known", -1},
		"others, these, then no list":   {draft, []at{{1, others}, {2, these}, {3, processing}}, bought, Some, "known", -1},
		"others, then these":            {draft, []at{{1, others}, {2, these}}, bought, These, "known", -1},
		"a charge, then none":           {draft, []at{{1, charged}, {6, draft}}, isDraft, NoList, "known charge quiet", 1},
		"the charge of the draft":       {charged, []at{{1, charged}}, isDraft, NoList, "known", 1},
		"failed":                        {draft, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"failed, nobody else can buy":   {draft, []at{{1, failed}}, hasFailed, NoList, "known sole", -1},
		"failed, from a stored draft":   {`{}`, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"failed, read as a draft":       {withID, []at{{1, failed}}, hasFailed, NoList, "known", -1},
		"failed, only analyzed":         {analyzed, []at{{1, failed}}, hasFailed, NoList, "known analysisFailed", -1},
		"processing, only analyzed":     {analyzed, []at{{1, processing}}, bought, NoList, "known", -1},
		"a transaction, only analyzed":  {analyzed, []at{{1, paid}}, hasFailed, NoList, "known charge", -1},
		"a status that is not a string": {draft, []at{{1, `{"status":["draft"]}`}}, unread, NoList, "known", -1},
	} {
		start := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
		want := of(Lost, test.state, test.lists, test.facts)
		purchase := Purchase{Response: Lost, Documents: []string{"FDA"}, Sole: want.Sole, QuietFor: 5 * time.Second}
		if test.before != "" {
			purchase.Before = Read(test.before, nil)
		}
		var memory Memory
		var got Case
		for _, r := range test.readings {
			reading := Reading{Sent: start.Add(time.Duration(r.seconds) * time.Second), Denied: want.Denied}
			if r.data != "" {
				reading.Record = Read(r.data, nil)
				reading.Status = reading.Record.Status
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
