// Quickstart calls every operation of the shipping service once and explains the results: countries, rates,
// webhooks, a wallet, regulatory documents from analysis to completion, the debit they leave, and a
// webhook notification sent again.
//
//	go run ./examples/quickstart
//
// It needs no set-up: it starts the reference server itself. If SHIPPING_BASE_URL and SHIPPING_SECRET_KEY are set, it
// uses that service instead, with the records of -wallet, -shipment, -invoice and -webhook, and asks before it spends.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

const usage = `Quickstart calls every operation of the shipping service once and explains the results.

  quickstart                                 a demonstration on the reference server
  quickstart -wallet VA-… -shipment SH-…     your service, with these records

SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service. It asks before it spends money there.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "\nquickstart: interrupted")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "\nquickstart:", err)
		os.Exit(1)
	}
}

// scene is the client and the records of the story.
type scene struct {
	client    *shipping.Client
	wallet    string
	shipment  string
	invoice   string
	webhook   string
	embedded  bool
	yes       bool
	in        *bufio.Reader
	delivered chan notification // the deliveries to the local receiver; nil without one
	purchase  *shipping.PurchaseResult
	price     shipping.Amount // of the documents to purchase, on the draft
	chosen    []shipping.DocumentType
	out       printer
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	s := &scene{in: bufio.NewReader(in), out: newPrinter(out)}
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&s.wallet, "wallet", "", "`wallet` to read, such as VA-0123456789")
	flags.StringVar(&s.shipment, "shipment", "", "`shipment` to make documents for, such as SH-7Q2M…")
	flags.StringVar(&s.invoice, "invoice", "", "`URL` of an uploaded commercial invoice")
	flags.StringVar(&s.webhook, "webhook", "", "`webhook` to replay a notification to, such as WA-0123456789")
	flags.BoolVar(&s.yes, "yes", false, "purchase without asking")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var err error
	if os.Getenv(shipping.EnvBaseURL) != "" {
		s.client, err = shipping.NewClientFromEnv()
	} else {
		var leave func()
		leave, err = s.embed()
		defer leave()
	}
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// embed starts the reference server and a receiver for its notifications, and fills in what the flags
// left open.
func (s *scene) embed() (leave func(), err error) {
	server := mockserver.New()
	s.delivered = make(chan notification, 1)
	receiver := httptest.NewServer(receive(server.SecretKey, s.delivered))
	leave = func() { server.Close(); receiver.Close() }
	if err := server.Err(); err != nil {
		return leave, err
	}
	s.embedded = true
	s.wallet, s.shipment, s.invoice = or(s.wallet, server.Wallets()[0]), or(s.shipment, server.Shipments()[0]), or(s.invoice, server.Invoices()[0])
	if s.webhook == "" {
		if s.webhook, err = server.AddWebhook(notify.Webhook{Name: "Quickstart", URL: receiver.URL}); err != nil {
			return leave, err
		}
	}
	s.client, err = shipping.NewClient(server.SecretKey,
		shipping.WithBaseURL(server.URL), shipping.WithHTTPClient(&http.Client{}))
	return leave, err
}

func or(given, otherwise string) string {
	if given != "" {
		return given
	}
	return otherwise
}

// maySpend asks, unless the money is pretend or -yes was given.
func (s *scene) maySpend(price string) bool {
	if s.embedded || s.yes {
		return true
	}
	s.out.ask("Spend %s from the wallet? [y/N] ", price)
	answer, _ := s.in.ReadString('\n') // an empty answer is a no
	return strings.HasPrefix(strings.ToLower(strings.TrimSpace(answer)), "y")
}
