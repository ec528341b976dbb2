package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/journal"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// Rows that have targets.
const (
	purchased    = "purchased requests, virtual clock"
	history      = "rows of transactions"
	emptyWorlds  = "worlds"
	boughtWorlds = "worlds with a purchase each"
)

func rows() []row {
	return []row{
		{thing: "drafts in a world", then: "ms to read the first one", measure: drafts},
		{thing: purchased, then: "ms to advance past all of them", measure: waiting},
		{thing: history, then: "ms for a fork and its first purchase", also: []int{300_000}, measure: transactions},
		{thing: emptyWorlds, then: "ms to open one more", measure: worlds},
		{thing: boughtWorlds, then: "ms for one more, with its purchase", most: 10_000, measure: worldsWithPurchase},
		{thing: "entries of the journal", then: "ms to find a call by its id", measure: entries},
		{thing: "open connections", then: "ms for a request on one of them", most: 5_000, measure: connections},
		{thing: "deliveries", then: "ms to emit one more", measure: deliveries},
	}
}

// server starts a server without limits on its contents.
func server(opts ...mockserver.Option) *mockserver.Server {
	return mockserver.New(append([]mockserver.Option{
		mockserver.WithoutListener(), mockserver.WithMaxMemory(1 << 40), mockserver.WithJournal(0, 0),
	}, opts...)...)
}

// ask makes a call in a world, and returns the body of its response.
func ask(srv *mockserver.Server, w *mockserver.World, method, path, body string) (string, error) {
	r := httptest.NewRequest(method, "/v1/"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	if srv.ServeHTTP(answer, r); answer.Code != http.StatusOK {
		return "", fmt.Errorf("%s %s: %s", method, path, answer.Body)
	}
	return answer.Body.String(), nil
}

// analyze returns the id of a new draft.
func analyze(srv *mockserver.Server, w *mockserver.World) (string, error) {
	body, err := ask(srv, w, http.MethodPost, "regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
	_, id, _ := strings.Cut(body, `"request_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id, err
}

func purchase(srv *mockserver.Server, w *mockserver.World, id string) error {
	_, err := ask(srv, w, http.MethodPost, "regulatory-documents/purchase", `{"request_id":"`+id+`","document_types":["CUSTOMS"]}`)
	return err
}

func drafts(n int) cost {
	srv := server()
	defer srv.Close()
	var first string
	c := making(n, func(i int) error {
		id, err := analyze(srv, srv.World)
		if i == 0 {
			first = id
		}
		return err
	})
	if c.failed == nil {
		c.then, c.failed = best(100, func() error {
			_, err := ask(srv, srv.World, http.MethodGet, "regulatory-documents/request/"+first, "")
			return err
		})
	}
	return c
}

func waiting(n int) cost {
	srv := server(mockserver.WithVirtualClock(time.Time{}))
	defer srv.Close()
	plenty, err := shipping.NewAmount(100_000_000_000, 0)
	if err == nil {
		err = srv.Fund(srv.Wallets()[0], plenty)
	}
	if err != nil {
		return cost{failed: err}
	}
	c := making(n, func(int) error {
		id, err := analyze(srv, srv.World)
		if err != nil {
			return err
		}
		return purchase(srv, srv.World, id)
	})
	if c.failed == nil {
		c.then, c.failed = processorTime(func() error {
			fired, err := srv.Advance(time.Hour)
			if err == nil && len(fired) != n {
				err = fmt.Errorf("%d of %d were due", len(fired), n)
			}
			return err
		})
	}
	return c
}

func transactions(n int) cost {
	var srv *mockserver.Server
	before := heap()
	seeding, _ := processorTime(func() error {
		srv = server(mockserver.WithScenario(fmt.Sprint("history", n)))
		return nil
	})
	defer srv.Close()
	c := cost{each: seeding / time.Duration(n), bytes: (float64(heap()) - float64(before)) / float64(n), failed: srv.Err()}
	if c.failed != nil {
		return c
	}
	var id string
	if id, c.failed = analyze(srv, srv.World); c.failed == nil {
		c.then, c.failed = best(20, func() error {
			fork, err := srv.Fork("growth")
			if err != nil {
				return err
			}
			defer fork.Close()
			return purchase(srv, fork, id)
		})
	}
	return c
}

func worlds(n int) cost {
	srv := server()
	defer srv.Close()
	c := making(n, func(i int) error {
		_, err := srv.Open(fmt.Sprint("default_", i))
		return err
	})
	if c.failed == nil {
		c.then, c.failed = best(20, func() error {
			w, err := srv.Open("default_more")
			if err == nil {
				w.Close()
			}
			return err
		})
	}
	return c
}

func worldsWithPurchase(n int) cost {
	srv := server()
	defer srv.Close()
	open := func(name string) error {
		w, err := srv.Open(name)
		if err != nil {
			return err
		}
		id, err := analyze(srv, w)
		if err != nil {
			return err
		}
		return purchase(srv, w, id)
	}
	c := making(n, func(i int) error { return open(fmt.Sprint("default_", i)) })
	if c.failed == nil {
		more := 0
		c.then, c.failed = best(20, func() error {
			more++
			return open(fmt.Sprint("default_more", more))
		})
	}
	return c
}

func entries(n int) cost {
	srv := server(mockserver.WithJournal(n, 2<<10))
	defer srv.Close()
	c := making(n, func(int) error {
		_, err := ask(srv, srv.World, http.MethodGet, "rates?perPage=1", "")
		return err
	})
	if c.failed == nil {
		c.then, c.failed = best(20, func() error {
			if found := srv.Find(journal.Query{RequestID: fmt.Sprint("req-", n)}); len(found) != 1 {
				return fmt.Errorf("%d calls were found", len(found))
			}
			return nil
		})
	}
	return c
}

func connections(n int) cost {
	srv := server(mockserver.WithAddr("127.0.0.1:0"))
	defer srv.Close()
	request := []byte("GET /v1/rates?perPage=1 HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer " + srv.SecretKey + "\r\n\r\n")
	answer := make([]byte, 4096)
	call := func(conn net.Conn) error {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		_, err := conn.Read(answer)
		return err
	}
	open := make([]net.Conn, n)
	defer func() {
		for _, conn := range open {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	c := making(n, func(i int) (err error) {
		if open[i], err = net.Dial("tcp", strings.TrimPrefix(srv.URL, "http://")); err != nil {
			return err
		}
		return call(open[i])
	})
	if c.failed == nil {
		c.then, c.failed = best(100, func() error { return call(open[0]) })
	}
	return c
}

// taken is a receiver that accepts every notification.
type taken struct{}

func (taken) RoundTrip(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
}

func deliveries(n int) cost {
	srv := server(mockserver.WithDeliveryTransport(taken{}))
	defer srv.Close()
	if _, err := srv.AddWebhook(notify.Webhook{URL: "http://127.0.0.1:1/", Events: []string{"test"}}); err != nil {
		return cost{failed: err}
	}
	emit := func() error {
		sent, err := srv.Emit(notify.Event{Kind: "test", Data: []byte(`{"number":1}`)})
		if err == nil && len(sent) == 0 {
			err = fmt.Errorf("nothing was sent")
		}
		return err
	}
	c := making(n, func(int) error { return emit() })
	if c.failed == nil {
		c.then, c.failed = best(20, emit)
	}
	return c
}
