package world

import (
	"sync/atomic"

	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// instruments are what a test watches and disturbs a world with. Every world has its own, and a fork
// begins with fresh ones.
type instruments struct {
	Log    *watch.Log
	Faults *inject.Book
	Lint   *watch.Lint
	// Observers see every exchange of the world before it is answered, the journal first.
	Observers []watch.Observer
	// BeforeReply runs when the next call has been answered in memory, before its reply is sent.
	BeforeReply atomic.Pointer[func()]
	// KeyPrint is what the journal shows of the world's key.
	KeyPrint string
}

// newInstruments returns the instruments of a world that follows from a seed and opens with a key. Its journal
// shares memory with those of the other worlds.
func newInstruments(s *Settings, seed uint64, key string) *instruments {
	i := &instruments{
		Log:      watch.NewLog(s.Journal, s.JournalBody, s.Memory),
		Faults:   inject.NewBook(seed),
		Lint:     watch.NewLint(s.Parameters),
		KeyPrint: wire.Fingerprint(key),
	}
	i.Observers = append([]watch.Observer{i.Log, i.Lint}, s.Observers...)
	return i
}
