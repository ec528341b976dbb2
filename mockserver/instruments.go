package mockserver

import (
	"sync/atomic"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// instruments are what a test watches and disturbs a world with. Every world has its own, and a fork
// begins with fresh ones.
type instruments struct {
	calls   *watch.Log
	faults  *faultBook
	conduct *watch.Lint
	// observers see every exchange of the world before it is answered, the journal first.
	observers []watch.Observer
	coverage  *Coverage
	// table is the operation table that the server serves.
	table []shipping.Operation
	// beforeReply runs when the next call has been answered in memory, before its reply is sent.
	beforeReply atomic.Pointer[func()]
	// keyPrint is what the journal shows of the world's key.
	keyPrint string
}

// newInstruments returns the instruments of a world that follows from a seed and opens with a key. Its journal
// shares memory with those of the other worlds.
func newInstruments(c *config, seed uint64, key string, memory *watch.Memory, metrics *watch.Metrics) *instruments {
	i := &instruments{
		calls:    watch.NewLog(c.journal, c.journalBody, memory),
		faults:   newFaultBook(seed),
		conduct:  watch.NewLint(parameters),
		coverage: c.coverage,
		table:    c.operations,
		keyPrint: wire.Fingerprint(key),
	}
	i.observers = []watch.Observer{i.calls, i.conduct, i.coverage.seen, metrics}
	if c.accessLog != nil {
		i.observers = append(i.observers, watch.NewAccessLog(c.accessLog))
	}
	return i
}
