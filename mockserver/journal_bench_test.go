package mockserver_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/shipping-go/shipping/mockserver"
)

// discard is a writer that costs nothing, so that only the server is measured.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { clear(d.header); return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(int)             {}

// BenchmarkJournal compares the same calls with the journal on and off, in turns, and reports how many
// times as long they take with it ("on/off").
func BenchmarkJournal(b *testing.B) {
	const calls = 100
	for _, target := range []string{"/v1/rates?perPage=1", "/v1/rates?perPage=100"} {
		b.Run(target, func(b *testing.B) {
			on := mockserver.New(mockserver.WithoutListener())
			defer on.Close()
			off := mockserver.New(mockserver.WithoutListener(), mockserver.WithJournal(0, 0))
			defer off.Close()
			req := httptest.NewRequest(http.MethodGet, target, nil)
			req.Header.Set("Authorization", "Bearer "+on.SecretKey) // one seed, one key
			w := &discard{http.Header{}}
			measure := func(srv *mockserver.Server) time.Duration {
				started := time.Now()
				for range calls {
					srv.ServeHTTP(w, req)
				}
				return time.Since(started)
			}
			with, without := time.Hour, time.Hour
			for b.Loop() { // in turns, and the best of each, so that a busy machine disturbs both alike
				with = min(with, measure(on))
				without = min(without, measure(off))
			}
			b.ReportMetric(with.Seconds()/without.Seconds(), "on/off")
			b.ReportMetric(float64(with.Nanoseconds())/calls, "ns/call-on")
			b.ReportMetric(float64(without.Nanoseconds())/calls, "ns/call-off")
		})
	}
}
