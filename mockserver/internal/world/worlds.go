package world

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Worlds holds the worlds of a server, and the templates of new ones.
type Worlds struct {
	settings        *Settings
	url             string
	home            *World
	Unauthenticated *World // journals the requests whose key opens no world; not one of the open worlds

	attempts chan struct{} // see delivery.Config

	openStubs sync.Mutex // held while one is added

	mu      sync.RWMutex
	byKey   map[string]*World
	opened  []*World // in the order in which they were opened, the home world first
	initial map[seed.Plan]*template
	unused  int // templates without a world
	named   int // worlds that OpenForTest has named
	closed  bool
}

// NewWorlds returns the worlds of a server with the home world, in a scenario. They can be used even if it returns an
// error.
func NewWorlds(s *Settings, scenario string) (*Worlds, error) {
	b := &Worlds{settings: s, byKey: map[string]*World{}, attempts: make(chan struct{}, delivery.MaxAttempts),
		initial: map[seed.Plan]*template{}}
	p, wrong := s.planFor(scenario)
	_ = p.decide(nil) // New of the server reports the error
	if wrong != nil {
		wrong = fmt.Errorf("mockserver: %w", wrong)
	}
	base, err := b.initially("", p.Plan)
	if err != nil {
		base = &contents{account: *account.New(p.Seed)} // so that requests can report the error
	}
	b.home = b.newWorld(HomeName, base.account.HomeKey(), p, base)
	b.byKey[b.home.SecretKey] = b.home
	b.opened = []*World{b.home}
	b.Unauthenticated = b.newWorld(UnauthenticatedName, "", p, base)
	return b, errors.Join(wrong, err)
}

// SetURL sets the base address of every world: the home world is opened before the server listens.
func (b *Worlds) SetURL(url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.url = url
	for _, w := range append(slices.Clone(b.opened), b.Unauthenticated) {
		w.URL = url
	}
}

func (b *Worlds) Home() *World { return b.home }

// Errors of opening a world. They are wrapped with an explanation.
var (
	// ErrNoWorld is returned for a name that no world can have.
	ErrNoWorld = errors.New("invalid world")
	// ErrWorldExists is returned if the name of a new world is in use.
	ErrWorldExists = errors.New("the world is open already")
	// ErrTooManyWorlds is returned if the server has as many worlds as is allowed, or no room for the records of another
	// one.
	ErrTooManyWorlds = errors.New("the server is full")
)

// ErrNotOpened is returned for the key of a world that is not open, if keys do not open worlds.
var ErrNotOpened = errors.New("the world of this key is not open")

// ErrKeyForm is an [ErrNoWorld] for a key without the format of keys.
var ErrKeyForm = fmt.Errorf("%w", ErrNoWorld)

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
	name, err := NameOf(scenario, nameFor(test, n))
	if err != nil {
		return nil, err
	}
	return b.OpenKey(account.KeyPrefix + name)
}

