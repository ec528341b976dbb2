// Package receivers tests a [webhook.Store] with receivers in separate processes: they share
// the store, get the same deliveries at the same time, are killed, and lose their connections.
//
// A package that tests its store has [Work] in its TestMain, for the processes that the tests start.
package receivers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping/webhook"
)

// variable holds the assignment of a process that a test started.
const variable = "STORES_TEST_RECEIVER"

// key signs the deliveries.
const key = "sk_test_receivers"

// Assignment is the store that a process shares with others.
type Assignment struct {
	Server string // where the store's server is
	Name   string // which of its stores
	Lease  time.Duration
}

// Assigned reports whether this process was started to receive.
func Assigned() bool { return os.Getenv(variable) != "" }

// Work receives with the store of the assignment until it is killed, and returns the exit code. It
// writes "listening ADDRESS", and for each notification "begun ID" and "handled ID".
func Work(open func(context.Context, Assignment) (webhook.Store, error)) int {
	if err := work(context.Background(), open); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return 1
}

func work(ctx context.Context, open func(context.Context, Assignment) (webhook.Store, error)) error {
	var a Assignment
	if err := json.Unmarshal([]byte(os.Getenv(variable)), &a); err != nil {
		return err
	}
	store, err := open(ctx, a)
	if err != nil {
		return err
	}
	released := make(chan struct{})
	go func() {
		if bufio.NewScanner(os.Stdin).Scan() {
			close(released)
		}
	}()
	receiver, err := webhook.NewReceiver(handler(released), webhook.WithKeys(key), webhook.WithStore(store), webhook.WithInline())
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("listening", listener.Addr())
	return http.Serve(listener, receiver)
}

// handler handles at once, but for two kinds of notifications: those named held… it holds until the
// test releases the process, and of those named failing… it fails the first after that.
func handler(released <-chan struct{}) webhook.Handler {
	var failed sync.Map
	return func(_ context.Context, n *webhook.Notification) error {
		fmt.Println("begun", n.ID)
		fails := strings.HasPrefix(n.ID, "failing")
		if fails || strings.HasPrefix(n.ID, "held") {
			<-released
		}
		if _, before := failed.LoadOrStore(n.ID, true); fails && !before {
			return errors.New("as the test wants it")
		}
		fmt.Println("handled", n.ID)
		return nil
	}
}
