package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
)

// rates writes the cheapest rate of each parcel.
func (j *job) rates(ctx context.Context) error {
	cheapest := map[string]*shipping.Rate{} // by parcel and currency: amounts in two currencies cannot be compared
	for rate, err := range j.client.Rates.All(ctx, nil) {
		if err != nil {
			return fmt.Errorf("rates.csv was not written; the next run writes it: %w", err)
		}
		of := rate.Parcel + " " + rate.Currency
		if best := cheapest[of]; rate.Amount.Known() && !rate.Used && (best == nil || rate.Amount.Cmp(best.Amount) < 0) {
			cheapest[of] = rate
		}
	}
	rows := [][]string{{"parcel", "rate", "carrier", "amount", "currency"}}
	for _, of := range slices.Sorted(maps.Keys(cheapest)) {
		r := cheapest[of]
		rows = append(rows, []string{r.Parcel, r.RateID, r.CarrierName, r.Amount.String(), r.Currency})
	}
	return j.write("rates.csv", rows)
}

// results writes the outcome and the charge of each shipment.
func (j *job) results(report *batch.Report) error {
	rows := [][]string{{"shipment", "state", "request", "night", "charged", "currency", "not bought", "note", "needs",
		"error"}}
	left, noted := map[batch.State]int{}, 0 // shipments with documents that were not bought
	for _, result := range report.Results {
		charged, others := "", []string{}
		if result.Charged.Known() { // else it is not 0
			charged = result.Charged.String()
		}
		for _, document := range result.NotSelected {
			others = append(others, string(document))
		}
		if left[result.State] += min(len(others), 1); result.Note != "" {
			noted += min(len(others), 1)
		}
		rows = append(rows, []string{result.Key, string(result.State), result.RequestID, result.Period, charged,
			result.ChargedCurrency, strings.Join(others, " "), result.Note, string(result.Need()), result.Reason()})
	}
	if completed, drafts := left[batch.StateCompleted], left[batch.StateDraft]; completed+drafts > 0 {
		fmt.Printf("not bought: documents of %d completed shipments (%d with a note may lack automated ones) and %d drafts, "+
			"see documents.csv: buy those that the parcels need, then run with -record\n", completed, noted, drafts)
	}
	return j.write("documents.csv", rows)
}

// causes writes why shipments are open.
func (j *job) causes(report *batch.Report) error {
	rows := [][]string{{"shipments", "state", "needs", "what to do", "error of the first", "ids"}}
	for _, cause := range report.Causes() {
		rows = append(rows, []string{fmt.Sprint(len(cause.Keys)), string(cause.State), string(cause.Need),
			openError{report, j}.action(cause), j.forOperators(cause.Err),
			strings.Join(cause.Keys[:min(len(cause.Keys), 1000)], " ")}) // documents.csv has all of them
	}
	return j.write("causes.csv", rows)
}
