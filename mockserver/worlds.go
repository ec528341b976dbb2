package mockserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
)

// worldBook holds the worlds of a server, and what new ones begin with.
type worldBook struct {
	settings  *settings
	url       string
	strangers *core // journals the requests whose key opens no world; none of the open worlds

	mu        sync.RWMutex
	byKey     map[string]*core
	opened    []*core // in the order of their opening, the home world first
	templates map[seed.Plan]*template
	rows      int            // stored by the templates
	named     int            // worlds that openFor has named
	file      string         // that use locks
	lock      *filelock.Lock // nil without a file
	closed    bool
}

// newWorldBook returns a book with the home world, one of a scenario. It can be used also if it returns an error.
func newWorldBook(s *settings, scenario string) (*worldBook, error) {
	b := &worldBook{settings: s, byKey: map[string]*core{}, templates: map[seed.Plan]*template{}}
	p, wrong := s.planFor(scenario)
	if wrong != nil {
		wrong = fmt.Errorf("mockserver: %w", wrong)
	}
	t, err := b.template(p.Plan)
	base := &snapshot{state: *account.New(p.Seed), at: seed.Epoch} // if the catalogue is wrong: an empty world can still report it
	if err == nil {
		var seeded *snapshot
		if seeded, err = t.snapshot(); err == nil {
			base = seeded
		}
	}
	home := b.newWorld(homeName, base.state.HomeKey(), p, base)
	home.origin = t
	b.byKey[home.SecretKey] = home
	b.opened = []*core{home}
	b.strangers = b.newWorld(strangersName, "", p, base)
	return b, errors.Join(wrong, err)
}

// setURL sets the base address of every world: those of a state file are open before the server listens.
func (b *worldBook) setURL(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url = url
	for _, w := range append(slices.Clone(b.opened), b.strangers) {
		w.URL = url
		b.settings.located(w)
	}
}

// home returns the home world.
func (b *worldBook) home() *core { return b.opened[0] }

// template is what the worlds of a plan begin with. It is seeded once, and shared.
type template struct {
	plan  seed.Plan
	rows  int // about as many records as it stores
	users int // worlds that are open and began with it

	once sync.Once
	base *snapshot
	err  error
}

// Errors of opening a world. They are wrapped with words that say what to do.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = errors.New("no such world")
	// ErrWorldExists is returned where a new world is to have the name of one that is open.
	ErrWorldExists = errors.New("the world is open already")
	// ErrTooManyWorlds is returned where the server holds as many worlds, or as many records, as it may.
	ErrTooManyWorlds = errors.New("the server is full")
)

// errKeyForm is an [ErrNoWorld] of a key that is not of the form that opens worlds.
var errKeyForm = fmt.Errorf("%w: a key is sk_test_, a scenario, an underscore and a name of at most %d letters, digits, dots, hyphens and underscores, such as sk_test_default_ci42", ErrNoWorld, longestName)

// longestName is how long the name in a key may be.
const longestName = 64

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

// openNamed returns the world of a name or of its key, and opens it if it is not open.
func (b *worldBook) openNamed(name string) (*core, error) {
	key := account.KeyPrefix + strings.TrimPrefix(name, account.KeyPrefix)
	if name == homeName {
		key = b.home().SecretKey
	}
	return b.world(key)
}

// openFor opens a world of a scenario that no other test has, named for a test.
func (b *worldBook) openFor(test, scenario string) (*core, error) {
	b.mu.Lock()
	b.named++
	n := b.named
	b.mu.Unlock()
	return b.world(account.KeyPrefix + scenario + "_" + nameFor(test, n))
}

// nameFor makes a name of a test's, different for each n.
func nameFor(test string, n int) string {
	name := strings.Map(func(r rune) rune {
		if isNameRune(r) {
			return r
		}
		return '-'
	}, test)
	number := "-" + strconv.Itoa(n)
	return name[:min(len(name), longestName-len(number))] + number
}

// all returns the open worlds in the order of their opening; the first is the home world.
func (b *worldBook) all() []*core {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Clone(b.opened)
}

// fork opens another world that begins as a snapshot of a world. Its key has the scenario of that world.
func (b *worldBook) fork(w *core, name string, base *snapshot) (*core, error) {
	return b.openFrom(w.plan, w.plan.scenario+"_"+name, base)
}

// close closes a world, unless it is the home world, and drops its data.
func (b *worldBook) close(w *core) {
	if b.remove(w) {
		w.close()
	}
}

// world returns the world of a key and opens it where the key has the form.
func (b *worldBook) world(key string) (*core, error) {
	if w := b.open(key); w != nil {
		return w, nil
	}
	w, err := b.openPlan(key, func(*assumptions) error { return nil })
	if errors.Is(err, ErrWorldExists) { // somebody else was faster
		return b.world(key)
	}
	return w, err
}

