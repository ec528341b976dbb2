package model

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// event applies a row of the table to a process and an item.
type event struct {
	row  uint8
	p, i uint8
}

// size is how much of the model is explored.
type size struct{ items, processes, periods int }

// exploration is all states that can be reached. States that differ only in the order of the items or the processes
// are one.
type exploration struct {
	size
	rules  []rule
	states []State
	parent []int32
	by     []event // the event that reached the state first
	number map[State]int32

	violation *violation
}

// violation is a property that does not hold in a state.
type violation struct {
	property string
	state    int32
}

// explore visits the states breadth-first, so the first path to a violation is a shortest one. It ends at the first
// violation.
func explore(rules []rule, size size) *exploration {
	x := &exploration{size: size, rules: rules, number: map[State]int32{}}
	x.add(initial(size.items, size.periods), -1, event{})
	for n := int32(0); int(n) < len(x.states) && x.violation == nil; n++ {
		x.each(n, func(next State, by event) {
			x.add(x.canonical(next), n, by)
		})
	}
	return x
}

// each calls visit with each state that follows a state.
func (x *exploration) each(n int32, visit func(State, event)) {
	for row := range x.rules {
		for p := range x.processes {
			for i := range x.items {
				next := x.states[n]
				v := next.view(p, i)
				if x.rules[row].when(v) {
					x.rules[row].then(v)
					visit(next, event{uint8(row), uint8(p), uint8(i)})
				}
			}
		}
	}
}

func (x *exploration) add(s State, parent int32, by event) {
	if _, known := x.number[s]; known {
		return
	}
	n := int32(len(x.states))
	x.number[s] = n
	x.states, x.parent, x.by = append(x.states, s), append(x.parent, parent), append(x.by, by)
	if broken := s.broken(); broken != "" && x.violation == nil {
		x.violation = &violation{broken, n}
	}
}

// checkEnds requires that the batch ends from every state once no fault is left: if no event is left
// that needs no fault, every item has ended, and such events go round in no circle. It takes away states without such
// an event left, with the events that lead to them; those of a circle stay.
func (x *exploration) checkEnds() {
	if x.violation != nil {
		return
	}
	left, before := make([]int, len(x.states)), make([][]int32, len(x.states))
	var ends []int32
	for n := range int32(len(x.states)) {
		x.each(n, func(s State, by event) {
			if m := x.number[x.canonical(s)]; x.rules[by.row].kind == step && m != n {
				left[n]++
				before[m] = append(before[m], n)
			}
		})
		if left[n] > 0 {
			continue
		}
		if ends = append(ends, n); !x.states[n].settled() {
			x.violation = &violation{"every unknown is settled", n}
			return
		}
	}
	for k := 0; k < len(ends); k++ {
		for _, n := range before[ends[k]] {
			if left[n]--; left[n] == 0 {
				ends = append(ends, n)
			}
		}
	}
	if circle := slices.IndexFunc(left, func(events int) bool { return events > 0 }); circle >= 0 {
		x.violation = &violation{"a batch ends", int32(circle)}
	}
}

// canonical returns the known state that differs from s only in an order, or else s.
func (x *exploration) canonical(s State) State {
	if _, known := x.number[s]; known {
		return s
	}
	processes := s.swappedProcesses()
	for _, same := range []State{s.swappedItems(), processes, processes.swappedItems()} {
		if _, known := x.number[same]; known {
			return same
		}
	}
	return s
}

func (s State) swappedItems() State {
	s.Items[0], s.Items[1] = s.Items[1], s.Items[0]
	for p := range s.Places {
		s.Places[p][0], s.Places[p][1] = s.Places[p][1], s.Places[p][0]
	}
	return s
}

func (s State) swappedProcesses() State {
	s.Places[0], s.Places[1] = s.Places[1], s.Places[0]
	s.Up[0], s.Up[1] = s.Up[1], s.Up[0]
	s.Runs[0], s.Runs[1] = s.Runs[1], s.Runs[0]
	for i := range s.Items {
		if owner := s.Items[i].Owner; owner == 1 || owner == 2 {
			s.Items[i].Owner = 3 - owner
		}
	}
	return s
}

