package mockserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

func TestNew_ServesOnAFreePortOfThisMachine(t *testing.T) {
	t.Parallel()
	srv := start(t)
	if !strings.HasPrefix(srv.URL, "http://127.0.0.1:") {
		t.Errorf("URL is %q", srv.URL)
	}
	if !strings.HasPrefix(srv.SecretKey, "sk_test_") {
		t.Errorf("SecretKey is %q", srv.SecretKey)
	}
	get(t, srv, "/v1/rates").want(t, http.StatusOK)
}

func TestNew_TellsOfATakenPortInsteadOfPanicking(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	srv := mockserver.New(mockserver.WithAddr(taken.Addr().String()))
	defer srv.Close()
	if err := srv.Err(); err == nil || !strings.Contains(err.Error(), "choose another address") {
		t.Errorf("Err() is %v", err)
	}
}

func TestNew_TheSameSeedMakesTheSameWorld(t *testing.T) {
	t.Parallel()
	read := func(seed uint64) string {
		srv := start(t, mockserver.WithSeed(seed))
		var all strings.Builder
		all.WriteString(srv.SecretKey)
		for _, path := range []string{"/v1/rates?perPage=1000", "/v1/webhooks?perPage=1000", "/v1/transactions?perPage=1000&wallet=" + srv.Wallets()[0]} {
			all.Write(get(t, srv, path).body)
		}
		payloads, err := json.Marshal(srv.Deliveries())
		if err != nil {
			t.Fatal(err)
		}
		all.Write(payloads)
		return all.String()
	}
	first := read(7)
	if first != read(7) {
		t.Error("the same seed made two different worlds")
	}
	if first == read(8) {
		t.Error("two seeds made the same world")
	}
}

func TestNew_ASeedOtherThanTheFirstIsSoundToo(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		srv := mockserver.New(mockserver.WithSeed(seed), mockserver.WithoutListener())
		if err := srv.Err(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if err := srv.Check(); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		srv.Close()
	}
}

func TestTransport_WorksInsideABubble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		client := &http.Client{Transport: srv.Transport()}
		analyzed := doWith(t, client, srv, http.MethodPost, "/v1/regulatory-documents/analyze", `{"shipment_id":"`+srv.Shipments()[0]+`"}`)
		id := analyzed.want(t, http.StatusOK).text(t, "request_id")
		doWith(t, client, srv, http.MethodPost, "/v1/regulatory-documents/purchase", `{"request_id":"`+id+`","document_types":["WATCH"]}`).want(t, http.StatusOK)

		started, polls := time.Now(), 0
		for status := "processing"; status == "processing"; polls++ {
			<-time.After(time.Second)
			status = doWith(t, client, srv, http.MethodGet, "/v1/regulatory-documents/request/"+id, "").text(t, "status")
		}
		if polls == 0 || time.Since(started) < time.Second {
			t.Error("generation took no time of the bubble")
		}
	})
}

func TestClient_IsReady(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string][]mockserver.Option{"socket": nil, "memory": {mockserver.WithoutListener()}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := start(t, opts...)
			page, err := srv.Client(t).Rates.List(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Items) != 100 {
				t.Errorf("%d rates on the first page, want 100", len(page.Items))
			}
		})
	}
}

func TestClose_EndsRequestsUnderWayAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	srv := mockserver.New(mockserver.WithVirtualClock(time.Time{}))
	srv.Inject(fault.Rule{Fault: fault.Latency(time.Hour)})
	ended := make(chan error, 1)
	go func() {
		req, err := http.NewRequest(http.MethodGet, srv.URL+"/v1/countries", nil)
		if err != nil {
			ended <- err
			return
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
		ended <- err
	}()
	srv.Close()
	srv.Close()
	if err := <-ended; err == nil {
		t.Error("a request that waited was answered although the server closed")
	}
}

func TestShutdown_ReturnsOnceNothingIsUnderWay(t *testing.T) {
	t.Parallel()
	srv := mockserver.New()
	if err := srv.Shutdown(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestWithRoute_ServesAnotherRoute(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithRoute(shipping.OpDocumentPDF, "/v2/forms/{document_type}/{request_id}"))
	client := srv.Client(t, shipping.WithRoute(shipping.OpDocumentPDF, "/v2/forms/{document_type}/{request_id}"))
	if _, err := client.Regulatory.PDF(t.Context(), "RD-1", shipping.DocumentCustoms); !errors.Is(err, shipping.ErrNotFound) {
		t.Error(err)
	}
}

// The client of a world accepts client options.
func TestClient_TakesOptions(t *testing.T) {
	t.Parallel()
	srv := start(t)
	attempts := 0
	client := srv.Client(t, shipping.WithObserver(shipping.Observer{
		Attempt: func(context.Context, string, shipping.Attempt) { attempts++ },
	}))
	if _, err := client.Countries.List(t.Context()); err != nil || attempts != 1 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestWithRoute_RefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, operation, route, want string }{
		{"unknown operation", "rates.create", "/v1/rates", `names "rates.create", which is not an operation that the specification names without a path`},
		{"documented operation", shipping.OpListRates, "/v2/rates", "regulatory.retry"},
		{"malformed route", shipping.OpRetryRequest, "/v1/{request_id}/{", "whose placeholder {} is unknown"},
		{"relative route", shipping.OpRetryRequest, "v1/{request_id}", "does not begin with a slash"},
		{"empty segment", shipping.OpRetryRequest, "/v1//{request_id}", "no empty or dot segments"},
		{"conflict", shipping.OpRetryRequest, "/v1/{request_id}/{request_id}", "cannot serve route"},
		{"reserved route", shipping.OpRetryRequest, "/_mock/{request_id}", "outside /_mock/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithRoute(test.operation, test.route))
			defer srv.Close()
			if err := srv.Err(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Err() is %v, want %q in it", err, test.want)
			}
		})
	}
}
