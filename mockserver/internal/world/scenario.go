package world

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
)

// The largest worlds that a scenario may have.
const (
	maxListed = 100_000_000 // computed, so they take no memory
	maxStored = 100_000     // of the records of all worlds
	// maxShipments is the largest number of seeded shipments. AddShipment can add more.
	maxShipments = 10_000
	maxSeed      = 1<<31 - 1
)

// ScenarioWord is one term of a scenario, and its effect. The N at the end of a term stands for a number.
type ScenarioWord struct {
	Word    string `json:"word"`
	Summary string `json:"summary"`
	Max     int    `json:"max,omitempty"` // the largest number; 0 for a term without one

	apply func(w *worldPlan, n int)
}

// Scenarios returns every term that a key may contain.
func Scenarios() []ScenarioWord {
	return []ScenarioWord{
		{Word: "default", Summary: "the seeded world, like the home world", apply: func(*worldPlan, int) {}},
		{Word: "seedN", Max: maxSeed, Summary: "the seeded world of another random seed",
			apply: func(w *worldPlan, n int) { w.Seed = uint64(n) }},
		{Word: "empty", Summary: "empty wallets, and nothing else", apply: func(w *worldPlan, _ int) { w.Empty = true }},
		{Word: "lowfunds", Summary: "every wallet holds 1.00 of its currency",
			apply: func(w *worldPlan, _ int) { w.LowFunds = true }},
		{Word: "rowsN", Max: maxListed, Summary: "the first wallet lists N transactions, computed on request",
			apply: func(w *worldPlan, n int) { w.Computed = n }},
		{Word: "historyN", Max: maxStored, Summary: "N payments from the wallets, all stored and in the ledger",
			apply: func(w *worldPlan, n int) { w.Payments = n }},
		{Word: "shipmentsN", Max: maxShipments, Summary: "N shipments", apply: func(w *worldPlan, n int) { w.Shipments = n }},
		{Word: "instant", Summary: "documents are generated at the next tick of the clock",
			apply: func(w *worldPlan, _ int) { w.dialect.Time.Generation = -1 }},
		{Word: "capN", Max: 10_000, Summary: "pages have at most N records, regardless of perPage",
			apply: func(w *worldPlan, n int) { w.dialect.List.MaxPerPage = n }},
		{Word: "recent", Summary: "the history ends at the last 09:30 UTC instead of 2026-01-05",
			apply: func(w *worldPlan, _ int) { w.Later = seed.Recent(time.Now()) }},
		{Word: "virtual", Summary: "time moves only when the world is advanced",
			apply: func(w *worldPlan, _ int) { w.virtual = true }},
		{Word: "real", Summary: "time is real, even if the home world has a virtual clock",
			apply: func(w *worldPlan, _ int) { w.virtual = false }},
	}
}

// worldPlan is the plan of a world, as given by a scenario.
type worldPlan struct {
	seed.Plan
	Scenario string   // the terms
	dialect  Dialect  // as declared
	resolved *Dialect // with the defaults
	shapes   bool     // whether it changes the format of responses
	virtual  bool
}

// decide changes the dialect by another one, checks it, and fills in the defaults.
func (w *worldPlan) decide(over *Dialect) error {
	w.dialect.Overlay(over)
	w.resolved = w.dialect.Resolved()
	d := &w.dialect
	for _, group := range []any{d.Record, d.Offer, d.Document, d.Purchase, d.Refusal} {
		w.shapes = w.shapes || !reflect.ValueOf(group).IsZero()
	}
	return d.Check()
}

// notJoined returns the error of a scenario whose terms are not joined with hyphens.
func notJoined(scenario string) error {
	joined := strings.NewReplacer(" ", "", ",", "-", "_", "-").Replace(scenario)
	return fmt.Errorf("unknown scenario %q: join terms with a hyphen: %q", scenario, joined)
}

// planFor returns the plan for a scenario, or an error if a term is invalid.
func (c *Settings) planFor(scenario string) (worldPlan, error) {
	w := worldPlan{
		Plan:     seed.Plan{Seed: c.Seed},
		Scenario: scenario, dialect: c.Dialect, virtual: c.Virtual,
	}
	known := Scenarios()
	var words, used []string
	for _, s := range known {
		words = append(words, s.Word)
	}
	for text := range strings.SplitSeq(scenario, "-") {
		word := strings.TrimRight(text, "0123456789")
		number := text[len(word):]
		i := slices.IndexFunc(known, func(s ScenarioWord) bool {
			return strings.TrimSuffix(s.Word, "N") == word && (s.Max > 0) == (number != "")
		})
		if i < 0 && strings.ContainsAny(scenario, ",_") {
			return w, notJoined(scenario)
		}
		if i < 0 {
			if whole := strings.ReplaceAll(scenario, "-", ""); slices.Contains(words, whole) {
				return w, fmt.Errorf("unknown scenario %q: did you mean %q?", scenario, whole)
			}
			if number != "" {
				word += "N"
			}
			return w, fmt.Errorf("unknown scenario %q%s", text, spelling.Suggestion(word, words))
		}
		if slices.Contains(used, known[i].Word) {
			return w, fmt.Errorf("scenario %q contradicts itself: it has %s twice", scenario, known[i].Word)
		}
		used = append(used, known[i].Word)
		n := 0
		if number != "" {
			var err error
			if n, err = strconv.Atoi(number); err != nil || n < 1 || n > known[i].Max {
				return w, fmt.Errorf("scenario %q: the number must be from 1 to %d", text, known[i].Max)
			}
		}
		known[i].apply(&w, n)
	}
	if slices.Contains(used, "virtual") && slices.Contains(used, "real") {
		return w, fmt.Errorf("scenario %q contradicts itself: time is virtual or real", scenario)
	}
	if w.Empty && (w.LowFunds || w.Computed > 0 || w.Payments > 0 || w.Shipments > 0) || w.Computed > 0 && w.Payments > 0 {
		return w, fmt.Errorf("scenario %q contradicts itself: an empty world has neither money, shipments nor rows, and "+
			"rows are either computed or stored", scenario)
	}
	return w, nil
}
