package account

import (
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
)

// IDs makes the identifiers of a world and whatever else its seed decides. The same seed makes the
// same ones in the same order.
type IDs struct {
	Random *rand.Rand
	Source *rand.PCG
}

func newIDs(seed uint64) *IDs { return IDsFrom(rand.NewPCG(seed, 0x5348_4950)) }

// NewIDsFor is like newIDs for the world of a key, so that worlds of one seed have different identifiers.
func NewIDsFor(seed uint64, key string) *IDs {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	return IDsFrom(rand.NewPCG(seed, hash.Sum64()))
}

func IDsFrom(source *rand.PCG) *IDs { return &IDs{Random: rand.New(source), Source: source} }

// MarshalJSON writes the state of the generator.
func (g *IDs) MarshalJSON() ([]byte, error) {
	state, err := g.Source.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return json.Marshal(state)
}

// UnmarshalJSON continues from the state that MarshalJSON has written.
func (g *IDs) UnmarshalJSON(text []byte) error {
	var state []byte
	if err := json.Unmarshal(text, &state); err != nil {
		return err
	}
	*g = *IDsFrom(new(rand.PCG))
	return g.Source.UnmarshalBinary(state)
}

// clone returns what makes the same identifiers from here on.
func (g *IDs) clone() *IDs {
	source := *g.Source
	return IDsFrom(&source)
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (g *IDs) Alphanumerics(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[g.Random.IntN(len(alphabet))]
	}
	return string(text)
}

// Coded returns an identifier such as "TR-7K2M0QX4ZB1D9WPA".
func (g *IDs) Coded(prefix string) string { return prefix + "-" + g.Alphanumerics(16) }

// Numbered returns an identifier such as "RT-4820193756".
func (g *IDs) Numbered(prefix string) string {
	digits := make([]byte, 10)
	digits[0] = '1' + byte(g.Random.IntN(9))
	for i := 1; i < len(digits); i++ {
		digits[i] = '0' + byte(g.Random.IntN(10))
	}
	return prefix + "-" + string(digits)
}

// Storage returns a storage identifier: 24 hexadecimal digits.
func (g *IDs) Storage() string {
	var raw [12]byte
	for i := range raw {
		raw[i] = byte(g.Random.UintN(256))
	}
	return hex.EncodeToString(raw[:])
}

// Pick returns one of the choices.
func Pick[T any](g *IDs, choices []T) T { return choices[g.Random.IntN(len(choices))] }
