package batch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/spelling"
)

// This file decides which items for one shipment or file are purchased beside each other.

// errLacks is the error of an item that names other Documents than it was completed with.
var errLacks = errors.New("shipping: the item was completed without")

// lacks returns an error if the item is completed without one of its Documents.
func (e *entry) lacks(record Record) error {
	others := without(e.item.Documents, record.Documents)
	if record.Step != StepCompleted || len(others) == 0 {
		return nil
	}
	return fmt.Errorf("%w %s: name these in an item with a Key of its own", errLacks, spelling.Quote(listed(others)))
}

// errOtherShipment is the error of an item whose key belongs to another shipment: if that one is completed, this one
// would count as completed.
var errOtherShipment = errors.New("shipping: the key belongs to another shipment")

func otherShipment(record Record, source string) error {
	open := "; nothing was purchased for this item"
	if record.Begun() && !record.final() {
		open += "; the purchase of the other one is not finished, so add an item for it to the next run"
	}
	had := spelling.Quote(record.ShipmentID)
	if record.ShipmentID == "" {
		had = "an invoice"
	}
	return fmt.Errorf("%w: %s in the journal, and %s in this item: give this item a Key that no other item has%s",
		errOtherShipment, had, spelling.Quote(source), open)
}

// source identifies the shipment or file of the item. Without either, the key is the shipment or file, as it is by
// default.
func (e *entry) source() string {
	given := Record{ShipmentID: e.item.Analyze.ShipmentID, FileHash: fileHash(e.item.Analyze.FileURL)}
	return cmp.Or(given.Source(), e.record.Source(), sourceOfKey(e.record.Key))
}

// sourceOfKey returns the source of an item that has a default key.
func sourceOfKey(key string) string {
	if strings.Contains(key, "://") {
		return fileHash(key)
	}
	return key
}

// chooseTwins chooses which of several items for one shipment or file are purchased: of items that exclude each other,
// the first by compare. So neither the order of items nor the time of responses matters. If the journal has a lease, no
// purchase is known yet. Items with Again take no part: they begin after the others, whose purchase they would prevent.
func chooseTwins(entries []*entry) {
	bySource := map[string][]*entry{}
	for _, e := range entries {
		if !e.item.Again {
			bySource[e.source()] = append(bySource[e.source()], e)
		}
	}
	for _, e := range entries {
		if e.item.Again {
			e.after = bySource[e.source()]
		}
	}
	for _, same := range bySource {
		slices.SortFunc(same, (*entry).compare)
		for i, e := range same {
			if n := slices.IndexFunc(same[:i], func(first *entry) bool { return first.excludes(e) }); n >= 0 {
				e.twin, e.unread = same[n], same[n].record.Begun() && len(same[n].record.Documents) == 0
			}
		}
	}
}

// compare orders items for one shipment or file: those whose purchase has begun come first, then those with Documents.
func (e *entry) compare(other *entry) int {
	rank := func(e *entry) int {
		switch {
		case e.record.Begun():
			return 0
		case len(e.item.Documents) > 0:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(e), rank(other)), cmp.Compare(e.record.Key, other.record.Key))
}

// excludes reports whether a later item for the same shipment or file must not be purchased in addition to this one.
func (e *entry) excludes(later *entry) bool {
	documents, others := e.item.Documents, later.item.Documents
	switch {
	case e.twin != nil:
		return false
	case len(documents) == 0 && len(others) == 0:
		return true
	case e.record.Begun(): // the journal shows its documents, except after Adopt
		return len(e.record.Documents) == 0
	}
	return len(others) == 0 || len(without(others, documents)) < len(others)
}

