package mockserver

import (
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Scenario is a word that a world's key may hold, and what it makes of the world. Words are put together
// with hyphens: "lowfunds-seed7".
type Scenario struct {
	// Word is how the key says it; a word that takes a number ends in N, for which the number stands.
	Word string `json:"word"`
	// Summary says what is special about such a world.
	Summary string `json:"summary"`
	// Max is the largest number that the word takes; 0 for a word that takes none.
	Max int `json:"max,omitempty"`
}

// Scenarios returns every word that a key may hold. The slice is the caller's own.
func Scenarios() []Scenario {
	return list.Map(world.Scenarios(), func(s world.ScenarioWord) Scenario { return Scenario{Word: s.Word, Summary: s.Summary, Max: s.Max} })
}
