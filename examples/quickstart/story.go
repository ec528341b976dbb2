package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

var errDeclined = errors.New("nothing was purchased: the question was not answered with yes")

// run prints the chapters of the story.
func (s *scene) run(ctx context.Context) error {
	where := s.client.BaseURL()
	if s.embedded {
		where += " (the reference server, started for this program; the money is pretend)"
	}
	s.out.title("A shipment crosses a border", where)
	for _, chapter := range []struct {
		heading string
		needs   string
		flag    string
		run     func(context.Context) error
	}{
		{"Where can it go?", "-", "", s.countries},
		{"What does it cost?", "-", "", s.rates},
		{"Who is notified?", "-", "", s.webhooks},
		{"Which transactions does the wallet have?", s.wallet, "wallet", s.transactions},
		{"Which documents does an invoice need?", s.invoice, "invoice", s.analyzeInvoice},
		{"And the shipment? Analyze, purchase, wait", s.shipment, "shipment", s.documents},
		{"What did it take from the wallet?", s.wallet, "wallet", s.debit},
		{"Replay a notification", s.webhook, "webhook", s.replay},
	} {
		s.out.chapter(chapter.heading)
		if chapter.needs == "" {
			s.out.line("skipped: name one with -%s", chapter.flag)
			continue
		}
		switch err := chapter.run(ctx); {
		case errors.Is(err, errDeclined):
			s.out.line("%v", err)
		case err != nil:
			return err
		}
	}
	s.out.end("That was the whole service. Now your own program: see README.md, “Use it in a program”.")
	return nil
}

func (s *scene) countries(ctx context.Context) error {
	countries, err := s.client.Countries.List(ctx)
	if err != nil {
		return err
	}
	s.out.line("%d countries. Some of them:", len(countries))
	for _, country := range countries {
		if slices.Contains([]string{"GH", "KE", "NG", "US"}, country.ISOCode) {
			zone := ""
			if len(country.Timezones) > 0 {
				zone = country.Timezones[0].GMTOffsetName
			}
			s.out.row("%s  %-25s +%-4s %s  %s", country.Flag, country.Name, country.PhoneCode, country.Currency, zone)
		}
	}
	return nil
}

// rates compares the unused rates of one parcel in one currency. It takes the parcel with the most rates to choose
// from.
func (s *scene) rates(ctx context.Context) error {
	offers := map[string][]*shipping.Rate{}
	walked, started := 0, time.Now()
	for rate, err := range s.client.Rates.All(ctx, nil) {
		if err != nil {
			return err
		}
		walked++
		if rate.Amount.Known() && !rate.Used {
			offers[rate.Parcel+rate.Currency] = append(offers[rate.Parcel+rate.Currency], rate)
		}
	}
	s.out.line("%d rates read in %s.", walked, time.Since(started).Round(time.Millisecond))
	var best []*shipping.Rate // none of them is both cheaper and faster than another
	of := 0
	for _, parcel := range slices.Sorted(maps.Keys(offers)) {
		if choice := choices(offers[parcel]); len(choice) > len(best) {
			best, of = choice, len(offers[parcel])
		}
	}
	if len(best) == 0 {
		return nil
	}
	s.out.line("Parcel %s has %d of them; no rate is both cheaper and faster than one of these:", best[0].Parcel, of)
	for i, rate := range best {
		mark := map[int]string{0: "cheapest", len(best) - 1: "fastest"}[i]
		if len(best) == 1 {
			mark = "both"
		}
		s.out.row("%-9s %14s  %-24s %s", mark, money(rate.Amount, rate.Currency), rate.CarrierName, strings.ToLower(rate.DeliveryTime))
	}
	return nil
}

// choices returns the rates of which none is both cheaper and faster than another, the cheapest first.
func choices(rates []*shipping.Rate) []*shipping.Rate {
	slices.SortFunc(rates, func(a, b *shipping.Rate) int {
		return cmp.Or(a.Amount.Cmp(b.Amount), cmp.Compare(a.DeliveryETA, b.DeliveryETA), cmp.Compare(a.RateID, b.RateID))
	})
	var best []*shipping.Rate
	for _, rate := range rates {
		if rate.DeliveryETA > 0 && (len(best) == 0 || rate.DeliveryETA < best[len(best)-1].DeliveryETA) {
			best = append(best, rate)
		}
	}
	return best
}

func (s *scene) webhooks(ctx context.Context) error {
	page, err := s.client.Webhooks.List(ctx, &shipping.WebhookListOptions{PerPage: 3})
	if err != nil {
		return err
	}
	s.out.line("%d webhooks. The first of the list:", page.Pagination.Total)
	for _, webhook := range page.Items {
		kinds := make([]string, len(webhook.Event))
		for i, kind := range webhook.Event {
			kinds[i] = strings.TrimPrefix(string(kind), "shipment.")
		}
		state := "active"
		if !webhook.Active {
			state = "paused"
		}
		s.out.row("%s  %-22s %-7s %s", webhook.WebhookID, webhook.Name, state, strings.Join(kinds, ", "))
	}
	return nil
}

