package benchmarks

import (
	"context"
	"testing"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/process"
)

// contest is one piece of work on the same bytes, done by hand-written code and by a client.
type contest struct {
	// name is the content that is read, such as "100 rates".
	name string
	body []byte
	// records is how many every contender must return.
	records int
	raw     call
	client  string // the name of the other contender
	call    call
}

// call does the work once and returns how many records it received.
type call func(ctx context.Context) (records int, err error)

// race runs the contenders of each contest one after the other.
func race(b *testing.B, contests []contest) {
	for _, c := range contests {
		b.Run(c.name, func(b *testing.B) {
			b.Run("raw", func(b *testing.B) { c.measure(b, c.raw) })
			b.Run(c.client, func(b *testing.B) { c.measure(b, c.call) })
		})
	}
}

func (c contest) measure(b *testing.B, do call) {
	ctx := b.Context()
	b.ReportAllocs()
	b.SetBytes(int64(len(c.body)))
	var before time.Duration
	for first := true; b.Loop(); first = false {
		if first {
			before = process.OwnTime()
		}
		records, err := do(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if records != c.records {
			b.Fatalf("received %d records, want %d", records, c.records)
		}
	}
	b.ReportMetric(float64(process.OwnTime()-before)/float64(b.N), "cpu-ns/op")
}
