package mockserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// struck returns the answer to one call of rates that a fault strikes after it is done.
func struck(t *testing.T, injected fault.Fault) answer {
	t.Helper()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{Committed: true, Fault: injected})
	return get(t, srv, "/v1/rates?perPage=2")
}

func TestFaults_SpoilTheAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		fault       fault.Fault
		status      int
		contentType string
		body        func(body []byte) bool
	}{
		{"content type", fault.ContentType("text/plain"), 200, "text/plain", json.Valid},
		{"HTML", fault.HTML(502), 502, "text/html; charset=utf-8", func(b []byte) bool { return strings.Contains(string(b), "<h1>502 Bad Gateway</h1>") }},
		{"HTML with the status 200", fault.HTML(200), 200, "text/html; charset=utf-8", func(b []byte) bool { return strings.Contains(string(b), "200 OK") }},
		{"empty", fault.Empty(), 200, "application/json; charset=utf-8", func(b []byte) bool { return len(b) == 0 }},
		{"no content", fault.Status(204, nil), 204, "", func(b []byte) bool { return len(b) == 0 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := struck(t, test.fault).want(t, test.status)
			if contentType := got.header.Get("Content-Type"); contentType != test.contentType || !test.body(got.body) {
				t.Errorf("%q: %q", contentType, got.body)
			}
		})
	}
}

func TestFaultReset_ResetsASocket(t *testing.T) {
	t.Parallel()
	srv := start(t)
	inject(t, srv, fault.Rule{Fault: fault.Reset()})
	req, err := http.NewRequest(http.MethodGet, srv.URL+"/v1/rates", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("got %v, want a connection reset", err)
	}
}

func TestFaultSlowBody_SendsAByteATick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := mockserver.New(mockserver.WithoutListener())
		defer srv.Close()
		inject(t, srv, fault.Rule{Fault: fault.SlowBody(time.Second)})
		started := time.Now()
		got := get(t, srv, "/v1/rates").want(t, http.StatusOK)
		if took := time.Since(started); took != time.Duration(len(got.body)-1)*time.Second {
			t.Errorf("%d bytes took %v", len(got.body), took)
		}
	})
}

func TestFaultEarlyHints_SendsAnInformationalAnswerFirst(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{Fault: fault.EarlyHints()})
	var informational []int
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { informational = append(informational, code); return nil },
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, srv.URL+"/v1/countries", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	resp, err := srv.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || len(informational) != 1 || informational[0] != 103 {
		t.Errorf("%v after %v, %v", resp.Status, informational, err)
	}
}

func TestFaultRateLimit_SaysWhenInEveryForm(t *testing.T) {
	t.Parallel()
	want := map[fault.RetryAfter]string{
		fault.RetryAfterSeconds:  "8", // 7.5 s, rounded up
		fault.RetryAfterIMF:      "Mon, 05 Jan 2026 09:30:08 GMT",
		fault.RetryAfterRFC850:   "Monday, 05-Jan-26 09:30:08 GMT",
		fault.RetryAfterASCTime:  "Mon Jan  5 09:30:08 2026",
		fault.RetryAfterNegative: "-1",
		fault.RetryAfterHuge:     "99999999999999999999",
		fault.RetryAfterRubbish:  "soon",
		fault.RetryAfterAbsent:   "",
	}
	for _, form := range fault.RetryAfters() {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			inject(t, srv, fault.Rule{Fault: fault.RateLimit(form, 7500*time.Millisecond)})
			got := get(t, srv, "/v1/rates").refusal(t, 429, "injected")
			if value := got.header.Get("Retry-After"); value != want[form] {
				t.Errorf("Retry-After is %q, want %q", value, want[form])
			}
			if date := got.header.Get("Date"); date != "Mon, 05 Jan 2026 09:30:00 GMT" {
				t.Errorf("Date is %q, and the world's clock stands at half past nine", date)
			}
		})
	}
}

