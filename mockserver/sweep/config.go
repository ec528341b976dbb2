package sweep

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Config configures a sweep. The zero value has all defaults.
type Config struct {
	// Options are further options of the server, such as [mockserver.WithSeed].
	Options []mockserver.Option
	// Setup prepares the world of each run, such as [mockserver.World.Fund]. Its requests are not struck or judged.
	Setup func(w *mockserver.World) error
	// Deliver is the transport of notifications, for receivers in the same process. Set it in place of
	// [mockserver.WithDeliveryTransport], whose notifications neither wait until a program listens nor kill it.
	// Default: connections to this machine.
	Deliver http.RoundTripper
	// Notify returns the events of which [Sweep] notifies the webhooks of a run, one after the other, once the program
	// has started. A receiver that does not listen yet is tried for ten seconds. When all
	// notifications have been delivered and the program is idle, [Execution.End] asks it to end. Setup adds the webhook.
	Notify func(w *mockserver.World) []notify.Event
	// Quiet is how long a notified program must be idle, without requests and notifications, until it is asked to end.
	// A fault with a Retry-After adds its time. Default: 10 s.
	Quiet time.Duration
	// Goal is the expected effect of the program. Default: its effect without faults.
	Goal Goal
	// Faults are the names of the faults to try. Default: all of [Faults] but [Kill], which Restart adds.
	Faults []string
	// Pairs tries, after all single faults, two faults in one run.
	Pairs bool
	// Only is the one schedule to run. The run fails with [NotStruck] if one of its faults does not strike. Default: all.
	Only Schedule
	// MaxRuns limits the runs with faults, whose schedules are then evenly spaced. Default: no limit.
	MaxRuns int
	// Patience is the longest time that the program waits for a response. Faults of latency last a fifth longer. A
	// late request takes effect 15 s after this time, at most 45 s after it was sent. Default: 30 s, the longest time
	// of an attempt of the client.
	Patience time.Duration
	// Allow are rules of lint that are not findings.
	Allow []journal.LintRule
	// Restart restarts a program that failed or was killed, in the same world, and adds the fault [Kill]. It is for
	// [Sweep]; [Run] cannot kill.
	Restart bool
	// Parallel is how many programs [Sweep] runs at once. Default: 1.
	Parallel int
	// Timeout is how long a run of [Sweep] may take. Default: eight minutes, because a careful program waits
	// for [shipping.PurchaseOptions.QuietFor] before it decides.
	Timeout time.Duration
	// Progress is called by [Sweep] after each run, never twice at the same time.
	Progress func(ended, total int, r RunResult)

	inMemory bool
}

const defaultPatience = 30 * time.Second

// withDefaults returns the settings with defaults in place of zero fields, or an error if they are invalid.
func (c Config) withDefaults() (*Config, error) {
	c.Patience, c.Timeout = cmp.Or(c.Patience, defaultPatience), cmp.Or(c.Timeout, 8*time.Minute)
	c.Parallel, c.Quiet = max(c.Parallel, 1), cmp.Or(c.Quiet, 10*time.Second)
	names := slices.Clone(c.Faults)
	for _, strike := range c.Only {
		if strike.Operation == Notification && c.Notify == nil {
			return nil, fmt.Errorf("sweep: %s needs -notify, the address at which your program receives notifications, such as "+
				"-notify http://127.0.0.1:{port}/ (in Go: Config.Notify)", strike)
		}
		names = append(names, strike.Fault)
	}
	for _, name := range names {
		f, err := c.fault(name)
		switch {
		case err != nil:
			return nil, err
		case f.Name == Kill && !c.Restart:
			return nil, fmt.Errorf("sweep: the fault %s needs -restart, to start the program again (in Go: Config.Restart)",
				name)
		case f.rule.Fault.Duration < 0:
			return nil, fmt.Errorf("sweep: the fault %s needs -patience, how long the program waits (in Go: Config.Patience)",
				name)
		}
	}
	return &c, nil
}

// tries reports whether a fault is among those to try.
func (c *Config) tries(f Fault) bool {
	inSocket := f.rule.Fault.Kind == fault.Reset().Kind // in memory, it does not differ from another fault
	unfit := f.Name == Kill && !c.Restart || inSocket && c.inMemory || f.rule.Fault.Duration < 0
	return !unfit && (len(c.Faults) == 0 || slices.Contains(c.Faults, f.Name))
}

// notTried returns what the settings leave out; nothing if they repeat a single run.
func (c *Config) notTried() []string {
	all := map[string]bool{"killing and restarting the program (-restart)": c.Restart,
		"two faults in one run (-pairs)": c.Pairs}
	maps.DeleteFunc(all, func(_ string, tried bool) bool { return tried || len(c.Only) > 0 })
	return slices.Sorted(maps.Keys(all))
}

// fault looks a fault up.
func (c *Config) fault(name string) (Fault, error) {
	var names []string
	for _, f := range faults(c.Patience) {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Fault{}, fmt.Errorf("sweep: unknown fault %q%s", name, spelling.Suggestion(name, names))
}
