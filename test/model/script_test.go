package model

import (
	"fmt"
	"slices"
	"strings"
)

// script is a sequence of faults, in the order in which they happen.
type script []deviation

// deviation is a fault at a point of a run.
type deviation struct{ point, fault string }

// point is the nth exchange or record of a kind, of a process with an item, and the faults that can happen there.
type point struct {
	name   string
	faults []string
}

// faults are what can happen at a kind of point, in words.
type faults struct {
	kind  string
	words [][2]string
}

func atAnalysis() faults {
	return faults{"analysis", [][2]string{
		{"lost-before", "the analysis does not reach the service"},
		{"lost-after", "the response to the analysis is lost"},
		{"kill-before", "the process is killed before the service receives the analysis"},
		{"kill-after", "the process is killed before it receives the draft"},
	}}
}

func atRecord() faults {
	return faults{"record", [][2]string{
		{"kill-before", "the process is killed before the record is written"},
		{"kill-after", "the process is killed after the record is written"},
		{"full", "the record cannot be written"},
		{"stall-before", "the process stalls for longer than its claim, before the record is written"},
		{"stall-after", "the process stalls for longer than its claim, after the record is written"},
	}}
}

func atPurchase() faults {
	return faults{"purchase", [][2]string{
		{"unsent", "the connection is refused"},
		{"lost-before", "the purchase is lost before the service receives it"},
		{"lost-after", "the service charges, and the response is lost"},
		{"late", "the exchange breaks off, and the service receives the purchase 3 s later"},
		{"later", "the exchange breaks off, and the service receives the purchase 40 s later"},
		{"repeated", "the network repeats the purchase, and the first response arrives"},
		{"repeated-last", "the network repeats the purchase, and the last response arrives"},
		{"refused", "a gateway refuses the purchase before the service receives it"},
		{"refused-after", "the service charges, and a gateway refuses"},
		{"refused-late", "a gateway refuses the purchase, and the service receives a copy two seconds later"},
		{"failed-after", "the service charges, and a gateway responds with 503"},
		{"limited-after", "the service charges, and a gateway refuses with 429"},
		{"problem-after", "the service charges, and a gateway refuses with a problem document"},
		{"state-after", "the service charges, and the response is a refusal that shows the state"},
		{"charge-after", "the service charges, and the response is a refusal that shows a draft with a charge"},
		{"transaction-after", "the service charges, and the response is a refusal that shows a transaction"},
		{"misled-after", "the service charges, and the refusal of another request, a draft, arrives"},
		{"cut", "the service charges, and the response ends in the middle"},
		{"page", "the purchase is lost, and a gateway responds with HTML and 200"},
		{"page-after", "the service charges, and a gateway responds with HTML and 200"},
		{"redirected", "a gateway redirects the purchase before the service receives it"},
		{"draft", "the purchase is lost, and a success that shows a draft arrives"},
		{"draft-after", "the service charges, and a success that shows a draft arrives"},
		{"others", "the purchase is lost, and a confirmation of other documents arrives"},
		{"empty-after", "the service charges, and the confirmation has no data"},
		{"another", "the purchase is lost, and the confirmation of another request arrives"},
		{"another-after", "the service charges, and the confirmation of another request arrives"},
		{"denied", "a gateway responds with 403 before the service receives the purchase"},
		{"kill-before", "the process is killed before the service receives the purchase"},
		{"kill-after", "the service charges, and the process is killed before the response"},
	}}
}

func atRead() faults {
	return faults{"read", [][2]string{
		{"lost", "the read is lost"},
		{"failed", "the read fails with 500"},
		{"denied", "the read is refused with 403"},
		{"missing", "the read fails with 404"},
		{"page", "the read returns HTML with 200"},
		{"cut", "the read ends in the middle"},
		{"null", "the read returns no record"},
		{"others", "the read returns a record that is processing, with other documents, once it is purchased"},
		{"another", "the read returns another request"},
		{"paused", "the read returns a state that the specification does not list"},
		{"unlisted", "the read returns no list of documents"},
		{"folded", "the read returns a record with one member more, STATUS, whose value is completed"},
		{"stale", "the read returns the draft as it was two seconds before"},
		{"kill", "the process is killed during the read"},
	}}
}

// second starts the second process at any point of the first.
const second = "second"

// faultsIn returns the names of the faults of a point in a setting.
func (f faults) faultsIn(s setting, p int) (names []string) {
	for _, word := range f.words {
		if s.shared || !strings.HasPrefix(word[0], "stall") {
			names = append(names, word[0])
		}
	}
	if s.shared && p == 0 {
		names = append(names, second)
	}
	return names
}

// choose returns the fault of the script at the next point of its kind, or "".
func (t *trial) choose(l *life, i int, at faults) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := fmt.Sprintf("%c%d.%s", 'A'+l.p, i+1, at.kind)
	t.counts[name]++
	name = fmt.Sprintf("%s.%d", name, t.counts[name])
	if l.isDead() {
		return ""
	}
	n := slices.IndexFunc(t.script, func(d deviation) bool { return d.point == name })
	if n < 0 {
		if t.struck == len(t.script) {
			names := at.faultsIn(t.setting, l.p)
			if t.second {
				names = slices.DeleteFunc(names, func(name string) bool { return name == second })
			}
			t.points = append(t.points, point{name, names})
		}
		return ""
	}
	t.struck++
	fault := t.script[n].fault
	t.note(l, i, "fault at "+name+": "+words(name, fault))
	if fault == second {
		t.second = true
		t.running.Go(func() { t.process(1) })
		return ""
	}
	return fault
}

// words describes a fault at a point.
func words(point, fault string) string {
	if fault == second {
		return "the second process starts"
	}
	for _, at := range []faults{atAnalysis(), atRecord(), atPurchase(), atRead()} {
		for _, word := range at.words {
			if strings.Contains(point, "."+at.kind+".") && word[0] == fault {
				return word[1]
			}
		}
	}
	return "unknown fault " + fault
}

// parseScript reads what String returns.
func parseScript(text string) (script, error) {
	var s script
	for part := range strings.SplitSeq(text, ",") {
		point, fault, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok || strings.HasPrefix(words(point, fault), "unknown") {
			return nil, fmt.Errorf("%q is not a fault at a point, such as A1.purchase.1=lost-after", part)
		}
		s = append(s, deviation{point, fault})
	}
	return s, nil
}

func (s script) String() string {
	var parts []string
	for _, d := range s {
		parts = append(parts, d.point+"="+d.fault)
	}
	return strings.Join(parts, ",")
}