func TestFaultsOfLists(t *testing.T) {
	t.Parallel()
	type page struct {
		Rates      []struct{ Rate_ID string }
		Pagination struct{ Page, PerPage, Total int }
	}
	read := func(t *testing.T, srv *mockserver.Server, query string) (got page) {
		t.Helper()
		get(t, srv, "/v1/rates"+query).want(t, 200).data(t, &got)
		return got
	}
	t.Run("the page before is repeated", func(t *testing.T) {
		t.Parallel()
		srv := start(t, mockserver.WithoutListener())
		inject(t, srv, fault.Rule{Operation: shipping.OpListRates, Nth: 3, Fault: fault.RepeatPage()})
		first, second, third := read(t, srv, "?perPage=10"), read(t, srv, "?perPage=10&page=2"), read(t, srv, "?perPage=10&page=3")
		if diff := cmp.Diff(second, third); diff != "" || cmp.Equal(first, second) {
			t.Errorf("page 3 against page 2 (-want +got):\n%s", diff)
		}
	})
	t.Run("perPage is capped", func(t *testing.T) {
		t.Parallel()
		srv := start(t, mockserver.WithoutListener())
		inject(t, srv, fault.Rule{Fault: fault.CapPage(7)})
		for query, want := range map[string]int{"": 7, "?perPage=50": 7, "?perPage=3": 3} {
			if got := read(t, srv, query); len(got.Rates) != want || got.Pagination.PerPage != want {
				t.Errorf("%q: %d rates and perPage %d, want %d", query, len(got.Rates), got.Pagination.PerPage, want)
			}
		}
	})
	t.Run("rows are inserted", func(t *testing.T) {
		t.Parallel()
		srv := start(t, mockserver.WithoutListener())
		inject(t, srv, fault.Rule{Nth: 2, Fault: fault.InsertRows(3)})
		before := read(t, srv, "?perPage=5")
		after := read(t, srv, "?perPage=5&page=1")
		if after.Pagination.Total != before.Pagination.Total+3 || after.Rates[3] != before.Rates[0] || after.Rates[0] == before.Rates[0] {
			t.Errorf("before %+v\nafter %+v", before, after)
		}
	})
	t.Run("rows are removed", func(t *testing.T) {
		t.Parallel()
		srv := start(t, mockserver.WithoutListener())
		inject(t, srv, fault.Rule{Nth: 2, Fault: fault.RemoveRows(3)})
		before := read(t, srv, "?perPage=5")
		after := read(t, srv, "?perPage=5&page=1")
		if after.Pagination.Total != before.Pagination.Total-3 || after.Rates[0] != before.Rates[3] {
			t.Errorf("before %+v\nafter %+v", before, after)
		}
		webhooks := srv.Webhooks()
		inject(t, srv, fault.Rule{Operation: shipping.OpListWebhooks, Fault: fault.RemoveRows(1)})
		get(t, srv, "/v1/webhooks").want(t, 200)
		if diff := cmp.Diff(webhooks[1:], srv.Webhooks()); diff != "" {
			t.Errorf("webhooks (-want +got):\n%s", diff)
		}
		err := srv.Inject(fault.Rule{Operation: shipping.OpListTransactions, Fault: fault.RemoveRows(1)})
		if err == nil || !strings.Contains(err.Error(), "remove-rows cannot happen to transactions.list") {
			t.Errorf("transactions: %v", err)
		}
		srv.CheckInvariants(t)
	})
	for _, path := range []string{"/v1/webhooks?perPage=1", "/v1/transactions?perPage=1&wallet="} {
		t.Run("rows are inserted into "+path, func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener())
			if strings.HasSuffix(path, "=") {
				path += srv.Wallets()[0]
			}
			total := func() int {
				var got struct{ Pagination struct{ Total int } }
				get(t, srv, path).want(t, 200).data(t, &got)
				return got.Pagination.Total
			}
			before := total()
			inject(t, srv, fault.Rule{Fault: fault.InsertRows(2)})
			if after := total(); after != before+2 {
				t.Errorf("%d rows after %d", after, before)
			}
			srv.CheckInvariants(t)
		})
	}
}

// The state of an interrupted purchase follows from the point of the interruption.
func TestFailpoints_InterruptAPurchase(t *testing.T) {
	t.Parallel()
	tests := []struct {
		point   fault.Point
		charged bool
		status  string // of the request right afterwards
	}{
		{fault.BeforeCharge, false, "draft"},
		{fault.AfterCharge, true, "purchasing"},
		{fault.BeforeReply, true, "processing"},
	}
	for _, test := range tests {
		t.Run(string(test.point), func(t *testing.T) {
			t.Parallel()
			srv := start(t, mockserver.WithoutListener(), virtual())
			inject(t, srv, fault.Rule{Point: test.point, First: 1, Fault: fault.Status(502, nil)})
			draft := analyzeShipment(t, srv, srv.Shipments()[0])
			body := `{"request_id":"` + draft.ID + `","document_types":["CUSTOMS"]}`
			post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`"}`).want(t, 400) // does not get there, and does not count
			post(t, srv, regulatoryPath+"/purchase", body).refusal(t, 502, "injected")
			now := lookUp(t, srv, draft.ID)
			if charged := now.TransactionID != ""; charged != test.charged || now.Status != test.status {
				t.Errorf("the request is %s, charged %v", now.Status, charged)
			}
			if _, err := srv.Advance(time.Hour); err != nil {
				t.Fatal(err)
			}
			if now = lookUp(t, srv, draft.ID); test.charged != (now.Status == "completed") {
				t.Errorf("an hour later it is %s", now.Status)
			}
			srv.CheckInvariants(t)
			if injected := srv.Find(journal.Query{Status: 502})[0].Fault; injected != "rule 1: status at "+string(test.point) {
				t.Errorf("the journal has %q", injected)
			}
		})
	}
}

func TestFailpoints_DropUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener())
	inject(t, srv, fault.Rule{Point: fault.BeforeReply})
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	client := srv.Client(t)
	res, err := client.Regulatory.Purchase(t.Context(), &shipping.PurchaseRequest{RequestID: draft.ID, DocumentTypes: []shipping.DocumentType{shipping.DocumentCustoms}})
	if err != nil || !res.ReadBack {
		t.Errorf("the client returned %+v, %v", res, err)
	}
}

func TestFailpoints_FailGeneration(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithoutListener(), virtual())
	inject(t, srv, fault.Rule{Point: fault.Generation, First: 1})
	draft := analyzeShipment(t, srv, srv.Shipments()[0])
	post(t, srv, regulatoryPath+"/purchase", `{"request_id":"`+draft.ID+`","document_types":["CUSTOMS"]}`).want(t, 200)
	if _, err := srv.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := lookUp(t, srv, draft.ID); got.Status != "failed" {
		t.Errorf("the request is %s", got.Status)
	}
	do(t, srv, http.MethodPost, regulatoryPath+"/request/"+draft.ID+"/retry", "").want(t, 200)
	if _, err := srv.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	if got := lookUp(t, srv, draft.ID); got.Status != "completed" {
		t.Errorf("after a retry the request is %s", got.Status)
	}
}
