package receivers

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"
)

// Run tests the store with two processes. It needs functions of the assignment's server: interrupt ends
// its clients' connections; stop and start stop it and start it again; it must have kept every
// acknowledged write.
func Run(t *testing.T, a Assignment, interrupt, stop, start func() error) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, a Assignment)
	}{
		{"duplicates at the same time are handled once", duplicates},
		{"the notifications of a killed receiver are handled by the other", killed},
		{"connections that end lose nothing", func(t *testing.T, a Assignment) { interrupted(t, a, interrupt) }},
		{"while the server is away nothing is accepted", func(t *testing.T, a Assignment) { away(t, a, stop, start) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			own := a
			own.Name += " " + test.name
			test.run(t, own)
		})
	}
}

func duplicates(t *testing.T, a Assignment) {
	const deliveries, duplicates = 40, 6
	a.Lease = time.Minute // no claim expires, however slow the machine
	log := newLog()
	one, other := start(t, a, log), start(t, a, log)
	together(deliveries*duplicates, func(n int) {
		id, both := fmt.Sprint("WD-", n%deliveries), []*process{one, other}
		if n/deliveries%2 == 0 {
			slices.Reverse(both)
		}
		deliverUntilAccepted(t, id, both...)
	})
	one.kill()
	other.kill()
	for n := range deliveries {
		if id := fmt.Sprint("WD-", n); log.count("handled "+id) != 1 {
			t.Errorf("%s was handled %d times", id, log.count("handled "+id))
		}
	}
}

// killed has one of two receivers die with a notification in hand, and others on their way.
func killed(t *testing.T, a Assignment) {
	const deliveries = 30
	log := newLog()
	victim, survivor := start(t, a, log), start(t, a, log)
	var inHand sync.WaitGroup
	inHand.Go(func() {
		if status := victim.deliver("held"); status != 0 {
			t.Errorf("an unhandled notification got the status %d", status)
		}
	})
	log.await("begun held")
	if status := survivor.deliver("held"); status != http.StatusServiceUnavailable {
		t.Errorf("the notification that another receiver has got %d", status)
	}
	acceptedBy := make([]*process, deliveries)
	var half sync.WaitGroup
	half.Add(deliveries / 2)
	var dies sync.WaitGroup
	dies.Go(func() {
		half.Wait()
		victim.kill()
	})
	together(deliveries, func(n int) {
		acceptedBy[n] = deliverUntilAccepted(t, fmt.Sprint("WD-", n), victim, survivor)
		if n < deliveries/2 {
			half.Done()
		}
	})
	dies.Wait()
	inHand.Wait()
	survivor.release(t)
	deliverUntilAccepted(t, "held", survivor)
	survivor.kill()
	if log.count("begun held") != 2 || log.count("handled held") != 1 {
		t.Errorf("the notification of the killed receiver was begun %d times and handled %d times", log.count("begun held"), log.count("handled held"))
	}
	for n, by := range acceptedBy {
		// The survivor handles again the notifications that the victim handled without a response.
		most := 1
		if by == survivor {
			most = 2
		}
		if id := fmt.Sprint("WD-", n); log.count("handled "+id) < 1 || log.count("handled "+id) > most {
			t.Errorf("%s was handled %d times", id, log.count("handled "+id))
		}
	}
}

// interrupted has the server end its connections again and again.
func interrupted(t *testing.T, a Assignment, interrupt func() error) {
	const deliveries = 60
	log := newLog()
	one, other := start(t, a, log), start(t, a, log)
	var oneAtATime sync.Mutex // so that they do not end each other's
	together(deliveries, func(n int) {
		deliverUntilAccepted(t, fmt.Sprint("WD-", n), one, other)
		if n%5 == 0 {
			oneAtATime.Lock()
			defer oneAtATime.Unlock()
			if err := interrupt(); err != nil {
				t.Error(err)
			}
		}
	})
	one.kill()
	other.kill()
	for n := range deliveries {
		if id := fmt.Sprint("WD-", n); log.count("handled "+id) != 1 {
			t.Errorf("%s was handled %d times", id, log.count("handled "+id))
		}
	}
}

// away has the server stop while notifications are in hand, one of which fails.
func away(t *testing.T, a Assignment, stopServer, startServer func() error) {
	log := newLog()
	receiver := start(t, a, log)
	deliverUntilAccepted(t, "WD-before", receiver)
	var inHand sync.WaitGroup
	for id, want := range map[string]int{"held": http.StatusOK, "failing": http.StatusServiceUnavailable} {
		inHand.Go(func() {
			// A handled notification gets a 2xx, although the store cannot record it.
			if status := receiver.deliver(id); status != want {
				t.Errorf("%s got the status %d, want %d", id, status, want)
			}
		})
		log.await("begun " + id)
	}
	if err := stopServer(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"WD-new", "WD-before"} {
		if status := receiver.deliver(id); status != http.StatusServiceUnavailable {
			t.Errorf("without the server %s got the status %d", id, status)
		}
	}
	receiver.release(t)
	inHand.Wait()
	if err := startServer(); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"WD-new", "WD-before", "failing"} {
		deliverUntilAccepted(t, id, receiver)
	}
	receiver.kill()
	for _, id := range []string{"WD-new", "WD-before", "failing", "held"} {
		if n := log.count("handled " + id); n != 1 {
			t.Errorf("%s was handled %d times", id, n)
		}
	}
}

// together runs do at the same time, with the numbers below n.
func together(n int, do func(n int)) {
	var all sync.WaitGroup
	for n := range n {
		all.Go(func() { do(n) })
	}
	all.Wait()
}
