// Drift compares a service's responses with the specification: unknown fields, missing fields, values of another type.
// It reads one page of each list and, if a shipment or an invoice is given, analyzes it, which leaves a draft. It never
// buys.
//
//	go run ./examples/drift                                           # the reference server itself
//	go run ./examples/drift -wallet VA-0123456789 -shipment SH-7Q2M…
//	go run ./examples/drift -json -pages 10 -wallet VA-0123456789     # for a nightly job
//
// It exits with 1 if a field of the specification is missing or of another type. Unknown fields, and differences from
// this module's assumptions about a draft's entries, are only reported.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Drift compares a service's responses with the specification.

  drift                                      the reference server itself
  drift -wallet VA-… -shipment SH-…          your service: lists, and one draft; nothing is bought
  drift -json -pages 10 -wallet VA-…         for a nightly job

unknown   a field that the specification does not name; reported, never a failure
missing   a field that it names, or that is assumed, and that a response lacks
type      a value of another type

It exits with 1 if a field of the specification is missing or of another type, or if an operation fails.
SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "drift: interrupted")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "drift:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	i := &inspection{}
	flags := flag.NewFlagSet("drift", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&i.wallet, "wallet", "", "`wallet` whose transactions to read, such as VA-0123456789")
	flags.StringVar(&i.analyze.ShipmentID, "shipment", "", "`shipment` to analyze; this leaves a draft, and costs nothing")
	flags.StringVar(&i.analyze.FileURL, "invoice", "", "`URL` of an uploaded invoice to analyze instead")
	flags.IntVar(&i.pages, "pages", 1, "`number` of pages of each list to read")
	asJSON := flags.Bool("json", false, "write JSON: an array with an entry for each operation")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if i.pages < 1 {
		return errors.New("-pages must be at least 1")
	}
	leave, err := i.connect()
	defer leave()
	if err != nil {
		return err
	}
	results, err := i.inspect(ctx)
	if err != nil {
		return err
	}
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(results)
	} else {
		err = write(out, i.client.BaseURL(), results)
	}
	return errors.Join(err, verdict(results))
}

// connect makes the client. Without SHIPPING_BASE_URL it is one of the reference server.
func (i *inspection) connect() (leave func(), err error) {
	leave = func() {}
	if os.Getenv(shipping.EnvBaseURL) != "" {
		i.client, err = shipping.NewClientFromEnv(shipping.WithDriftReport(i.note))
		return leave, err
	}
	server := mockserver.New()
	leave = server.Close
	if err := server.Err(); err != nil {
		return leave, err
	}
	if i.wallet == "" {
		i.wallet = server.Wallets()[0]
	}
	if i.analyze == (shipping.AnalyzeRequest{}) {
		i.analyze.ShipmentID = server.Shipments()[0]
	}
	i.client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL), shipping.WithDriftReport(i.note))
	return leave, err
}
