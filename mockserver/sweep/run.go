package sweep

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/internal/wait"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Outcome describes how a program ended.
type Outcome struct {
	// Success is true if the program reported success, such as by exit code 0.
	Success bool
	// How describes the end, such as "exit code 1".
	How string
	// Output is the end of what the program printed.
	Output string
	// Files is the content of the files of [Goal.Files] that exist.
	Files map[string]string
}

// run is a run of the program. Every run has its own server: documents are downloaded without a key, so that worlds of
// one server, whose requests have the same ids, could not be distinguished.
type run struct {
	RunResult
	config   *Config
	server   *mockserver.Server
	notifier *notifier
	last     string // id of the last request before the program started
	out      Outcome
	again    time.Time // when the program was started again, by the world's clock; zero if it was not

	// What the world shows after the run.
	calls      []journal.Entry
	unknown    []journal.Entry // requests without a secret key of the world
	lint       []journal.Finding
	did        Goal            // the documents that were purchased, and the notifications that the program has caused
	received   []string        // notifications that a receiver has accepted
	unaccepted []unaccepted    // the others
	charged    map[string]bool // request ids
	unfinished []string
	failed     bool // a fault made a document fail
}

// open starts a server whose world is ready for a run.
func open(c *Config, schedule Schedule) (*run, error) {
	r := &run{RunResult: RunResult{Schedule: schedule.String(), schedule: schedule}, config: c,
		notifier: newNotifier(c, schedule)}
	options := slices.Concat([]mockserver.Option{
		mockserver.WithJournal(16<<10, 64<<10), mockserver.WithDeliveryTransport(r.notifier),
	}, c.Options)
	if c.inMemory {
		options = append(options, mockserver.WithoutListener())
	}
	r.server = mockserver.New(options...)
	err := r.server.Err()
	if err == nil && c.Setup != nil {
		err = c.Setup(r.server.World)
	}
	if err == nil {
		r.last = latest(r.server.World)
		r.notifier.begin(r.server.World)
		err = r.server.Inject(schedule.rules(c)...)
	}
	if err != nil {
		r.server.Close()
		return nil, err
	}
	return r, nil
}

// latest returns the id of the latest request.
func latest(w *mockserver.World) string {
	if calls := w.Journal(); len(calls) > 0 {
		return calls[len(calls)-1].ID
	}
	return ""
}

// execute runs the program, a second time if it was killed or failed and is to be restarted.
func (r *run) execute(ctx context.Context, execute Execute, number int) (err error) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	a := Execution{World: r.server.World, Run: number}
	if r.config.Notify != nil {
		notifying, stop := context.WithCancel(limited)
		ended := make(chan struct{})
		var failure error
		go func() {
			defer close(ended)
			failure = r.notifier.emit(notifying, r.server, r.config, r.config.Quiet+r.schedule.retryAfter())
		}()
		a.End = ended
		defer func() {
			stop()
			<-ended
			err = cmp.Or(context.Cause(ctx), failure)
		}()
	}
	defer r.notifier.end()
	running, kill := context.WithCancel(limited)
	if r.schedule.kills() {
		r.notifier.killWith(kill)
		go r.killAfterRequest(running, kill)
	}
	r.out = execute(running, a)
	r.notifier.killWith(nil)
	kill()
	if limited.Err() == nil && r.config.Restart && len(r.schedule) > 0 && !r.out.Success {
		// The pause also separates the times of the requests of both starts. If the context ends in it, so does the run.
		_ = wait.Sleep(limited, max(r.schedule.retryAfter(), time.Millisecond))
		first := r.out
		r.Restarted, r.again, r.restart = true, r.server.Now(), "-- "+first.How+"; started again --\n"
		r.out = execute(limited, a)
		if first.Output+r.out.Output != "" {
			r.out.Output = strings.TrimLeft(strings.TrimSpace(first.Output)+"\n"+r.restart+r.out.Output, "\n")
		}
		r.out.How = first.How + ", then " + r.out.How
	}
	if limited.Err() != nil {
		r.find(TimedOut, "the program did not end within %s", r.config.Timeout)
	}
	r.Seconds = time.Since(began).Seconds()
	return context.Cause(ctx)
}

// killAfterRequest ends the program once the response to the request that the schedule names is ready. The response is
// held back, so that the program cannot continue.
func (r *run) killAfterRequest(ctx context.Context, kill context.CancelFunc) {
	for _, strike := range r.schedule {
		if strike.Fault != Kill || strike.Operation == Notification {
			continue
		}
		after := r.last
		for range strike.Nth {
			call, err := r.server.Await(ctx, journal.Query{Operation: strike.Operation, After: after}, 0)
			if err != nil {
				return
			}
			after = call.ID
		}
		kill()
	}
}

