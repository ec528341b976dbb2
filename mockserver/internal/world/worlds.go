package world

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/internal/filelock"
	"github.com/shipping-go/shipping/mockserver/assumption"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Worlds holds the worlds of a server, and the templates of new ones.
type Worlds struct {
	settings        *Settings
	url             string
	Unauthenticated *World // journals the requests whose key opens no world; not one of the open worlds

	mu        sync.RWMutex
	byKey     map[string]*World
	opened    []*World // in the order in which they were opened, the home world first
	templates map[seed.Plan]*template
	named     int            // worlds that OpenForTest has named
	lock      *filelock.Lock // of the state file; nil without one
	closed    bool
}

// NewWorlds returns the worlds of a server with the home world, in a scenario. They can be used even if it returns an error.
func NewWorlds(s *Settings, scenario string) (*Worlds, error) {
	b := &Worlds{settings: s, byKey: map[string]*World{}, templates: map[seed.Plan]*template{}}
	p, wrong := s.planFor(scenario)
	if wrong != nil {
		wrong = fmt.Errorf("mockserver: %w", wrong)
	}
	t, err := b.template(p.Plan)
	base := &Snapshot{State: *account.New(p.Seed), At: seed.Epoch} // used if seeding fails, so that requests can report the error
	if err == nil {
		var initial *Snapshot
		if initial, err = t.base(); err == nil {
			base = initial
		}
	}
	home := b.newWorld(HomeName, base.State.HomeKey(), p, base)
	home.origin = t
	b.byKey[home.SecretKey] = home
	b.opened = []*World{home}
	b.Unauthenticated = b.newWorld(UnauthenticatedName, "", p, base)
	return b, errors.Join(wrong, err)
}

// SetURL sets the base address of every world: worlds of a state file are opened before the server listens.
func (b *Worlds) SetURL(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url = url
	for _, w := range append(slices.Clone(b.opened), b.Unauthenticated) {
		w.URL = url
	}
}

// Home returns the home world.
func (b *Worlds) Home() *World { return b.opened[0] }

// template is the initial contents of the worlds of a plan. It is seeded once and shared.
type template struct {
	bytes int64 // of memory, about
	users int   // open worlds that use it
	base  func() (*Snapshot, error)
}

// Errors of opening a world. They are wrapped with an explanation.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = errors.New("no such world")
	// ErrWorldExists is returned if the name of a new world is in use.
	ErrWorldExists = errors.New("the world is open already")
	// ErrTooManyWorlds is returned if the server has no memory for another world.
	ErrTooManyWorlds = errors.New("the server is full")
)

// ErrKeyForm is an [ErrNoWorld] for a key without the format of keys.
var ErrKeyForm = fmt.Errorf("%w: a key is sk_test_, a scenario, an underscore and a name of at most %d letters, digits, dots, hyphens and underscores, such as sk_test_default_ci42", ErrNoWorld, longestName)

// longestName is the maximum length of the name in a key.
const longestName = 64

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

// Open returns the world of a name or of its key, and opens it if it is not open.
func (b *Worlds) Open(name string) (*World, error) {
	key := account.KeyPrefix + strings.TrimPrefix(name, account.KeyPrefix)
	if name == HomeName {
		key = b.Home().SecretKey
	}
	return b.OpenKey(key)
}

// OpenForTest opens a new world of a scenario, named after a test.
func (b *Worlds) OpenForTest(test, scenario string) (*World, error) {
	b.mu.Lock()
	b.named++
	n := b.named
	b.mu.Unlock()
	return b.OpenKey(account.KeyPrefix + scenario + "_" + nameFor(test, n))
}

// nameFor derives a name from a test's, different for each n.
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

// Worlds returns the open worlds in the order in which they were opened, the home world first.
func (b *Worlds) Worlds() []*World {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Clone(b.opened)
}

// Fork opens a new world with the contents of w. Its key has the scenario of that world.
func (b *Worlds) Fork(w *World, name string) (*World, error) {
	base, p := w.Snapshot(), w.Plan
	p.assume = *w.Assume()
	fullName := p.Scenario + "_" + name
	key := account.KeyPrefix + fullName
	if _, _, err := splitKey(key); err != nil {
		return nil, err
	}
	b.use(w.origin, 1)
	return b.add(b.newWorld(fullName, key, p, base), w.origin)
}

// Close closes a world, unless it is the home world, and drops its data.
func (b *Worlds) Close(w *World) {
	if b.remove(w) {
		w.Close()
	}
}

// OpenKey returns the world of a key and opens it if the key is valid.
func (b *Worlds) OpenKey(key string) (*World, error) {
	if w := b.ByKey(key); w != nil {
		return w, nil
	}
	w, err := b.openPlan(key, assumption.Change{})
	if errors.Is(err, ErrWorldExists) { // another request opened it
		return b.OpenKey(key)
	}
	return w, err
}

