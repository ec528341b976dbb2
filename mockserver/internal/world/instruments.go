package world

import (
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/mockserver/internal/inject"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// instruments are the journal, linter and fault rules of a world, with which a test observes and disturbs it. A fork
// begins with new ones.
type instruments struct {
	Log    *watch.Log
	Faults *inject.Rules
	Lint   *watch.Lint
	// KeyPrint is the fingerprint of the world's key in the journal.
	KeyPrint string
}

// newInstruments returns the instruments of a world with a seed and a key. Its journal
// shares memory with those of the other worlds.
func newInstruments(s *Settings, seed uint64, key string) *instruments {
	return &instruments{
		Log:      watch.NewLog(s.Journal, s.JournalBody, s.Journals),
		Faults:   inject.New(seed),
		Lint:     watch.NewLint(operations.Names(operations.Once), s.Parameters, s.BodyFields),
		KeyPrint: wire.Fingerprint(key),
	}
}
