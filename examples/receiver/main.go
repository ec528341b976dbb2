// Receiver listens for webhook notifications and prints the changes of shipments: verified, each once, without those
// that arrive after newer ones. With -buy, it buys the documents of each new shipment instead.
//
//	go run ./examples/receiver                             # a demonstration on the reference server
//	SHIPPING_SECRET_KEY=sk_… go run ./examples/receiver -addr :8080
//	SHIPPING_SECRET_KEY=sk_… SHIPPING_BASE_URL=https://… \
//		go run ./examples/receiver -addr :8080 -buy shop -budget "250000 NGN"
//
// While a key is rotated, SHIPPING_PREVIOUS_SECRET_KEY holds the other one. Ctrl-C stops listening, and finishes the
// notifications that have arrived. A file remembers them, so that none is printed again after a restart.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

const usage = `Receiver listens for webhook notifications and prints the changes of shipments.

  receiver                                           a demonstration on the reference server
  SHIPPING_SECRET_KEY=sk_… receiver -addr :8080      listens until Ctrl-C
  … receiver -buy shop -budget "250000 NGN"        buys the documents of new shipments
                                                     at SHIPPING_BASE_URL

Notifications are verified with SHIPPING_SECRET_KEY or, while keys are rotated, with
SHIPPING_PREVIOUS_SECRET_KEY.

`

// envPreviousKey holds the other key while keys are rotated.
const envPreviousKey = "SHIPPING_PREVIOUS_SECRET_KEY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "receiver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, logs io.Writer) (err error) {
	flags := flag.NewFlagSet("receiver", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	addr := flags.String("addr", "127.0.0.1:8080", "`address` to listen on")
	deliveries := flags.String("store", "deliveries.store", "`file` that remembers handled deliveries across restarts")
	folder := flags.String("buy", "", "buy, and keep the records in this `folder`")
	budget := flags.String("budget", "", "with -buy: the most `money` to spend in a day")
	if err := flags.Parse(args); err != nil {
		return err
	}
	key := os.Getenv("SHIPPING_SECRET_KEY")
	switch {
	case key == "" && flags.NFlag() > 0:
		return errors.New("SHIPPING_SECRET_KEY is not set: export the secret key of the account; without options, receiver " +
			"runs a demonstration")
	case *folder == "" && *budget != "":
		return errors.New("-budget does nothing without -buy: add the folder for its records, such as -buy shop")
	case *folder != "" && *budget == "":
		return errors.New(`-buy needs -budget: pass the most to spend in a day, such as -budget "250000 NGN"`)
	case key == "":
		return demonstrate(ctx, out, logs)
	}
	keys := []string{key}
	if other := os.Getenv(envPreviousKey); other != "" {
		keys = append(keys, other)
	}
	store, err := webhook.OpenFileStore(*deliveries, webhook.StoreOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	logger, handle := slog.New(slog.NewTextHandler(logs, nil)), printer(out)
	if *folder != "" {
		shop, openErr := openShop(*folder, *budget, logger)
		if openErr != nil {
			return openErr
		}
		handle = shop.record
		stop := shop.start(ctx)
		defer func() { err = errors.Join(err, stop()) }()
	}
	receiver, err := newReceiver(handle, logger, store, keys...)
	if err != nil {
		return err
	}
	return listen(ctx, *addr, receiver, func(url string) error {
		_, err := fmt.Fprintf(logs, "Listening on %s, Ctrl-C ends\n", url)
		return err
	})
}

func newReceiver(handle webhook.Handler, logger *slog.Logger, store webhook.Store,
	keys ...string) (*webhook.Receiver, error) {
	return webhook.NewReceiver(handle, webhook.WithKeys(keys...), webhook.WithStore(store), webhook.WithLogger(logger))
}

// printer returns the function that is called for each notification, by several goroutines. This is where a shop would
// write to its database.
func printer(out io.Writer) webhook.Handler {
	lines, tracker := log.New(out, "", log.Ltime), &webhook.Tracker{}
	return func(_ context.Context, n *webhook.Notification) error {
		shipment, err := n.Shipment()
		if errors.Is(err, webhook.ErrNoShipment) {
			lines.Printf(" %-17s  not about a shipment", n.Event)
			return nil
		}
		if err != nil {
			return err // the service sends it again
		}
		note := ""
		if tracker.Late(shipment) {
			note = "late: older than the known state, ignored"
		} else if events := shipment.Events; len(events) > 0 {
			note = events[len(events)-1].Description
		}
		lines.Printf(" %-17s  %s  %-10s  %s", n.Event, shipment.ShipmentID, shipment.Status, note)
		return nil
	}
}

const path = "/hooks/shipping"

// listen receives until ctx ends, and then finishes the notifications that have arrived. ready is called with the
// address.
func listen(ctx context.Context, addr string, receiver http.Handler, ready func(url string) error) error {
	mux := http.NewServeMux()
	mux.Handle("POST "+path, receiver)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%w; choose another address with -addr", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err = ready("http://" + listener.Addr().String() + path)
	if err == nil {
		select {
		case err = <-ended:
		case <-ctx.Done():
		}
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, server.Shutdown(grace))
}

// demonstrate starts a server that notifies this receiver about two shipments: once in the wrong order, and once twice.
func demonstrate(ctx context.Context, out, logs io.Writer) error {
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil {
		return err
	}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	if err != nil {
		return err
	}
	receiver, err := newReceiver(printer(out), slog.New(slog.NewTextHandler(logs, nil)),
		webhook.NewMemoryStore(webhook.StoreOptions{}), server.SecretKey)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	return listen(ctx, "127.0.0.1:0", receiver, func(url string) error {
		defer stop()
		fmt.Fprintf(out, "A demonstration: the reference server notifies us at %s.\n\n", url)
		id, err := server.AddWebhook(notify.Webhook{Name: "Receiver", URL: url})
		if err != nil {
			return err
		}
		// The response to the second notification is lost, so it is sent twice.
		if err := server.Inject(fault.Rule{Nth: 2, Fault: fault.RepeatNotification()}); err != nil {
			return err
		}
		notifications, requests := 0, 0
		for i, shipment := range server.Shipments()[3:5] {
			deliveries := slices.DeleteFunc(server.Deliveries(),
				func(d notify.Delivery) bool { return d.ShipmentID != shipment })
			if i == 0 { // the oldest first; those of the other shipment are sent the newest first
				slices.Reverse(deliveries)
			}
			for _, missed := range deliveries {
				result, err := client.Webhooks.Replay(ctx, &shipping.ReplayRequest{DeliveryID: missed.ID, WebhookID: id})
				if err != nil {
					return err
				}
				delivery, err := server.WaitDelivery(ctx, result.DeliveryID)
				if err != nil {
					return err
				}
				notifications, requests = notifications+1, requests+len(delivery.Attempts)
			}
		}
		_, err = fmt.Fprintf(out,
			"\n%d notifications, each handled once. The server sent %d requests, because one response was lost.\n",
			notifications, requests)
		return err
	})
}