// openPlan opens the world of a key, with the assumptions that its scenario and then edit make of the server's.
func (b *worldBook) openPlan(key string, edit func(*assumptions) error) (*core, error) {
	scenario, name, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	if b.settings.assume.OneWorld {
		return nil, errKeyForm
	}
	p, err := b.settings.planFor(scenario)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoWorld, err)
	}
	if err := edit(&p.assume); err != nil {
		return nil, err
	}
	p.ObjectBreakdown = p.assume.ObjectBreakdown
	t, err := b.template(p.Plan)
	if err != nil {
		return nil, err
	}
	base, err := t.snapshot()
	if err != nil {
		b.release(t)
		return nil, err
	}
	own := *base
	own.state.IDs = account.NewIDsFor(p.Seed, key)
	w := b.newWorld(scenario+"_"+name, key, p, &own)
	w.origin = t
	if err := b.add(w, b.settings.maxWorlds); err != nil {
		w.close()
		b.release(t)
		return nil, err
	}
	return w, nil
}

// openWith opens a world that assumes other things than the server. It fails if the world is open: assumptions do not
// change under a client. They are not in a state file.
func (b *worldBook) openWith(name string, values map[string]json.RawMessage) (*core, error) {
	if len(values) == 0 {
		return b.openNamed(name)
	}
	key := account.KeyPrefix + strings.TrimPrefix(name, account.KeyPrefix)
	if name == homeName || b.open(key) != nil {
		return nil, fmt.Errorf("%w: %s: its assumptions cannot change", ErrWorldExists, name)
	}
	return b.openPlan(key, func(a *assumptions) error { return a.setAll(values) })
}

// openFrom opens a world under a new name that begins as a snapshot.
func (b *worldBook) openFrom(p worldPlan, fullName string, base *snapshot) (*core, error) {
	key := account.KeyPrefix + fullName
	if _, _, err := splitKey(key); err != nil {
		return nil, err
	}
	w := b.newWorld(fullName, key, p, base)
	if err := b.add(w, b.settings.maxWorlds); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// splitKey takes a key of the form sk_test_<scenario>_<name> apart.
func splitKey(key string) (scenario, name string, err error) {
	rest, found := strings.CutPrefix(key, account.KeyPrefix)
	scenario, name, cut := strings.Cut(rest, "_")
	if !found || !cut || name == "" || len(name) > longestName || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) {
		return "", "", errKeyForm
	}
	return scenario, name, nil
}

func (t *template) snapshot() (*snapshot, error) {
	t.once.Do(func() {
		made, delivered, err := seed.New(t.plan)
		if t.err = err; err == nil {
			t.base = &snapshot{state: *made, deliveries: delivered, at: seed.Epoch}
		}
	})
	return t.base, t.err
}

// template returns what worlds of a plan begin with and counts a user of it, which release takes back. Where
// there is no room for another one, those that nobody uses go first.
func (b *worldBook) template(p seed.Plan) (*template, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.templates[p]
	if t == nil {
		t = &template{plan: p, rows: p.Stored()}
		for other, unused := range b.templates {
			if b.rows+t.rows > maxTemplateRows && unused.users == 0 {
				b.rows -= unused.rows
				delete(b.templates, other)
			}
		}
		if b.rows+t.rows > maxTemplateRows {
			return nil, fmt.Errorf("%w: its worlds store %d records and this one needs %d more: close some with DELETE %sworlds/NAME or World.Close, or use rowsN, which stores none", ErrTooManyWorlds, b.rows, t.rows, adminPrefix)
		}
		b.rows += t.rows
		b.templates[p] = t
	}
	t.users++
	return t, nil
}

func (b *worldBook) release(t *template) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t.users--
}

func (b *worldBook) add(w *core, most int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.byKey[w.SecretKey] != nil:
		return fmt.Errorf("%w: %s", ErrWorldExists, w.name)
	case b.closed:
		return fmt.Errorf("%w: it is closed", ErrNoWorld)
	case len(b.opened) >= most:
		return fmt.Errorf("%w: %d worlds are open: close some with DELETE %sworlds/NAME or World.Close, or raise -max-worlds or WithMaxWorlds", ErrTooManyWorlds, len(b.opened), adminPrefix)
	}
	b.byKey[w.SecretKey] = w
	b.opened = append(b.opened, w)
	return nil
}

// remove takes a world out of the book, and reports whether it was in it. The home world stays.
func (b *worldBook) remove(w *core) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	at := slices.Index(b.opened, w)
	if at < 1 {
		return false
	}
	b.opened = slices.Delete(b.opened, at, at+1)
	delete(b.byKey, w.SecretKey)
	if w.origin != nil {
		w.origin.users--
	}
	return true
}

// open returns the open world of a key, or nil.
func (b *worldBook) open(key string) *core {
	b.mu.RLock()
	w := b.byKey[key]
	b.mu.RUnlock()
	return w
}

// end closes the book and returns the worlds that were open.
func (b *worldBook) end() []*core {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.opened
}
