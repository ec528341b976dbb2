package randomtest

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// failing is a test that fails and stores its log.
type failing struct {
	testing.TB
	cleanup []func()
	log     []string
}

func (f *failing) Failed() bool                   { return true }
func (f *failing) Name() string                   { return "TestX/a (b)/c" }
func (f *failing) Cleanup(end func())             { f.cleanup = append(f.cleanup, end) }
func (f *failing) Logf(format string, a ...any)   { f.log = append(f.log, fmt.Sprintf(format, a...)) }
func (f *failing) Fatalf(format string, a ...any) { f.Logf(format, a...) }

// A random test that fails logs the command that replays it; the options in the command are taken back.
func TestOptions(t *testing.T) {
	const command = ` go test -v -run '^TestX$/^a \(b\)$/^c$' ./internal/randomtest`
	run := func() (o *Options, seed uint64, number int, logged string) {
		f := &failing{TB: t}
		o = New(f)
		seed, number = o.Seed(), o.Number("SHIPPING_TRIED", 20)
		for _, end := range f.cleanup {
			end()
		}
		return o, seed, number, strings.Join(f.log, "\n")
	}
	t.Setenv("SHIPPING_SEED", "")
	if o, seed, number, logged := run(); seed != 1 || number != 20 || logged != "replay it: SHIPPING_SEED=1 SHIPPING_TRIED=20"+command ||
		o.With("SHIPPING_ONLY=3") != "SHIPPING_SEED=1 SHIPPING_TRIED=20 SHIPPING_ONLY=3"+command {
		t.Errorf("by default: seed %d, number %d, logged %q, %q", seed, number, logged, o.With("SHIPPING_ONLY=3"))
	}
	t.Setenv("SHIPPING_SEED", "0")
	_, random, _, logged := run()
	if _, other, _, _ := run(); random == 0 || random == other {
		t.Errorf("random seeds are %d and %d", random, other)
	}
	environment, _, _ := strings.Cut(strings.TrimPrefix(logged, "replay it: "), command)
	for assignment := range strings.FieldsSeq(strings.Replace(environment, "=20", "=21", 1)) {
		name, value, _ := strings.Cut(assignment, "=")
		t.Setenv(name, value)
	}
	if _, seed, number, _ := run(); seed != random || number != 21 {
		t.Errorf("replayed with seed %d and number %d, want %d and 21", seed, number, random)
	}
	for _, name := range []string{"SHIPPING_SEED", "SHIPPING_TRIED"} {
		t.Setenv(name, "many")
		if _, _, _, logged := run(); !strings.Contains(logged, name+": strconv.") {
			t.Errorf("%s=many is accepted: %s", name, logged)
		}
	}
}

// Tests with rapid drew other values each time, and failed at random.
func TestRapid_DrawsWithTheSameSeed(t *testing.T) {
	if got, want := flag.Lookup("rapid.seed").Value.String(), seedText(); got != want {
		t.Errorf("the seed is %s, want %s", got, want)
	}
}
