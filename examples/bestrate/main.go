// Bestrate chooses among the rates of a parcel: the cheapest, the fastest, and those in between that no other rate
// beats in both price and speed.
//
//	go run ./examples/bestrate                            # a demonstration on the reference server
//	go run ./examples/bestrate -within 3d -insured        # only insured rates that arrive in three days
//	go run ./examples/bestrate -json | jq -r .cheapest.rate_id
//
// Prices in different currencies are never compared.
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
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

const usage = `Bestrate chooses among the rates of a parcel.

  bestrate                             a demonstration on the reference server
  bestrate -within 3d -currency NGN    the cheapest that arrives within three days
  bestrate -json | jq -r .cheapest.rate_id

It prints the rates that no other rate beats in both price and speed, the cheapest first.
SHIPPING_BASE_URL and SHIPPING_SECRET_KEY select the service.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "bestrate: interrupted")
		os.Exit(1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bestrate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	var filter shipping.RateFilter
	flags := flag.NewFlagSet("bestrate", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { fmt.Fprint(out, usage); flags.PrintDefaults() }
	flags.StringVar(&filter.Currency, "currency", "", "compare the rates in this `currency` only, such as NGN")
	flags.Func("within", "only rates that arrive within this `time`, such as 3d or 36h", func(text string) (err error) {
		filter.Within, err = within(text)
		return err
	})
	flags.Func("carriers", "`slugs` of the carriers to compare, with commas between them", func(text string) error {
		filter.Carriers = strings.Split(text, ",")
		return nil
	})
	flags.BoolVar(&filter.Insured, "insured", false, "only rates that include insurance")
	flags.BoolVar(&filter.Unused, "unused", false, "only rates that were not used yet")
	parcel := flags.String("parcel", "", "the `parcel`, such as PC-0123456789, or all (default that of the newest rate)")
	asJSON := flags.Bool("json", false, "write JSON: parcel, cheapest, fastest, and the front: rates that no other beats in price and speed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	client, leave, err := connect(&filter)
	defer leave()
	if err != nil {
		return err
	}
	var rates []*shipping.Rate
	for rate, err := range client.Rates.All(ctx, nil) {
		if err != nil {
			return err
		}
		rates = append(rates, rate)
	}
	c, err := choose(rates, *parcel, filter)
	switch {
	case errors.Is(err, shipping.ErrMixedCurrencies):
		return fmt.Errorf("the rates are in %s: choose one with -currency", currencies(rates, c.Parcel))
	case errors.Is(err, shipping.ErrNoRate):
		return fmt.Errorf("none of %d rates of parcel %s is left: relax -within, -insured, -unused, -carriers or -currency", c.Compared, c.Parcel)
	case err != nil:
		return err
	}
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(c)
	}
	return c.print(out)
}

// connect makes the client. The demonstration's server has prices in several currencies, and shows
// those in its first wallet's.
func connect(filter *shipping.RateFilter) (client *shipping.Client, leave func(), err error) {
	if os.Getenv(shipping.EnvBaseURL) != "" {
		client, err = shipping.NewClientFromEnv()
		return client, func() {}, err
	}
	server := mockserver.New()
	if err := server.Err(); err != nil {
		return nil, server.Close, err
	}
	if filter.Currency == "" {
		filter.Currency = "NGN"
	}
	client, err = shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	return client, server.Close, err
}

// within reads a duration that may be in days.
func within(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		var n int
		n, err = strconv.Atoi(days)
		d = time.Duration(n) * 24 * time.Hour
		if n > 36500 {
			err = strconv.ErrRange
		}
	}
	if err != nil || d <= 0 {
		return 0, errors.New("write it as 3d or 36h")
	}
	return d, nil
}

// choice is the result.
type choice struct {
	Parcel   string           `json:"parcel"`
	Compared int              `json:"compared"` // how many rates there are
	Cheapest *shipping.Rate   `json:"cheapest"`
	Fastest  *shipping.Rate   `json:"fastest"`
	Front    []*shipping.Rate `json:"front"`
}

func choose(rates []*shipping.Rate, parcel string, filter shipping.RateFilter) (c choice, err error) {
	var newest time.Time
	for _, rate := range rates {
		if c.Parcel == "" || rate.CreatedAt.After(newest) {
			c.Parcel, newest = rate.Parcel, rate.CreatedAt
		}
	}
	if parcel != "" {
		c.Parcel = parcel
	}
	var candidates []*shipping.Rate
	for _, rate := range rates {
		if c.Parcel == "all" || rate.Parcel == c.Parcel {
			candidates = append(candidates, rate)
		}
	}
	c.Compared = len(candidates)
	if c.Front, err = shipping.BestRates(candidates, filter); err != nil {
		return c, err
	}
	if c.Cheapest, err = shipping.CheapestRate(candidates, filter); err != nil {
		return c, err
	}
	c.Fastest, err = shipping.FastestRate(candidates, filter)
	return c, err
}

// print writes the front as a table, from the cheapest to the fastest.
func (c choice) print(out io.Writer) error {
	fmt.Fprintf(out, "Parcel %s: %d rates, %d to choose from\n\n", c.Parcel, c.Compared, len(c.Front))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, rate := range c.Front {
		mark := ""
		switch rate {
		case c.Cheapest:
			mark = "cheapest"
		case c.Fastest:
			mark = "fastest"
		}
		if c.Cheapest == c.Fastest {
			mark = "cheapest, fastest"
		}
		insured := "not insured"
		if rate.IncludesInsurance {
			insured = "insured"
		}
		fmt.Fprintf(table, "  %s\t%14s\t%s\t%s\t%s\t%s\n", mark, rate.Amount.StringFixed(2)+" "+rate.Currency,
			strings.ToLower(rate.DeliveryTime), rate.CarrierName, insured, rate.RateID)
	}
	return table.Flush()
}

// currencies names those of a parcel's rates, in the order of the list.
func currencies(rates []*shipping.Rate, parcel string) string {
	var names []string
	seen := map[string]bool{}
	for _, rate := range rates {
		if (parcel == "all" || rate.Parcel == parcel) && !seen[rate.Currency] {
			seen[rate.Currency] = true
			names = append(names, rate.Currency)
		}
	}
	return strings.Join(names, ", ")
}
