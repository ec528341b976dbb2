package mockserver

import (
	"encoding/hex"
	"hash/fnv"
	"math/rand/v2"
)

// ids makes the identifiers of a world and whatever else its seed decides. The same seed makes the
// same ones in the same order.
type ids struct {
	random *rand.Rand
	source *rand.PCG
}

func newIDs(seed uint64) *ids { return idsFrom(rand.NewPCG(seed, 0x5348_4950)) }

// newIDsFor is newIDs for the world of a key, so that worlds of one seed make identifiers of their own.
func newIDsFor(seed uint64, key string) *ids {
	hash := fnv.New64a()
	hash.Write([]byte(key))
	return idsFrom(rand.NewPCG(seed, hash.Sum64()))
}

func idsFrom(source *rand.PCG) *ids { return &ids{random: rand.New(source), source: source} }

// clone returns what makes the same identifiers from here on.
func (g *ids) clone() *ids {
	source := *g.source
	return idsFrom(&source)
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func (g *ids) alphanumerics(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = alphabet[g.random.IntN(len(alphabet))]
	}
	return string(text)
}

// coded returns an identifier such as "TR-7K2M0QX4ZB1D9WPA".
func (g *ids) coded(prefix string) string { return prefix + "-" + g.alphanumerics(16) }

// numbered returns an identifier such as "RT-4820193756".
func (g *ids) numbered(prefix string) string {
	digits := make([]byte, 10)
	digits[0] = '1' + byte(g.random.IntN(9))
	for i := 1; i < len(digits); i++ {
		digits[i] = '0' + byte(g.random.IntN(10))
	}
	return prefix + "-" + string(digits)
}

// storage returns a storage identifier: 24 hexadecimal digits.
func (g *ids) storage() string {
	var raw [12]byte
	for i := range raw {
		raw[i] = byte(g.random.UintN(256))
	}
	return hex.EncodeToString(raw[:])
}

// pick returns one of the choices.
func pick[T any](g *ids, choices []T) T { return choices[g.random.IntN(len(choices))] }
