package mockserver_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// lone returns a server without a socket for a benchmark.
func lone(b *testing.B, opts ...mockserver.Option) *mockserver.Server {
	b.Helper()
	srv := mockserver.New(append(opts, mockserver.WithoutListener())...)
	b.Cleanup(srv.Close)
	if err := srv.Err(); err != nil {
		b.Fatal(err)
	}
	return srv
}

// BenchmarkNew is a server from nothing: seeding is nearly all of it.
func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mockserver.New(mockserver.WithoutListener()).Close()
	}
}

// BenchmarkWorld measures the cost of a world for a test: at most 50 µs, and no port.
func BenchmarkWorld(b *testing.B) {
	b.Run("open", func(b *testing.B) {
		srv := lone(b)
		b.ReportAllocs()
		for b.Loop() {
			w, err := srv.Open("default_bench")
			if err != nil {
				b.Fatal(err)
			}
			w.Close()
		}
	})
	b.Run("fork", func(b *testing.B) {
		srv := lone(b)
		b.ReportAllocs()
		for b.Loop() {
			w, err := srv.Fork("bench")
			if err != nil {
				b.Fatal(err)
			}
			w.Close()
		}
	})
	b.Run("snapshot", func(b *testing.B) {
		srv := lone(b)
		b.ReportAllocs()
		for b.Loop() {
			srv.Snapshot()
		}
	})
	b.Run("restore", func(b *testing.B) {
		srv := lone(b)
		taken := srv.Snapshot()
		b.ReportAllocs()
		for b.Loop() {
			srv.Restore(taken)
		}
	})
	b.Run("reset", func(b *testing.B) {
		srv := lone(b)
		b.ReportAllocs()
		for b.Loop() {
			srv.Reset()
		}
	})
}

// BenchmarkFork_FirstPurchase measures the first purchase in a fork. It takes at most 2 ms, however much the fork shares
// with its parent.
func BenchmarkFork_FirstPurchase(b *testing.B) {
	for _, scenario := range []string{"default", "history300000"} {
		b.Run(scenario, func(b *testing.B) {
			srv := lone(b, mockserver.WithScenario(scenario))
			var draft struct {
				Data struct {
					RequestID string `json:"request_id"`
				}
			}
			if err := json.Unmarshal(handle(b, srv, srv.World, "/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).Body.Bytes(), &draft); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				fork, err := srv.Fork("bench")
				if err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				handle(b, srv, fork, "/purchase", `{"request_id":"`+draft.Data.RequestID+`","document_types":["CUSTOMS"]}`)
				b.StopTimer()
				fork.Close()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkAdvance_Requests measures the time for each of many requests whose documents are generated in one advance.
func BenchmarkAdvance_Requests(b *testing.B) {
	const requests = 5_000
	srv := lone(b, virtual(), mockserver.WithJournal(0, 0))
	plenty, err := shipping.NewAmount(1_000_000_000, 0)
	if err = errors.Join(err, srv.Fund(srv.Wallets()[0], plenty)); err != nil {
		b.Fatal(err)
	}
	for range requests {
		body := handle(b, srv, srv.World, "/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`).Body.String()
		_, id, _ := strings.Cut(body, `"request_id":"`)
		id, _, _ = strings.Cut(id, `"`)
		handle(b, srv, srv.World, "/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
	}
	purchased := srv.Snapshot()
	for b.Loop() {
		b.StopTimer()
		srv.Restore(purchased)
		b.StartTimer()
		if fired, err := srv.Advance(time.Hour); err != nil || len(fired) != requests {
			b.Fatalf("%d fired (%v)", len(fired), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/requests, "ns/request")
}

// handle makes a call of the regulatory flow in a world.
func handle(b *testing.B, srv *mockserver.Server, w *mockserver.World, path, body string) *httptest.ResponseRecorder {
	b.Helper()
	r := httptest.NewRequest(http.MethodPost, regulatoryPath+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	if srv.ServeHTTP(answer, r); answer.Code != http.StatusOK {
		b.Fatal(answer.Body)
	}
	return answer
}

// sink takes an answer and keeps nothing of it.
type sink struct{ header http.Header }

func (d sink) Header() http.Header         { return d.header }
func (d sink) Write(p []byte) (int, error) { return len(p), nil }
func (d sink) WriteHeader(int)             {}

// BenchmarkPage compares late pages with the first one, in turns, and reports the ratio: at most 1.1.
func BenchmarkPage(b *testing.B) {
	for _, list := range []struct {
		name, scenario string
		late           int
	}{
		{"computed_10000000", "rows10000000", 100_000},
		{"stored_200000", "history200000", 1_000},
	} {
		b.Run(list.name, func(b *testing.B) {
			srv := lone(b, mockserver.WithScenario(list.scenario))
			ask := func(page int) time.Duration {
				r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/v1/transactions?page=%d&wallet=%s", page, srv.Wallets()[0]), nil)
				r.Header.Set("Authorization", "Bearer "+srv.SecretKey)
				started := time.Now()
				srv.ServeHTTP(sink{http.Header{}}, r)
				return time.Since(started)
			}
			var first, late time.Duration
			for b.Loop() {
				first += ask(1)
				late += ask(list.late)
			}
			b.ReportMetric(float64(late)/float64(first), "late/first")
			b.ReportMetric(float64(first.Microseconds())/float64(b.N), "µs/first")
		})
	}
}
