package model

import "slices"

// The largest size of the model. Each purchase costs 1, and the budget of a period is enough for one of the items.
const (
	items     = 2
	processes = 2
	periods   = 2
	budget    = 1
)

// initial is the state before a batch of some items that runs in some periods: nothing runs.
func initial(size, periods int) State {
	s := State{Periods: uint8(periods)}
	for i := size; i < items; i++ {
		s.Items[i].Step = noItem
		for p := range processes {
			s.Places[p][i] = done
		}
	}
	return s
}

// Request is a regulatory request at the service.
type Request uint8

const (
	noRequest Request = iota
	draft
	purchased
	generated // also a generation that failed: it ends the item too
)

// Step is the step of an item's last record.
type Step uint8

const (
	noStep Step = iota
	stepAnalyzed
	stepPurchasing
	stepPurchased
	stepCompleted
	noItem // the batch has fewer items
)

// committed reports whether the price counts against the budget.
func (s Step) committed() bool { return s >= stepPurchasing && s <= stepCompleted }

// Charge is how the charge of an item compares with its cost.
type Charge uint8

const (
	asOffered Charge = iota
	above            // and no record shows it
	recorded         // above, and no person has closed it with a note
)

// Lease is how much of a claim is left.
type Lease uint8

const (
	full Lease = iota // at least half
	half
)

// Owner is who has the claim: 1 and 2 are the processes.
type Owner uint8

const (
	nobody Owner = 0
	dead   Owner = processes + 1 // a process that was killed
)

// Place is where a process stands with an item.
type Place uint8

const (
	away Place = iota
	begun
	drafted
	analyzed
	ready
	reserved
	sent
	lost
	refused
	denied
	open
	charged
	notCharged
	settled
	polling
	ended
	done
)

// claimed is the place with a claim, by the step of the last record.
var claimed = [...]Place{noStep: begun, stepAnalyzed: analyzed, stepPurchasing: open, stepPurchased: polling,
	stepCompleted: done}

// kind is whether an event happens without a fault or needs one.
type kind uint8

const (
	step kind = iota
	fault
)

// view is a state as a process and an item see it.
type view struct {
	s    *State
	p, i int
	it   *Item
}

func (s *State) view(p, i int) view { return view{s, p, i, &s.Items[i]} }

// first is true once for each process, perItem once for each item: for events that have only one of the two.
func (v view) first() bool   { return v.i == 0 }
func (v view) perItem() bool { return v.p == 0 }

func (v view) up() bool    { return v.s.Up[v.p] }
func (v view) self() Owner { return Owner(v.p + 1) }
func (v view) owns() bool  { return v.it.Owner == v.self() }

func (v view) in(places ...Place) bool { return slices.Contains(places, v.s.Places[v.p][v.i]) }
func (v view) to(place Place)          { v.s.Places[v.p][v.i] = place }

// writes reports whether the process may be about to append a record. Without a claim it may have read a purchase of
// another process.
func (v view) writes() bool {
	return v.in(drafted, ready, lost, refused, denied, open, charged, notCharged, settled, ended) ||
		v.in(analyzed) && !v.owns()
}

func (v view) release() { v.it.Owner, v.it.Lease = nobody, full }

// give releases the claim and leaves the item.
func (v view) give(place Place) {
	if v.owns() {
		v.release()
	}
	v.to(place)
}

// leave ends the item with an error, but only under a claim: otherwise another process may have purchased it.
func (v view) leave() {
	if v.owns() {
		v.give(done)
	}
}

// end releases the claim if the process is done with the item.
func (v view) end() {
	if v.in(done) {
		v.release()
	}
}

// record appends a record, which begins the lease anew, and goes on to a place.
func (v view) record(next Step, place Place) {
	v.it.Step, v.it.Lease = next, full
	if v.it.Charge == above && next >= stepPurchased {
		v.it.Charge = recorded
	}
	if !next.committed() {
		v.it.Period = 0
	}
	v.to(place)
	v.end()
}

func (v view) send() {
	v.it.Copies++
	v.it.Sends++
	v.to(sent)
}