// NameOf returns the name of a world with its scenario. An underscore would end the scenario.
func NameOf(scenario, name string) (string, error) {
	if strings.Contains(scenario, "_") {
		return "", fmt.Errorf("%w: %w", ErrNoWorld, notJoined(scenario))
	}
	return scenario + "_" + name, nil
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

// Close closes a world, unless it is the home world, and drops its data.
func (b *Worlds) Close(w *World) {
	b.mu.Lock()
	listed := b.unlist(w)
	b.mu.Unlock()
	if listed {
		b.end(w)
	}
}

func (b *Worlds) end(w *World) {
	w.Close()
	b.leave(w.Plan.Plan)
}

// CloseIdle closes and returns the worlds, besides the home world, that had no request for some time of the machine's
// clock, and in which no delivery is waiting.
func (b *Worlds) CloseIdle(idle time.Duration) (closed []*World) {
	b.mu.Lock()
	for _, w := range b.opened[1:] {
		if w.use.isOver(idle) && !w.Dispatcher.IsWaiting() {
			closed = append(closed, w)
		}
	}
	for _, w := range closed {
		b.unlist(w)
	}
	b.mu.Unlock()
	for _, w := range closed {
		b.end(w)
		b.settings.Logger.Info("a world without requests was closed", "world", w.Name())
	}
	return closed
}

// OfKey returns the world of the key of a request. It opens the world if it is not open, unless the server has
// [Settings.OneWorld].
func (b *Worlds) OfKey(key string) (*World, error) {
	if b.settings.OneWorld {
		if w := b.ByKey(key); w != nil {
			return w, nil
		}
		return nil, ErrNotOpened
	}
	return b.OpenKey(key)
}

// OpenKey returns the world of a key and opens it if the key is valid.
func (b *Worlds) OpenKey(key string) (*World, error) {
	if w := b.ByKey(key); w != nil {
		return w, nil
	}
	w, err := b.openPlan(key, nil)
	if errors.Is(err, ErrWorldExists) { // another request opened it
		return b.OpenKey(key)
	}
	return w, err
}

// openPlan opens the world of a key, with the dialect of the server changed by its scenario and then by another one.
func (b *Worlds) openPlan(key string, over *Dialect) (*World, error) {
	scenario, name, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	p, err := b.settings.planFor(scenario)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoWorld, err)
	}
	if over != nil && over.Routes != nil {
		return nil, errors.New("routes apply to the whole server: start it with -dialect (in Go: WithDialect)")
	}
	if err := p.decide(over); err != nil {
		return nil, err
	}
	base, err := b.initially(key, p.Plan)
	if err != nil {
		return nil, err
	}
	own := *base
	own.account.IDs = account.NewIDsFor(p.Seed, key)
	w := b.newWorld(scenario+"_"+name, key, p, &own)
	if err := b.list(w); err != nil {
		w.Close()
		b.leave(p.Plan)
		return nil, err
	}
	return w, nil
}

// OpenWith opens a world whose dialect is that of the server, changed by another one. It returns an error if the world
// is open.
func (b *Worlds) OpenWith(name string, over *Dialect) (*World, error) {
	if over == nil {
		return b.Open(name)
	}
	key := account.KeyPrefix + strings.TrimPrefix(name, account.KeyPrefix)
	if name == HomeName || b.ByKey(key) != nil {
		return nil, fmt.Errorf("%w: %s: its dialect was chosen when it opened; choose another name", ErrWorldExists, name)
	}
	return b.openPlan(key, over)
}

// splitKey splits a key of the form sk_test_<scenario>_<name>.
func splitKey(key string) (scenario, name string, err error) {
	rest, found := strings.CutPrefix(key, account.KeyPrefix)
	scenario, name, cut := strings.Cut(rest, "_")
	switch {
	case !found || !cut:
		return "", "", fmt.Errorf("%w: its key is sk_test_, the scenario, an underscore and the name, such as "+
			"sk_test_default_ci42", ErrKeyForm)
	case name == "" || len(name) > longestName || strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }):
		return "", "", fmt.Errorf("%w: its name is %s: use 1 to %d letters, digits, dots, hyphens and underscores",
			ErrKeyForm, spelling.Quote(name), longestName)
	}
	return scenario, name, nil
}

// usual returns the initial contents of the worlds of a server without options. They are seeded once in a process,
// because seeding takes most of the time in which a test starts its server.
var usual = sync.OnceValues(func() (*contents, error) { return seeded(seed.Usual()) })

// seeded returns the initial contents of the worlds of a plan.
func seeded(p seed.Plan) (*contents, error) {
	made, delivered, err := seed.New(p)
	if err != nil {
		return nil, err
	}
	return &contents{account: *made, deliveries: delivered, records: recordsOf(made)}, nil
}

// maxUnused is how many templates without a world are kept. To seed one takes milliseconds.
const maxUnused = 4

// template is the initial contents of the worlds of a plan, which are seeded once and shared.
type template struct {
	users int // open worlds
	make  func() (*contents, error)
}