// repeated returns an error for an item that would buy the same documents as another item in this run or in the
// journal.
func (e *entry) repeated() error {
	if unread := e.run.unread; unread != "" && !e.item.Again {
		return fmt.Errorf("shipping: the journal has the purchase %s of an unknown shipment or invoice, and %w; list its "+
			"item with Analyze, or close it with batch.Resolve", spelling.Quote(unread), errUnread)
	}
	switch twin := e.twin; {
	case twin == nil:
	case e.unread && len(e.item.Documents) > 0:
		return e.differs(Record{Key: twin.item.key()})
	case len(twin.item.Documents) == 0:
		return e.repeats(twin.item.key(), "leave it out")
	case len(e.item.Documents) == 0:
		return e.repeats(twin.item.key(), "name the Documents of this item, too, or leave it out")
	default:
		return e.differs(Record{Key: twin.item.key(), Documents: twin.item.Documents})
	}
	if unkeepable(e.record.Source()) {
		return nil
	}
	related, err := e.run.journal.Related(e.run.writing, e.record)
	if err != nil {
		return e.run.journalFailed(e.record.Key, err)
	}
	return e.alone(e.record)(related)
}

// alone returns the function that the journal calls before it records a draft or a purchase, with the records of the
// same source or request. If a proxy repeated the response to an analysis, several items would purchase one request.
// The service may return the draft of the same shipment again.
func (e *entry) alone(own Record) func(related []Record) error {
	return func(related []Record) error {
		for _, other := range related {
			if other.Key == own.Key {
				continue
			}
			sameSource := own.Source() != "" && other.Source() == own.Source()
			if sameSource && !e.item.Again && other.Committed() && other.bought() {
				if err := e.differs(other); err != nil {
					return err
				}
			}
			isOpen := own.Step == StepAnalyzed && other.Step == StepAnalyzed && !sameSource
			if own.RequestID != "" && other.RequestID == own.RequestID && (other.Begun() || isOpen) {
				return e.repeatedRequest(own.RequestID, other.Key)
			}
		}
		return nil
	}
}

// errUnread is the error of an item whose shipment has a purchase that [Adopt] has added.
var errUnread = errors.New("its documents are not known until a run has read it")

// differs returns an error unless the Documents differ from those of another purchase of the shipment or file.
func (e *entry) differs(other Record) error {
	switch shared := without(e.item.Documents, without(e.item.Documents, other.Documents)); {
	case len(e.item.Documents) == 0:
	case len(other.Documents) == 0 && other.final():
		return e.repeats(other.Key, "it is closed, and its documents are not known: leave the item out, or set Again")
	case len(other.Documents) == 0:
		return fmt.Errorf("shipping: the journal has the purchase %s of the shipment, and %w", spelling.Quote(other.Key),
			errUnread)
	case len(shared) > 0:
		return e.repeats(other.Key, fmt.Sprintf("leave %s out of Documents, or leave the item out; to buy these again, set "+
			"Again", spelling.Quote(listed(shared))))
	default:
		return nil
	}
	return e.repeats(other.Key, "use that Key, which the journal has, or leave the item out; to buy other documents, "+
		"name them in Documents; to buy these again, set Again")
}

// repeatedRequest returns the error of an item whose analysis returned the request of another item.
func (e *entry) repeatedRequest(id, key string) error {
	opens := ""
	if e.record.RequestID == id {
		opens = ", then batch.Resolve with OutcomeNotCharged lets the next run analyze it again"
	}
	return fmt.Errorf("shipping: the analysis returned the request %s of the item %s; nothing was purchased for this "+
		"item: check whether a proxy repeats responses%s", spelling.Quote(id), spelling.Quote(key), opens)
}

// repeats returns the error of an item whose documents another item has bought.
func (e *entry) repeats(key, advice string) error {
	source := "shipment"
	if e.item.Analyze.FileURL != "" || e.record.FileHash != "" {
		source, advice = "file", advice+"; if two invoices differ only in the query of the address, set Again"
	}
	return invalid("Item", fmt.Sprintf("with the key %s has the %s of the item with the key %s, whose documents would be "+
		"bought a second time: %s", spelling.Quote(e.record.Key), source, spelling.Quote(key), advice))
}