// read is the reading of a draft: a request that can be read was not denied.
func (v view) read() {
	if v.in(denied) {
		v.to(refused)
	}
}

func (v view) mayPurchase() bool { return v.owns() && v.it.Lease == full }
func (v view) fits() bool        { return v.s.committed(v.s.Runs[v.p]) < budget }
func (v view) mayReserve() bool {
	return v.fits() && !v.s.overcharged()
}
func (v view) quiet() bool { return v.it.Request == draft && v.it.Copies == 0 }

func (v view) allDone() bool {
	return v.s.Places[v.p] == [items]Place{done, done}
}

func (v view) allAway() {
	for i, it := range v.s.Items {
		if it.Step != noItem {
			v.s.Places[v.p][i] = away
		}
	}
}

// giveAll leaves all items.
func (v view) giveAll() {
	for i := range v.s.Items {
		v.s.view(v.p, i).give(done)
	}
}

// begin begins a run of the current period.
func (v view) begin() {
	v.allAway()
	v.s.Up[v.p], v.s.Runs[v.p] = true, v.s.Periods
}

func (v view) kill() {
	v.s.Up[v.p], v.s.Runs[v.p] = false, 0
	v.allAway()
	for i := range v.s.Items {
		if it := &v.s.Items[i]; it.Owner == v.self() {
			it.Owner = dead
		}
	}
}

// open reports whether another run has something to do.
func (v view) open() bool { return !v.s.settled() }

// overcharged reports whether the journal has a charge above its cost that no person has closed with a note.
func (s *State) overcharged() bool {
	return slices.ContainsFunc(s.Items[:], func(it Item) bool { return it.Charge == recorded })
}

// settled reports whether every item has ended, or waits for a budget that is used up in the current period, or for a
// person who closes a charge.
func (s *State) settled() bool {
	for _, it := range s.Items {
		if it.Step < stepCompleted && (it.Step != stepAnalyzed || s.committed(s.Periods) < budget && !s.overcharged()) {
			return false
		}
	}
	return true
}

// committed is the sum that counts in a period.
func (s *State) committed(period uint8) int {
	sum := 0
	for _, it := range s.Items {
		if it.Step.committed() && it.Period == period {
			sum++
		}
	}
	return sum
}

// debits is the sum of the debits of a period: those of an item without a period are in none.
func (s *State) debits(period uint8) int {
	sum := 0
	for _, it := range s.Items {
		if it.Period == period {
			sum += int(it.Debits)
		}
	}
	return sum
}

// property is what must hold for each process and item in every state.
type property struct {
	name  string
	holds func(v view) bool
}

func properties() []property {
	return []property{
		{"at most one debit a request", func(v view) bool { return v.it.Debits <= 1 }},
		{"a purchase is sent once for each reservation", func(v view) bool { return v.it.Sends <= 1 }},
		{"while the journal has a charge above its cost that no person has closed with a note, nothing is reserved",
			func(v view) bool { return !v.it.Beside }},
		{"no record contradicts the ledger", func(v view) bool {
			switch v.it.Step {
			case stepPurchasing, noItem:
				return true
			case stepPurchased, stepCompleted:
				return v.it.Debits == 1
			}
			return v.it.Debits == 0 && v.it.Copies == 0
		}},
		{"no outcome contradicts the ledger", func(v view) bool { // of a process that can record it
			switch {
			case v.owns() && v.in(charged):
				return v.it.Debits == 1
			case v.owns() && v.in(notCharged, settled):
				return v.it.Debits == 0 && v.it.Copies == 0
			}
			return true
		}},
		{"debits ≤ committed ≤ budget, in each period", func(v view) bool {
			for period := range periods + 1 {
				committed := v.s.committed(uint8(period))
				if v.s.debits(uint8(period)) > committed || committed > budget {
					return false
				}
			}
			return true
		}},
	}
}

// broken returns the first property that does not hold; "" if all do.
func (s *State) broken() string {
	for _, property := range properties() {
		for p := range processes {
			for i := range items {
				if !property.holds(s.view(p, i)) {
					return property.name
				}
			}
		}
	}
	return ""
}
