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

// faultsAt returns the faults of a kind of point. With "-before" and "-after" they happen before or after what happens
// there.
func faultsAt(kind string) (names []string) {
	switch kind {
	case "analysis":
		return []string{"lost-before", "lost-after", "kill-before", "kill-after"}
	case "record": // full: it cannot be written; stall: for longer than the claim
		return []string{"kill-before", "kill-after", "full", "stall-before", "stall-after"}
	case "read": // of a regulatory request; gateway_test.go has what arrives
		return []string{"lost", "failed", "denied", "missing", "page", "cut", "null", "others", "another", "paused",
			"unlisted",
			"folded", "stale", "kill"}
	}
	for _, way := range purchaseWays()[1:] {
		names = append(names, way.name)
	}
	return names
}

// second starts the second process at any point of the first.
const second = "second"

// faultsIn returns the faults that can happen next at a kind of point.
func (t *trial) faultsIn(kind string, p int) (names []string) {
	for _, name := range faultsAt(kind) {
		if t.setting.shared || !strings.HasPrefix(name, "stall") {
			names = append(names, name)
		}
	}
	if t.setting.shared && p == 0 && !t.second {
		names = append(names, second)
	}
	return names
}

// choose returns the fault of the script at the next point of its kind, or "".
func (t *trial) choose(l *life, i int, kind string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := fmt.Sprintf("%c%d.%s", 'A'+l.p, i+1, kind)
	t.counts[name]++
	name = fmt.Sprintf("%s.%d", name, t.counts[name])
	if l.isDead() {
		return ""
	}
	n := slices.IndexFunc(t.script, func(d deviation) bool { return d.point == name })
	if n < 0 {
		if t.struck == len(t.script) {
			t.points = append(t.points, point{name, t.faultsIn(kind, l.p)})
		}
		return ""
	}
	t.struck++
	fault := t.script[n].fault
	t.note(l, i, "fault at "+name+": "+fault)
	if fault == second {
		t.second = true
		t.running.Go(func() { t.process(1) })
		return ""
	}
	return fault
}

// parseScript reads what String returns.
func parseScript(text string) (script, error) {
	var s script
	for part := range strings.SplitSeq(text, ",") {
		point, fault, ok := strings.Cut(strings.TrimSpace(part), "=")
		if kinds := strings.Split(point, "."); !ok || len(kinds) != 3 ||
			fault != second && !slices.Contains(faultsAt(kinds[1]), fault) {
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
