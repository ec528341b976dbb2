package paging

import "fmt"

const maxReadings = 4 // of a list that changes; twice as many if its rows change places

// sighting is the first and the last reading that found a record; 0 for none.
type sighting struct{ first, last uint8 }

// missing returns how many of the expected records were not found. The token's records behind the first row of the walk
// account for some: for inFront, because the place of the token was in front of them, and for as many as rows moved.
// Any others may have been counted in place of missing records.
func (w *Walk) missing(inFront int) int {
	if w.ended && w.settled() {
		return 0
	}
	missing := w.expected - w.found - inFront - min(w.older-inFront, w.moved)
	switch {
	case !w.ended:
		missing -= max(w.total-w.pushed-w.covered, 0)
	case w.owed > w.base+w.found && (w.fresh > 0 || w.unfound()): // if readings disagree, no row counts as vanished
		missing = max(missing, w.owed-w.base-w.found)
	}
	return max(w.hole, missing)
}

// settled reports whether the readings together found all records that the list had when a later reading began. If
// many records share the time by which a service sorts, each page can have another order. A record was in the list at
// that moment if it was found before and after.
func (w *Walk) settled() bool {
	for before := 1; before < len(w.totals); before++ {
		there := 0
		for _, known := range w.known {
			if int(known.first) <= before && before < int(known.last) {
				there++
			}
		}
		if there == w.totals[before] {
			return true
		}
	}
	return false
}

// shuffled reports whether this reading did not find a record that an earlier one had found, although the total did not
// change.
func (w *Walk) shuffled() bool {
	return w.moves == 0 && !w.distrust && w.unfound()
}

// unfound reports whether this reading did not find a record that an earlier one had found.
func (w *Walk) unfound() bool {
	for _, known := range w.known {
		if int(known.last) < w.reading {
			return true
		}
	}
	return false
}

// again reports whether the reading that ended may have missed records that another one can find.
func (w *Walk) again() bool {
	shuffled, most := w.shuffled(), maxReadings
	if shuffled {
		most = 2 * maxReadings
	}
	more := w.reading == 1 || w.fresh > 0 || shuffled || w.older > max(w.stray, w.moved) || w.moves > 0 && !w.distrust
	return !w.anonymous && w.reading < most && more && (w.missing(0) > 0 || w.shrank || w.distrust)
}

// readAgain begins another reading.
func (w *Walk) readAgain() {
	if w.reading == 1 {
		w.owed = w.base + w.expected
	}
	if (w.distrust || w.shuffled()) && w.config.Token != "" {
		w.base = 0 // it may be wrong, and records in front of it may be missing
	}
	w.reading++
	if w.distrust || w.reading >= maxReadings {
		w.config.Window = 1
	}
	w.began, w.ended, w.shrank, w.distrust = false, false, false, false
	w.idle, w.moves, w.pushed, w.refused, w.furthest, w.covered, w.last = 0, 0, 0, 0, 0, w.base, nil
	w.moveTo(w.pageOf(w.base))
}

// short returns, at the end of the walk, how many of the expected records it did not return.
func (w *Walk) short() int {
	missing := w.missing(min(w.older, w.stray))
	if w.distrust && w.fresh > 0 && !w.anonymous {
		missing = max(missing, 1)
	}
	return max(missing, 0)
}

// done reports whether all records were returned.
func (w *Walk) done() bool { return w.ended && !w.again() && w.short() == 0 }

// end returns the error of a walk that returned fewer records than the total; nil for any other walk.
func (w *Walk) end() error {
	missing := w.short()
	if missing == 0 {
		return nil
	}
	if w.shuffled() {
		w.complete.Items = 0 // records may be missing in front of any place
	}
	return &Error{Kind: Incomplete, Page: w.number, Missing: missing, Token: w.Token(),
		Err: fmt.Errorf("at least %d of the records that its total promised did not come, in %d readings; "+
			"resume to read it again from where records may be missing", missing, w.reading)}
}