// openPlan opens the world of a key, with the server's assumptions changed by its scenario and then by change.
func (b *Worlds) openPlan(key string, change assumption.Change) (*World, error) {
	scenario, name, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	if b.settings.Assume.OneWorld {
		return nil, ErrKeyForm
	}
	p, err := b.settings.planFor(scenario)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoWorld, err)
	}
	if err := p.assume.Apply(change, &p.server, assumption.ScopeWorld, assumption.ScopeOpening); err != nil {
		return nil, err
	}
	for _, row := range p.assume.Differences(&p.server) {
		if row.Scope == assumption.ScopeServer {
			return nil, errServerAssumption(row.Field)
		}
	}
	p.ObjectBreakdown = p.assume.ObjectBreakdown
	t, err := b.template(p.Plan)
	if err != nil {
		return nil, err
	}
	base, err := t.base()
	if err != nil {
		b.use(t, -1)
		return nil, err
	}
	own := *base
	own.State.IDs = account.NewIDsFor(p.Seed, key)
	return b.add(b.newWorld(scenario+"_"+name, key, p, &own), t)
}

// OpenWith opens a world with other assumptions than the server's. It returns an error if the world is open.
func (b *Worlds) OpenWith(name string, change assumption.Change) (*World, error) {
	if change.IsZero() {
		return b.Open(name)
	}
	key := account.KeyPrefix + strings.TrimPrefix(name, account.KeyPrefix)
	if name == HomeName || b.ByKey(key) != nil {
		return nil, fmt.Errorf("%w: %s: change its assumptions with PATCH %sassumptions (in Go: World.SetAssumptions)", ErrWorldExists, name, wire.ControlPrefix)
	}
	return b.openPlan(key, change)
}

// splitKey splits a key of the form sk_test_<scenario>_<name>.
func splitKey(key string) (scenario, name string, err error) {
	rest, found := strings.CutPrefix(key, account.KeyPrefix)
	scenario, name, cut := strings.Cut(rest, "_")
	if !found || !cut || name == "" || len(name) > longestName || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }) {
		return "", "", ErrKeyForm
	}
	return scenario, name, nil
}

// seeded returns the initial contents of the worlds of a plan.
func seeded(p seed.Plan) (*Snapshot, error) {
	made, delivered, err := seed.New(p)
	if err != nil {
		return nil, err
	}
	return &Snapshot{State: *made, shared: memoryOf(made), Deliveries: delivered, At: seed.Epoch}, nil
}

// template returns the template of a plan and counts the user, until use(t, -1) is called. To make room for a new
// template, unused ones are removed first.
func (b *Worlds) template(p seed.Plan) (*template, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.templates[p]
	if t == nil {
		t = &template{bytes: bytesPerRow * int64(p.Stored()), base: sync.OnceValues(func() (*Snapshot, error) { return seeded(p) })}
		memory := b.settings.Memory
		for other, unused := range b.templates {
			if memory.Used.Load()+t.bytes > memory.Most && unused.users == 0 {
				memory.Used.Add(-unused.bytes)
				delete(b.templates, other)
			}
		}
		if memory.Used.Load()+t.bytes > memory.Most {
			return nil, fmt.Errorf("%w: a world of %d records and the open ones would take more than %d bytes of memory: close some with DELETE %sworlds/NAME (in Go: World.Close), raise the limit with WithMaxMemory in Go, or use rowsN, whose records are computed",
				ErrTooManyWorlds, p.Stored(), memory.Most, wire.ControlPrefix)
		}
		memory.Used.Add(t.bytes)
		b.templates[p] = t
	}
	t.users++
	return t, nil
}

// use adds to the number of worlds that use a template, which may be nil.
func (b *Worlds) use(t *template, worlds int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if t != nil {
		t.users += worlds
	}
}

// add adds a world, which uses a template. If it returns an error, it closes the world.
func (b *Worlds) add(w *World, t *template) (*World, error) {
	w.origin = t
	if err := b.list(w); err != nil {
		w.Close()
		b.use(t, -1)
		return nil, err
	}
	return w, nil
}

func (b *Worlds) list(w *World) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.byKey[w.SecretKey] != nil:
		return fmt.Errorf("%w: %s", ErrWorldExists, w.name)
	case b.closed:
		return fmt.Errorf("%w: it is closed", ErrNoWorld)
	case b.settings.Memory.Used.Load() > b.settings.Memory.Most:
		return fmt.Errorf("%w: open worlds: %d, and with another one they would take more than %d bytes of memory: close some with DELETE %sworlds/NAME (in Go: World.Close), or raise the limit with WithMaxMemory in Go",
			ErrTooManyWorlds, len(b.opened), b.settings.Memory.Most, wire.ControlPrefix)
	}
	b.byKey[w.SecretKey] = w
	b.opened = append(b.opened, w)
	return nil
}

// remove removes a world, except for the home world, and reports whether it was open.
func (b *Worlds) remove(w *World) bool {
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

// ByKey returns the open world of a key, or nil.
func (b *Worlds) ByKey(key string) *World {
	b.mu.RLock()
	w := b.byKey[key]
	b.mu.RUnlock()
	return w
}

// End refuses further worlds and returns the worlds that were open.
func (b *Worlds) End() []*World {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	return b.opened
}

// UnauthenticatedName is the name under which the control surface shows the requests whose key opens no world. No
// key opens a world of this name.
const UnauthenticatedName = "unauthenticated"
