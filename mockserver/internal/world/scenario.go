package world

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/seed"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

// The largest worlds that a scenario may ask for.
const (
	maxListed = 100_000_000 // computed, so they take no memory
	maxStored = 300_000     // at about a kilobyte and a half each
	maxSeed   = 1<<31 - 1
)

// ScenarioWord is a word that a key may hold, and what it makes of a world. A word that takes a number ends in N.
type ScenarioWord struct {
	Word    string `json:"word"`
	Summary string `json:"summary"`
	Max     int    `json:"max,omitempty"` // the largest number; 0 for a word that takes none

	apply func(w *worldPlan, n int)
}

// Scenarios returns every word that a key may hold.
func Scenarios() []ScenarioWord {
	return []ScenarioWord{
		{Word: "default", Summary: "the seeded world, as the server's own", apply: func(*worldPlan, int) {}},
		{Word: "seedN", Max: maxSeed, Summary: "seeded from another number", apply: func(w *worldPlan, n int) { w.Seed = uint64(n) }},
		{Word: "empty", Summary: "wallets with nothing in them, and nothing else", apply: func(w *worldPlan, _ int) { w.Empty = true }},
		{Word: "lowfunds", Summary: "every wallet holds 1.00 of its currency", apply: func(w *worldPlan, _ int) { w.LowFunds = true }},
		{Word: "rowsN", Max: maxListed, Summary: "the first wallet lists N transactions, computed when they are asked for", apply: func(w *worldPlan, n int) { w.Computed = n }},
		{Word: "historyN", Max: maxStored, Summary: "N payments from the wallets, all stored and in the ledger", apply: func(w *worldPlan, n int) { w.Payments = n }},
		{Word: "failforms", Summary: "the first attempt at every document fails; a retry generates it", apply: func(w *worldPlan, _ int) { w.failForms = true }},
		{Word: "instant", Summary: "documents are generated at the next tick of the clock", apply: func(w *worldPlan, _ int) { w.assume.GenerationScale = -1 }},
		{Word: "capN", Max: 1_000_000, Summary: "pages hold N records at most, whatever is asked for", apply: func(w *worldPlan, n int) { w.assume.PerPageCap = n }},
		{Word: "virtual", Summary: "time stands still until the world is advanced", apply: func(w *worldPlan, _ int) { w.virtual = true }},
		{Word: "real", Summary: "time is real, also where the server's own stands still", apply: func(w *worldPlan, _ int) { w.virtual = false }},
	}
}

// worldPlan is everything that a scenario says about a world.
type worldPlan struct {
	seed.Plan
	Scenario  string // the words
	assume    Assumptions
	virtual   bool
	failForms bool
}

// planFor returns what a scenario makes of the server's settings, or what is wrong with its words.
func (c *Settings) planFor(scenario string) (worldPlan, error) {
	w := worldPlan{
		Plan:     seed.Plan{Seed: c.Seed},
		Scenario: scenario, assume: c.Assume, virtual: c.Virtual,
	}
	known := Scenarios()
	for text := range strings.SplitSeq(scenario, "-") {
		word := strings.TrimRight(text, "0123456789")
		number := text[len(word):]
		i := slices.IndexFunc(known, func(s ScenarioWord) bool {
			return strings.TrimSuffix(s.Word, "N") == word && (s.Max > 0) == (number != "")
		})
		if i < 0 {
			if number != "" {
				word += "N"
			}
			return w, fmt.Errorf("no scenario is called %q%s", text, spelling.Suggestion(word, scenarioWords()))
		}
		n := 0
		if number != "" {
			var err error
			if n, err = strconv.Atoi(number); err != nil || n < 1 || n > known[i].Max {
				return w, fmt.Errorf("scenario %q: the number must be from 1 to %d", text, known[i].Max)
			}
		}
		known[i].apply(&w, n)
	}
	w.ObjectBreakdown = w.assume.ObjectBreakdown
	if w.Empty && (w.LowFunds || w.Computed > 0 || w.Payments > 0) || w.Computed > 0 && w.Payments > 0 {
		return w, fmt.Errorf("scenario %q contradicts itself: an empty world has no money and no rows, and rows are computed or stored", scenario)
	}
	return w, nil
}

func scenarioWords() []string {
	return list.Map(Scenarios(), func(s ScenarioWord) string { return s.Word })
}