// observe waits until the world is idle and reads its state.
func (r *run) observe(ctx context.Context) error {
	w := r.server.World
	r.failed = slices.ContainsFunc(w.Faults(),
		func(i fault.Injected) bool { return i.Point == fault.Generation && i.Struck > 0 })
	w.ClearFaults()
	idle(ctx, r.server, r.config.Timeout)
	r.calls, r.unknown, r.lint = w.Find(journal.Query{After: r.last}), r.server.Unauthenticated(), w.Findings()
	r.did, r.charged = Goal{Documents: map[string][]string{}, Notifications: []string{},
		Files: r.config.Goal.Files}, map[string]bool{}
	for _, d := range r.notifier.deliveries() {
		what := fmt.Sprintf("%s of %s to %s", d.Event, d.ShipmentID, d.WebhookID)
		if !r.notifier.emitted[d.ID] {
			r.did.Notifications = append(r.did.Notifications, what)
		}
		if d.State == notify.Delivered {
			r.received = append(r.received, what)
		} else if d.State != notify.Refused { // the seeded webhooks have targets on other machines
			r.unaccepted = append(r.unaccepted, unaccepted{what, attempts(d)})
		}
	}
	client, err := shipping.NewClient(w.SecretKey, shipping.WithBaseURL(w.URL), shipping.WithPlainHTTP(),
		shipping.WithHTTPClient(&http.Client{Transport: w.Transport()}))
	if err != nil {
		return err
	}
	for _, id := range purchased(r.calls) {
		request, err := client.Regulatory.Get(ctx, id)
		if err == nil { // otherwise the program named an unknown request
			r.count(request)
		}
	}
	for _, documents := range r.did.Documents {
		slices.Sort(documents)
	}
	slices.Sort(r.did.Notifications)
	if err := w.Check(); err != nil {
		return fmt.Errorf("sweep: the data of the server contradicts itself, which is a bug in it: %w", err)
	}
	r.How, r.Output, r.Requests = r.out.How, r.out.Output, r.notifier.merge(learn(r.calls))
	r.markStruck()
	return ctx.Err()
}

// unaccepted is a notification that no receiver has accepted.
type unaccepted struct{ what, attempts string }

// attempts describes the attempts to deliver a notification.
func attempts(d notify.Delivery) string {
	var all []string
	for _, attempt := range d.Attempts {
		how := attempt.Error
		if attempt.StatusCode != 0 {
			how = fmt.Sprint("status ", attempt.StatusCode)
		}
		all = append(all, how)
	}
	if different := distinct(all); len(different) == 1 {
		return fmt.Sprintf("%s: %s", spelling.Counted(len(all), "attempt", "attempts"), all[0])
	}
	return cmp.Or(strings.Join(all, ", then "), string(d.State))
}

// listed lists notifications, those with the same attempts together.
func listed(all []unaccepted) string {
	names, texts := map[string][]string{}, []string{}
	for _, u := range all {
		names[u.attempts] = append(names[u.attempts], u.what)
	}
	for _, attempts := range slices.Sorted(maps.Keys(names)) {
		texts = append(texts, fmt.Sprintf("%s (%s)", strings.Join(names[attempts], ", "), attempts))
	}
	return strings.Join(texts, "; ")
}

func (r *run) count(request *shipping.RegulatoryRequest) {
	// A draft can show its price as its charge.
	if request.Status == shipping.StatusDraft || !request.ChargedAmount.Known() || request.ChargedAmount.Sign() <= 0 {
		return
	}
	r.charged[request.RequestID] = true
	subject := cmp.Or(request.ShipmentID, request.FileURL)
	for _, d := range request.Documents {
		r.did.Documents[subject] = append(r.did.Documents[subject], string(d.DocumentType))
	}
	if request.Status != shipping.StatusCompleted {
		r.unfinished = append(r.unfinished, fmt.Sprintf("%s for %s is %s, and %s %s was spent",
			request.RequestID, subject, request.Status, request.ChargedAmount, request.Currency))
	}
}

// idle waits until no request is in progress, such as one that the program abandoned, and nothing is pending in the
// world, such as a document under generation or a notification.
func idle(ctx context.Context, server *mockserver.Server, limit time.Duration) {
	pause, until := time.Millisecond, time.Now().Add(limit)
	for busy(server) && time.Now().Before(until) && wait.Sleep(ctx, pause) == nil {
		pause = min(2*pause, time.Second)
	}
}

func busy(server *mockserver.Server) bool {
	return server.Active() > 0 || server.Pending() > 0 || slices.ContainsFunc(server.Deliveries(),
		func(d notify.Delivery) bool { return d.State == notify.Queued })
}