// initially returns the initial contents of the world of a key, with a plan, and counts one more user of them, until
// [Worlds.leave].
func (b *Worlds) initially(key string, p seed.Plan) (*contents, error) {
	t, err := b.join(key, p)
	if err != nil {
		return nil, err
	}
	made, err := t.make()
	if err != nil {
		b.leave(p)
	}
	return made, err
}

// join returns the template of a plan, with one more user.
func (b *Worlds) join(key string, p seed.Plan) (*template, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.admit(key); err != nil {
		return nil, err
	}
	t := b.initial[p]
	if t == nil || t.users == 0 {
		more := int64(p.Stored())
		if !b.settings.fits(more) {
			return nil, b.settings.full(fmt.Errorf("%w: the open worlds have %d records, and another with %d "+
				"would exceed %d: close some with DELETE %sworlds/NAME (in Go: World.Close)",
				ErrTooManyWorlds, b.settings.Records.Load(), more, b.settings.Limits.Records, wire.ControlPrefix))
		}
		b.settings.Records.Add(more)
	}
	switch {
	case t == nil:
		t = &template{make: sync.OnceValues(func() (*contents, error) { return seeded(p) })}
		if p == seed.Usual() {
			t.make = usual
		}
		b.initial[p] = t
	case t.users == 0:
		b.unused--
	}
	t.users++
	return t, nil
}

// leave counts one user less of the initial contents of a plan. A few contents without users are kept for the next
// world, and do not count as records.
func (b *Worlds) leave(p seed.Plan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.initial[p]
	if t.users--; t.users == 0 {
		b.settings.Records.Add(-int64(p.Stored()))
		b.unused++
	}
	if b.unused > maxUnused {
		maps.DeleteFunc(b.initial, func(_ seed.Plan, t *template) bool { return t.users == 0 })
		b.unused = 0
	}
}

func (b *Worlds) list(w *World) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.admit(w.SecretKey); err != nil {
		return err
	}
	b.settings.roomFor(len(b.opened))
	b.byKey[w.SecretKey] = w
	b.opened = append(b.opened, w)
	return nil
}

// admit returns an error if no world of a key may be opened. The caller holds the lock.
func (b *Worlds) admit(key string) error {
	switch {
	case b.byKey[key] != nil:
		return fmt.Errorf("%w: %s", ErrWorldExists, strings.TrimPrefix(key, account.KeyPrefix))
	case b.closed:
		return fmt.Errorf("%w: the server is closed", ErrNoWorld)
	case len(b.opened) >= b.settings.Limits.Worlds:
		return b.settings.full(fmt.Errorf("%w: %d worlds are open: close some with DELETE %sworlds/NAME (in Go: "+
			"World.Close), or those without a request for ten minutes with DELETE %[3]sworlds?idle=10m (Server.CloseIdle)",
			ErrTooManyWorlds, len(b.opened), wire.ControlPrefix))
	}
	return nil
}

// unlist removes an open world, except the home world, and reports whether it did. The caller holds the lock.
func (b *Worlds) unlist(w *World) bool {
	at := slices.Index(b.opened, w)
	if at < 1 {
		return false
	}
	b.opened = slices.Delete(b.opened, at, at+1)
	delete(b.byKey, w.SecretKey)
	return true
}

// ByKey returns the open world of a key, or nil. The world then counts as used, so that CloseIdle does not close it
// before the caller uses it.
func (b *Worlds) ByKey(key string) *World {
	b.mu.RLock()
	defer b.mu.RUnlock()
	w := b.byKey[key]
	if w != nil {
		w.use.begin()()
	}
	return w
}

// Full returns an error if the server has no room for another world or another record.
func (b *Worlds) Full() error {
	b.mu.RLock()
	defer b.mu.RUnlock()
	limits, records := b.settings.Limits, b.settings.Records.Load()
	if open := len(b.opened); open >= limits.Worlds || !b.settings.fits(1) {
		return fmt.Errorf("%w: %d of %d worlds are open, with %d records (the limit is %d, and "+
			"purchases may exceed it): close some with DELETE %sworlds?idle=10m",
			ErrTooManyWorlds, open, limits.Worlds, records, limits.Records, wire.ControlPrefix)
	}
	return nil
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
