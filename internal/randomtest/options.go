// Package randomtest contains the seeds and sizes of random tests: they are read from environment variables, and a test
// that fails logs the command that replays it with the same ones.
//
// Tests that draw their values with pgregory.net/rapid import it for its seed alone: rapid draws with SHIPPING_SEED
// too, unless -rapid.seed is set, and logs its flags if it fails.
package randomtest

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"

	_ "pgregory.net/rapid" // registers its flags first
)

// seedVariable is 0 for a random seed, and 1 if it is not set, so that tests are the same each time.
const seedVariable = "SHIPPING_SEED"

func seedText() string { return cmp.Or(os.Getenv(seedVariable), "1") }

func init() {
	if err := flag.Set("rapid.seed", seedText()); err != nil {
		panic(seedVariable + ": " + err.Error())
	}
}

// Options are the numbers that a random test depends on.
type Options struct {
	t    testing.TB
	text []string
}

// New returns the options of t. If t fails, it logs the command that replays it.
func New(t testing.TB) *Options {
	o := &Options{t: t}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay it: %s", o)
		}
	})
	return o
}

// Seed returns SHIPPING_SEED, by default 1; 0 stands for a random seed.
func (o *Options) Seed() uint64 {
	o.t.Helper()
	seed, err := strconv.ParseUint(seedText(), 10, 64)
	if err != nil {
		o.t.Fatalf("%s: %v", seedVariable, err)
	}
	if seed == 0 {
		seed = rand.Uint64()
	}
	o.text = append(o.text, fmt.Sprintf("%s=%d", seedVariable, seed))
	return seed
}

// Number returns an environment variable, or else standard.
func (o *Options) Number(variable string, standard int) int {
	o.t.Helper()
	n, err := standard, error(nil)
	if text := os.Getenv(variable); text != "" {
		n, err = strconv.Atoi(text)
	}
	if err != nil {
		o.t.Fatalf("%s: %v", variable, err)
	}
	o.text = append(o.text, fmt.Sprintf("%s=%d", variable, n))
	return n
}

// Random returns a source of random numbers that depends on [Options.Seed] alone.
func Random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(New(t).Seed(), 0))
}

// String returns the command that runs the test again with these options.
func (o *Options) String() string { return o.With() }

// With is like String, with further options, such as "SHIPPING_CAMPAIGN_ONLY=7".
func (o *Options) With(further ...string) string {
	nested, folder := underTest()
	name := "^" + strings.ReplaceAll(regexp.QuoteMeta(o.t.Name()), "/", "$/^") + "$"
	return fmt.Sprintf("%s go test%s -v -run '%s' %s", strings.Join(slices.Concat(o.text, further), " "), nested, name,
		folder)
}

// underTest returns the package under test as a folder of its module, and the flag for a nested module.
func underTest() (nested, folder string) {
	const module = "github.com/shipping-go/shipping"
	info, _ := debug.ReadBuildInfo() // a test always has it
	if within := strings.TrimPrefix(info.Main.Path, module+"/"); within != info.Main.Path {
		nested = " -C " + within
	}
	return nested, "." + strings.TrimPrefix(strings.TrimSuffix(info.Path, ".test"), info.Main.Path)
}