// path returns the events that reach a state, in words. A state is kept as it was reached, so each event is of the same
// items and processes as the one before it.
func (x *exploration) path(n int32) (text string) {
	for ; x.parent[n] >= 0; n = x.parent[n] {
		by := x.by[n]
		text = fmt.Sprintf("\n\tprocess %c, item %d: %s", 'A'+by.p, by.i+1, x.rules[by.row].event) + text
	}
	return text
}

// counterexample returns the violation in words, with a shortest path to it.
func (x *exploration) counterexample() string {
	n := x.violation.state
	return fmt.Sprintf("it does not hold that %s:%s\n\t%+v", x.violation.property, x.path(n), x.states[n])
}

var (
	errDead = errors.New("the process was killed")
	errFull = errors.New("no space left on device")
)

// cutJournal is the journal as one life of a process sees it: it can cut the process off at each record.
type cutJournal struct {
	batch.Journal
	trial *trial
	life  *life
}

func (j cutJournal) Claim(ctx context.Context, key string) (batch.Claim, error) {
	i := itemOfKey(key)
	time.Sleep(time.Until(j.life.tries[i]))
	if j.life.isDead() {
		return nil, errDead
	}
	j.trial.mu.Lock()
	defer j.trial.mu.Unlock()
	claim, err := j.Journal.Claim(ctx, key)
	if errors.Is(err, batch.ErrItemTaken) {
		j.life.tries[i] = time.Now().Add(nextTry)
	}
	if err != nil {
		return nil, err
	}
	j.trial.observed(j.life, i, "claims")
	return cutClaim{claim, j, i}, nil
}

func (j cutJournal) Committed(ctx context.Context, period string, budget shipping.Budget) (shipping.Amount, error) {
	if j.life.isDead() {
		return shipping.Amount{}, errDead
	}
	return j.Journal.Committed(ctx, period, budget)
}

type cutClaim struct {
	batch.Claim
	journal cutJournal
	item    int
}

func (c cutClaim) Append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	if life.isDead() {
		return shipping.Amount{}, errDead
	}
	time.Sleep(life.latency())
	choice := t.choose(life, c.item, "record")
	switch choice {
	case "kill-before":
		t.kill(life)
		return shipping.Amount{}, errDead
	case "full":
		t.observe(life, c.item, "cannot write")
		return shipping.Amount{}, errFull
	case "stall-before":
		time.Sleep(stall)
	}
	committed, err := c.append(ctx, record, budget, alone)
	if err != nil {
		return committed, err
	}
	switch choice {
	case "kill-after":
		t.kill(life)
		return shipping.Amount{}, errDead
	case "stall-after":
		time.Sleep(stall)
	}
	return committed, nil
}

func (c cutClaim) append(ctx context.Context, record batch.Record, budget *shipping.Budget,
	alone func([]batch.Record) error) (shipping.Amount, error) {
	t, life := c.journal.trial, c.journal.life
	t.mu.Lock()
	defer t.mu.Unlock()
	before := c.Claim.Record().Step
	committed, err := c.Claim.Append(ctx, record, budget, alone)
	if err != nil {
		return committed, err
	}
	t.kept[c.item] = record
	if record.Step == batch.StepPurchasing {
		life.reserved = c.item
	}
	t.observed(life, c.item, recordEvents(before, record.Step)...)
	return committed, nil
}

func (c cutClaim) Release(ctx context.Context) error {
	if c.journal.life.isDead() {
		return errDead
	}
	return c.Claim.Release(ctx)
}

// recordEvents are the events of the model that a record can be.
func recordEvents(before, after shipping.Step) []string {
	switch after {
	case batch.StepAnalyzed:
		if before == "" {
			return []string{"records analyzed"}
		}
		return []string{"records not charged", "records settled", "ends a refused item", "records analyzed"}
	case batch.StepPurchasing:
		return []string{"records purchasing", "records the refusal", "records the refusal, to settle it",
			"records that a reading shows a purchase"}
	case batch.StepPurchased:
		return []string{"records purchased"}
	}
	return []string{"records completed"}
}
