// Receiver listens for webhook notifications and prints the changes of shipments: verified, each once, without those
// that arrive after newer ones.
//
//	go run ./examples/receiver                             # a demonstration on the reference server
//	SHIPPING_SECRET_KEY=sk_… go run ./examples/receiver -addr :8080
//
// While a key is rotated, SHIPPING_PREVIOUS_SECRET_KEY holds the other one. Ctrl-C stops listening,
// finishes the accepted notifications, and ends.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/webhook"
)

const usage = `Receiver listens for webhook notifications and prints the changes of shipments.

  receiver                                           a demonstration on the reference server
  SHIPPING_SECRET_KEY=sk_… receiver -addr :8080      listens until Ctrl-C
  receiver -json | jq .                              a line of JSON for each notification

Notifications are verified with SHIPPING_SECRET_KEY or, while keys are rotated, with
SHIPPING_PREVIOUS_SECRET_KEY. The signature is an assumption: set the headers of
your service with -signature-header and -id-header.

`

// envPreviousKey holds the other key while keys are rotated.
const envPreviousKey = "SHIPPING_PREVIOUS_SECRET_KEY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp), errors.Is(err, context.Canceled):
	case err != nil:
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

// job holds the flags.
type job struct {
	addr, path string
	grace      time.Duration
	options    []webhook.Option
	print      *printer
}

func run(ctx context.Context, args []string, out, log io.Writer) error {
	j := &job{print: newPrinter(out)}
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&j.addr, "addr", "127.0.0.1:8080", "`address` to listen on")
	flags.StringVar(&j.path, "path", "/hooks/shipping", "`path` that notifications are sent to")
	flags.DurationVar(&j.grace, "grace", 10*time.Second, "the `time` to finish accepted notifications at the end")
	flags.BoolVar(&j.print.json, "json", false, "write a line of JSON for each notification")
	signature := flags.String("signature-header", webhook.DefaultSignatureHeader, "`header` that holds the signature")
	id := flags.String("id-header", webhook.DefaultIDHeader, "`header` that holds the delivery's identifier")
	if err := flags.Parse(args); err != nil {
		return err
	}
	j.options = []webhook.Option{
		webhook.WithSignature(*signature, webhook.Sign), webhook.WithIDHeader(*id),
		webhook.WithStore(&reportingStore{Store: webhook.NewMemoryStore(0, 0), again: j.print.again}),
		webhook.WithWorkers(1, 1024),                                // lines in the order they came
		webhook.WithLogger(slog.New(slog.NewTextHandler(log, nil))), // refused deliveries, with the reason
		webhook.WithLost(func(n *webhook.Notification, err error) { j.print.lost(n, err) }),
	}
	key := os.Getenv(shipping.EnvSecretKey)
	if key == "" {
		return j.demonstrate(ctx, log)
	}
	keys := []string{key}
	if other := os.Getenv(envPreviousKey); other != "" {
		keys = append(keys, other)
	}
	return j.listen(ctx, keys, func(url string) error {
		_, err := fmt.Fprintf(log, "Listening on %s, Ctrl-C ends\n", url)
		return err
	})
}

// listen receives until ctx ends, and then finishes the accepted notifications. ready is called with the address.
func (j *job) listen(ctx context.Context, keys []string, ready func(url string) error) error {
	receiver, err := webhook.NewReceiver(j.print.handle, append(j.options, webhook.WithKeys(keys...))...)
	if err != nil {
		return err
	}
	defer receiver.Close(ctx)
	mux := http.NewServeMux()
	mux.Handle(j.path, receiver)
	listener, err := net.Listen("tcp", j.addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with -addr", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err = ready("http://" + listener.Addr().String() + j.path)
	if err == nil {
		select {
		case err = <-ended:
		case <-ctx.Done():
		}
	}
	// First refuse new notifications, then finish those that got a 200.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.grace)
	defer cancel()
	unfinished := errors.Join(server.Shutdown(grace), receiver.Close(grace))
	if unfinished != nil {
		unfinished = fmt.Errorf("not everything was finished within -grace %s: %w", j.grace, unfinished)
	}
	return errors.Join(err, unfinished, j.print.close())
}

// reportingStore reports notifications that were accepted before.
type reportingStore struct {
	webhook.Store
	again func(id string)
}

func (s *reportingStore) Claim(ctx context.Context, id, claim string) (webhook.ClaimState, error) {
	state, err := s.Store.Claim(ctx, id, claim)
	if state == webhook.Accepted {
		s.again(id)
	}
	return state, err
}