func (s *scene) transactions(ctx context.Context) error {
	page, err := s.client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: s.wallet, PerPage: 4})
	if err != nil {
		return err
	}
	s.out.line("%s has %d transactions. The first of the list:", s.wallet, page.Pagination.Total)
	for i := range page.Items {
		s.out.row("%s", transaction(&page.Items[i]))
	}
	return nil
}

func (s *scene) analyzeInvoice(ctx context.Context) error {
	draft, err := s.client.Regulatory.Analyze(ctx, &shipping.AnalyzeRequest{FileURL: s.invoice})
	if err != nil {
		return err
	}
	s.out.line("%s, read as %d items, needs:", s.invoice, len(draft.LineItems))
	s.offers(draft)
	s.out.line("We leave it a draft: drafts cost nothing.")
	return nil
}

// documents is the main job. What may be spent is bounded twice: by the selection and by the budget.
func (s *scene) documents(ctx context.Context) error {
	options := &shipping.AnalyzeAndPollOptions{
		Select: func(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
			s.out.line("%s became request %s: %d items, and these documents:", s.shipment, draft.RequestID, len(draft.LineItems))
			s.offers(draft)
			return s.choose(draft)
		},
		Poll:     shipping.PollOptions{MinInterval: 300 * time.Millisecond},
		Progress: s.progress,
	}
	request, err := s.client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: s.shipment}, options)
	if err != nil {
		return err
	}
	if request.Status != shipping.StatusCompleted {
		return nil
	}
	made := make([]string, len(s.chosen))
	for i, slug := range s.chosen { // the record need not list them
		made[i] = string(slug)
	}
	s.out.line("Completed: %s.", strings.Join(made, ", "))
	return nil
}

// choose selects the automated documents: a manual one would wait for a third party's evidence.
func (s *scene) choose(draft *shipping.RegulatoryRequest) ([]shipping.DocumentType, error) {
	var chosen []shipping.DocumentType
	for _, document := range draft.AvailableDocuments {
		if document.Mode != "manual" {
			chosen = append(chosen, document.DocumentType)
		}
	}
	if len(chosen) == 0 {
		s.out.line("Nothing to buy.")
		return nil, nil
	}
	price, currency, err := draft.Price(chosen...)
	if err != nil {
		return nil, err
	}
	s.price, s.chosen = price, chosen
	if !s.maySpend(money(price, currency)) {
		return nil, errDeclined
	}
	return chosen, nil
}

func (s *scene) offers(draft *shipping.RegulatoryRequest) {
	names := map[string]string{}
	for _, item := range draft.LineItems {
		names[item.ItemID] = item.Description
	}
	for _, document := range draft.AvailableDocuments {
		why := ""
		if len(document.Reasons) > 0 {
			reason := document.Reasons[0]
			why = fmt.Sprintf("%s %s", strings.ReplaceAll(reason.Rule, "_", " "), reason.Match)
			if name := names[reason.ItemID]; name != "" {
				why += ": " + name
			}
		}
		s.out.row("%-15s %14s  %s", document.DocumentType, money(document.Amount, document.Currency), why)
	}
}

func (s *scene) progress(event shipping.PollEvent) {
	switch event.Step {
	case shipping.StepPurchased:
		s.purchase = event.Purchase
		s.out.line("%s", confirmed(event.Purchase))
	case shipping.StepPolled, shipping.StepEnded:
		done := 0
		for _, document := range event.Request.Documents {
			if document.Status == "generated" {
				done++
			}
		}
		s.out.progress(done, len(event.Request.Documents), "%s, %s", event.Request.Status, event.Elapsed.Round(100*time.Millisecond))
	case shipping.StepPollFailed:
		s.out.progress(0, 0, "no response, retrying in %s", event.Next.Round(100*time.Millisecond))
	}
}

func (s *scene) replay(ctx context.Context) error {
	result, err := s.client.Webhooks.Replay(ctx, &shipping.ReplayRequest{
		ShipmentID: s.shipment, Event: shipping.EventShipmentCreated, WebhookID: s.webhook,
	})
	if err != nil {
		return err
	}
	s.out.line("%s for %s is queued as %s.", result.Event, result.ShipmentID, result.DeliveryID)
	if s.delivered == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case got := <-s.delivered:
		s.out.line("Our receiver got it: %s, %d bytes, signature %s.", got.event, got.bytes, got.verdict)
	}
	return nil
}

func transaction(t *shipping.Transaction) string {
	amount := t.Amount
	if t.Flow == shipping.FlowOut {
		amount = amount.Neg()
	}
	return fmt.Sprintf("%s  %16s  %-8s %s", t.CreatedAt.Format("2006-01-02 15:04"), money(amount, t.Currency), t.Status, t.Description)
}

// money writes thousands with commas: 28,640.50 NGN.
func money(amount shipping.Amount, currency string) string {
	whole, cents, _ := strings.Cut(amount.StringFixed(2), ".")
	for i := len(whole) - 3; i > 0 && whole[i-1] != '-'; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + "." + cents + " " + currency
}
