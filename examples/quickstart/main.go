// Quickstart uses the shipping service from end to end and explains the results: countries, rates,
// webhooks, a wallet, regulatory documents from analysis to completion, the debit they leave, and a
// webhook notification sent again.
//
//	go run ./examples/quickstart
//
// It needs no set-up: it starts the reference server itself, whose money is pretend. examples/first is a program for
// your own service.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nquickstart:", err)
		os.Exit(1)
	}
}

// program holds what the steps share.
type program struct {
	client                    *shipping.Client
	wallet, shipment, webhook string
	out                       io.Writer
	server                    *mockserver.Server
	purchase                  *shipping.PurchaseResult
}

// run runs the steps on a server that it starts.
func run(ctx context.Context, out io.Writer) error {
	server := mockserver.New()
	defer server.Close()
	if err := server.Err(); err != nil {
		return err
	}
	inbox, err := server.AddWebhook(notify.Webhook{Name: "Quickstart", URL: notify.InboxURL})
	if err != nil {
		return err
	}
	client, err := shipping.NewClient(server.SecretKey, shipping.WithBaseURL(server.URL))
	if err != nil {
		return err
	}
	p := &program{client: client, wallet: server.Wallets()[0], shipment: server.Shipments()[0], webhook: inbox, out: out,
		server: server}
	return p.steps(ctx)
}

func (p *program) line(format string, args ...any) { fmt.Fprintf(p.out, "   "+format+"\n", args...) }

// steps prints each step of a shipment that crosses a border.
func (p *program) steps(ctx context.Context) error {
	fmt.Fprintf(p.out, "\nA shipment crosses a border\n%s (the reference server, started for this program; the money is "+
		"pretend)\n", p.server.URL)
	for i, step := range []struct {
		heading string
		run     func(context.Context) error
	}{
		{"Where can it go?", p.countries},
		{"What does it cost?", p.rates},
		{"Who is notified?", p.webhooks},
		{"Which transactions does the wallet have?", p.transactions},
		{"Which documents does a shipment need?", p.documents},
		{"What did it take from the wallet?", p.debit},
		{"Replay a notification", p.replay},
	} {
		fmt.Fprintf(p.out, "\n%d  %s\n", i+1, step.heading)
		if err := step.run(ctx); err != nil {
			return err
		}
	}
	_, err := fmt.Fprint(p.out,
		"\nThat was the whole service. Now your own program: see README.md, “Your first purchase”.\n\n")
	return err
}

func (p *program) countries(ctx context.Context) error {
	countries, err := p.client.Countries.List(ctx)
	if err != nil {
		return err
	}
	p.line("%d countries. Some of them:", len(countries))
	for _, c := range countries {
		if slices.Contains([]string{"GH", "KE", "NG", "US"}, c.ISOCode) {
			p.line("  %s  %-25s +%-4s %s", c.Flag, c.Name, c.PhoneCode, c.Currency)
		}
	}
	return nil
}

// rates reads every rate, and shows those of the parcel with the most.
func (p *program) rates(ctx context.Context) error {
	read, parcels, most := 0, map[string][]*shipping.Rate{}, ""
	for rate, err := range p.client.Rates.All(ctx, nil) {
		if err != nil {
			return err
		}
		read++
		if rate.Amount.Known() && !rate.Used { // a missing price is not 0
			of := rate.Parcel + rate.Currency // amounts in two currencies cannot be compared
			parcels[of] = append(parcels[of], rate)
			if len(parcels[of]) > len(parcels[most]) {
				most = of
			}
		}
	}
	p.line("%d rates. The parcel with the most, the cheapest first:", read)
	slices.SortFunc(parcels[most], func(a, b *shipping.Rate) int { return a.Amount.Cmp(b.Amount) })
	for _, rate := range parcels[most] {
		p.line("  %s  %14s  %-28s  %s", rate.Parcel, money(rate.Amount, rate.Currency), rate.CarrierName,
			strings.ToLower(rate.DeliveryTime))
	}
	return nil
}

func (p *program) webhooks(ctx context.Context) error {
	page, err := p.client.Webhooks.List(ctx, &shipping.WebhookListOptions{PerPage: 3})
	if err != nil {
		return err
	}
	p.line("%d webhooks. The first of the list:", page.Pagination.Total)
	for _, hook := range page.Items {
		p.line("  %s  %-22s %s", hook.WebhookID, hook.Name, list(hook.Event))
	}
	return nil
}

