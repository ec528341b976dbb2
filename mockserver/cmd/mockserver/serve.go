package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"syscall"
	"time"

	"github.com/shipping-go/shipping/mockserver"
)

// shutdownPatience is how long requests under way may take once the server is asked to stop.
const shutdownPatience = 5 * time.Second

// ready is the line that -json prints once connections are accepted.
type ready struct {
	URL       string   `json:"url"`
	SecretKey string   `json:"secret_key"`
	Wallets   []string `json:"wallets"`
	Shipments []string `json:"shipments"`
	Invoices  []string `json:"invoices"`
	Webhooks  []string `json:"webhooks"`
	Console   string   `json:"console"`
}

// serve runs the server until the context ends.
func serve(ctx context.Context, p program) int {
	flags := flag.NewFlagSet("mockserver serve", flag.ContinueOnError)
	addr := flags.String("addr", "127.0.0.1:4010", "listen on this `address`; port 0 takes a free one")
	asJSON := flags.Bool("json", false, "print one line of JSON once connections are accepted, and nothing else")
	seed := flags.Uint64("seed", 1, "the `number` that the world follows from")
	clock := flags.String("clock", "real", "`real`, or virtual: time moves only by POST /_mock/clock/advance")
	anywhere := flags.Bool("deliver-anywhere", false, "send webhook notifications to other machines too")
	verbose := flags.Bool("verbose", false, "log to standard error")
	if code, done := parseFlags(flags, p); done {
		return code
	}
	opts := []mockserver.Option{mockserver.WithAddr(*addr), mockserver.WithSeed(*seed)}
	switch *clock {
	case "real":
	case "virtual":
		opts = append(opts, mockserver.WithVirtualClock(time.Time{}))
	default:
		fmt.Fprintf(p.stderr, "-clock %q is neither real nor virtual\n", *clock)
		usage(flags)
		return exitUsage
	}
	if *anywhere {
		opts = append(opts, mockserver.WithDeliveryTargets())
	}
	if *verbose {
		opts = append(opts, mockserver.WithLogger(slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	}

	srv := mockserver.New(opts...)
	defer srv.Close()
	if err := srv.Err(); err != nil {
		fmt.Fprintln(p.stderr, explain(err, *addr))
		return exitFailure
	}
	world := ready{
		URL: srv.URL, SecretKey: srv.SecretKey, Wallets: srv.Wallets(), Shipments: srv.Shipments(),
		Invoices: srv.Invoices(), Webhooks: srv.Webhooks(), Console: srv.URL + "/_mock/",
	}
	announce := banner
	if *asJSON {
		announce = func(w io.Writer, r ready) error { return json.NewEncoder(w).Encode(r) }
	}
	if err := announce(p.stdout, world); err != nil {
		fmt.Fprintln(p.stderr, "mockserver: cannot write to standard output:", err)
		return exitFailure
	}

	<-ctx.Done()
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		fmt.Fprintln(p.stderr, "mockserver: stopped with requests still under way:", err)
	}
	return exitOK
}

// explain says in plain words why the server did not start.
func explain(err error, addr string) string {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Sprintf("mockserver: %s is taken, perhaps by a server that still runs: stop it, or choose another with -addr 127.0.0.1:0", addr)
	}
	return err.Error()
}

// banner greets a person with lines to copy.
func banner(w io.Writer, r ready) error {
	_, err := fmt.Fprintf(w, `Reference server of the shipping service on %[1]s

  export SHIPPING_BASE_URL=%[1]s
  export SHIPPING_SECRET_KEY=%[2]s

  curl -H "Authorization: Bearer %[2]s" "%[1]s/v1/rates?perPage=2"
  curl -H "Authorization: Bearer %[2]s" "%[1]s/v1/transactions?wallet=%[3]s&perPage=2"
  curl -H "Authorization: Bearer %[2]s" -H "Content-Type: application/json" \
       -d '{"shipment_id":"%[4]s"}' %[1]s/v1/regulatory-documents/analyze

About the server itself: %[5]s   Stop it with Ctrl-C.
`, r.URL, r.SecretKey, r.Wallets[0], r.Shipments[0], r.Console)
	return err
}
