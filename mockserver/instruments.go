package mockserver

import (
	"sync/atomic"

	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// instruments are what a test watches and disturbs a world with. Every world has its own, and a fork
// begins with fresh ones.
type instruments struct {
	calls   *watch.Log
	faults  *inject.Book
	conduct *watch.Lint
	// observers see every exchange of the world before it is answered, the journal first.
	observers []watch.Observer
	// beforeReply runs when the next call has been answered in memory, before its reply is sent.
	beforeReply atomic.Pointer[func()]
	// keyPrint is what the journal shows of the world's key.
	keyPrint string
}

// newInstruments returns the instruments of a world that follows from a seed and opens with a key. Its journal
// shares memory with those of the other worlds.
func newInstruments(s *settings, seed uint64, key string) *instruments {
	i := &instruments{
		calls:    watch.NewLog(s.journal, s.journalBody, s.memory),
		faults:   inject.NewBook(seed),
		conduct:  watch.NewLint(s.parameters),
		keyPrint: wire.Fingerprint(key),
	}
	i.observers = append([]watch.Observer{i.calls, i.conduct}, s.observers...)
	return i
}