func (p *program) transactions(ctx context.Context) error {
	page, err := p.client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: p.wallet, PerPage: 4})
	if err != nil {
		return err
	}
	p.line("%s has %d transactions. The first of the list:", p.wallet, page.Pagination.Total)
	for i := range page.Items {
		p.transaction(&page.Items[i])
	}
	return nil
}

// documents is the main job, step by step. AnalyzeAndPoll does it in one call.
func (p *program) documents(ctx context.Context) error {
	draft, err := p.client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{ShipmentID: p.shipment})
	if err != nil {
		return err
	}
	p.line("%s has %d items, which need these documents. The draft %s costs nothing yet:", p.shipment,
		len(draft.LineItems), draft.RequestID)
	p.offers(draft)
	var chosen []shipping.DocumentType
	for _, offer := range draft.AvailableDocuments {
		if offer.Mode != "manual" { // a manual one waits for a third party's evidence
			chosen = append(chosen, offer.DocumentType)
		}
	}
	// Sole: this program created the draft and shares it with nobody. If the response is lost, a status other than draft
	// proves this purchase.
	purchase := &shipping.PurchaseRequest{RequestID: draft.RequestID, DocumentTypes: chosen, Draft: draft, Sole: true}
	if p.purchase, err = p.client.Regulatory.Purchase(ctx, purchase); err != nil {
		return err
	}
	p.line("Purchased the automated ones, once: %s.", list(chosen))
	p.line("The wallet was charged %s.", money(p.purchase.ChargedAmount, p.purchase.Currency))
	_, err = p.client.Regulatory.Wait(ctx, draft.RequestID, &shipping.PollOptions{
		MinInterval: 300 * time.Millisecond,
		Progress:    p.progress,
	})
	return err
}

func (p *program) progress(event shipping.PollEvent) {
	if event.Err != nil {
		p.line("  no response, retrying in %s", event.Next.Round(100*time.Millisecond))
		return
	}
	done, of := 0, len(event.Request.Documents)
	for _, document := range event.Request.Documents {
		if document.Status == "generated" {
			done++
		}
	}
	bar := strings.Repeat("████", done) + strings.Repeat("░░░░", of-done)
	p.line("  %s  %d of %d documents, %s", bar, done, of, event.Request.Status)
}

// offers prints the documents that a draft offers, and why they are needed.
func (p *program) offers(draft *shipping.RegulatoryRequest) {
	items := map[string]string{}
	for _, item := range draft.LineItems {
		items[item.ItemID] = item.Description
	}
	for _, offer := range draft.AvailableDocuments {
		why := ""
		if len(offer.Reasons) > 0 {
			reason := offer.Reasons[0]
			why = strings.ReplaceAll(reason.Rule, "_", " ") + " " + reason.Match
			if item := items[reason.ItemID]; item != "" {
				why += ": " + item
			}
		}
		p.line("  %-15s %14s  %-9s  %s", offer.DocumentType, money(offer.Amount, offer.Currency), offer.Mode, why)
	}
}

// debit shows the transaction of the purchase.
func (p *program) debit(ctx context.Context) error {
	for transaction, err := range p.client.Transactions.All(ctx, &shipping.TransactionListOptions{Wallet: p.wallet}) {
		if err != nil {
			return err
		}
		if transaction.TransactionID == p.purchase.TransactionID {
			p.transaction(transaction)
			return nil
		}
	}
	return fmt.Errorf("the list does not show the transaction %s", p.purchase.TransactionID)
}

func (p *program) replay(ctx context.Context) error {
	result, err := p.client.Webhooks.Replay(ctx, &shipping.ReplayRequest{
		ShipmentID: p.shipment, Event: shipping.EventShipmentCreated, WebhookID: p.webhook,
	})
	if err != nil {
		return err
	}
	p.line("%s for %s is queued as %s.", result.Event, result.ShipmentID, result.DeliveryID)
	received, err := p.server.AwaitInbox(ctx, 1, 10*time.Second)
	if err != nil {
		return err
	}
	p.line("The server's inbox received it: %d bytes, signature valid: %t.", len(received[0].Payload), received[0].Valid)
	return nil
}

func (p *program) transaction(t *shipping.Transaction) {
	amount := t.Amount
	if t.Flow == "out" {
		amount = amount.Neg()
	}
	p.line("  %s  %16s  %-8s %s", t.CreatedAt.Format("2006-01-02 15:04"), money(amount, t.Currency), t.Status,
		t.Description)
}

func money(amount shipping.Amount, currency string) string {
	return amount.StringFixed(2) + " " + currency
}

func list[T any](values []T) string { return strings.Trim(fmt.Sprint(values), "[]") }
