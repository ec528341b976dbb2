// Package payload makes the bytes that the benchmarks read: realistic records with every field of
// the specification, the same ones on every run, and those of other services for the clients that
// talk to them.
//
// Its types are also what hand-written code decodes into: plain structs, a field a JSON member.
package payload

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Envelope wraps every response of the service (specification: "Response envelope").
type Envelope[T any] struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    T      `json:"data"`
}

// success writes a response of the service.
func success[T any](message string, data T) []byte {
	return encode(Envelope[T]{Status: true, Message: message, Data: data})
}

// encode writes v. Nothing in this package holds a value that JSON cannot.
func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

// maker makes values up. The same seed makes the same ones.
type maker struct{ random *rand.Rand }

func newMaker(seed uint64) maker { return maker{rand.New(rand.NewPCG(seed, seed))} }

const (
	digits   = "0123456789"
	letters  = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hexadeci = "0123456789abcdef"
)

// text returns prefix followed by n characters of an alphabet.
func (m maker) text(prefix, alphabet string, n int) string {
	var b strings.Builder
	b.WriteString(prefix)
	for range n {
		b.WriteByte(alphabet[m.random.IntN(len(alphabet))])
	}
	return b.String()
}

// money returns an amount with two decimals, up to limit.
func (m maker) money(limit int) float64 { return float64(m.random.IntN(limit*100)) / 100 }

// moment returns a time of the year 2026 with milliseconds, the last of which is not zero: it is
// written with three decimals, as services in JavaScript do.
func (m maker) moment() time.Time {
	const year = 365 * 24 * 60 * 60
	second := time.Duration(m.random.IntN(year)) * time.Second
	millisecond := time.Duration(m.random.IntN(100)*10+1+m.random.IntN(9)) * time.Millisecond
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(second + millisecond)
}

func (m maker) yes(percent int) bool { return m.random.IntN(100) < percent }

func pick[T any](m maker, of ...T) T { return of[m.random.IntN(len(of))] }

// list makes n records.
func list[T any](n int, record func(i int) T) []T {
	records := make([]T, n)
	for i := range records {
		records[i] = record(i)
	}
	return records
}

// numbered is an identifier such as RT-0123456789.
func (m maker) numbered(prefix string) string { return m.text(prefix+"-", digits, 10) }

// storageID is an identifier as document databases make it.
func (m maker) storageID() string { return m.text("", hexadeci, 24) }

// uuid is an identifier in the form of a UUID.
func (m maker) uuid() string {
	h := m.text("", hexadeci, 32)
	return fmt.Sprintf("%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
