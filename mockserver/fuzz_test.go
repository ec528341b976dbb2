package mockserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// stage is a server for fuzz tests. Each input has a new world, so that inputs are independent and need no further
// server.
type stage struct {
	*mockserver.Server
	// names puts the world's own in the place of {draft}, {bought}, {wallet}, {shipment}, {webhook},
	// {delivery}, {world} and {key}: a fuzzer would never find one.
	names *strings.Replacer
	draft string
}

// newStage prepares the names that inputs use: every world of an input has the same.
func newStage(f *testing.F) *stage {
	f.Helper()
	srv := mockserver.New(mockserver.WithoutListener(), virtual(), mockserver.WithDeliveryTransport(&inbox{}))
	f.Cleanup(srv.Close)
	s := &stage{Server: srv}
	w := s.open(f)
	w.Close()
	return s
}

// open opens a small world under the same name each time, with a draft, a request that is bought, and a delivery.
func (s *stage) open(tb testing.TB) *mockserver.World {
	tb.Helper()
	w := shippingtest.Must(s.Open("history3_fuzzed"))(tb)
	var made [2]struct{ Data request }
	for i := range made {
		ask(tb, s.Server, w, http.MethodPost, regulatoryPath+"/analyze", analyzeFirst(w), &made[i])
	}
	bought := made[1].Data.ID
	s.draft = made[0].Data.ID
	if answer := ask(tb, s.Server, w, http.MethodPost, regulatoryPath+"/purchase",
		`{"request_id":"`+bought+`","document_types":["CUSTOMS"]}`, nil); answer.Code != http.StatusOK {
		tb.Fatalf("nothing is bought: %s", answer.Body)
	}
	sent := emit(tb, w, notify.Event{Kind: "shipment.updated"})
	s.names = strings.NewReplacer("{draft}", s.draft, "{bought}", bought, "{wallet}", w.Wallets()[0],
		"{shipment}", w.Shipments()[0], "{webhook}", sent.WebhookID, "{delivery}", sent.ID, "{world}", w.Name(),
		"{key}", w.SecretKey)
	return w
}

// clear closes every world but the home world.
func (s *stage) clear() {
	for _, w := range s.Worlds()[1:] {
		w.Close()
	}
}

// request makes a request from a fuzzer's input. header holds lines as in a request; those that net/http refuses are
// omitted.
func (s *stage) request(t *testing.T, w *mockserver.World, method, path, query, header string,
	body []byte) *http.Request {
	fields, err := textproto.NewReader(bufio.NewReader(strings.NewReader(s.names.Replace(header) +
		"\r\n\r\n"))).ReadMIMEHeader()
	if err != nil || len(fields) == 0 {
		fields = textproto.MIMEHeader{}
	}
	r := &http.Request{
		Method: method, URL: &url.URL{Path: s.names.Replace(path),
			RawQuery: s.names.Replace(query)}, Host: "127.0.0.1", Header: http.Header(fields),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "127.0.0.1:9",
	}
	r.RequestURI = r.URL.Path + "?" + r.URL.RawQuery
	text := s.names.Replace(string(body))
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	if len(r.Header["Authorization"]) == 0 {
		r.Header.Set("Authorization", "Bearer "+w.SecretKey)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	if r.URL.Query().Has("wait") || r.Header.Get("Accept") != "" {
		cancel() // what waits, or streams, ends at once
	}
	return r.WithContext(ctx)
}

// answered sends a request and checks what holds for every response of the server: the status is one of those that are
// expected, the envelope agrees with it, and its length is bounded.
func (s *stage) answered(t *testing.T, r *http.Request, statuses ...int) *httptest.ResponseRecorder {
	t.Helper()
	asked := len(r.Method) + len(r.RequestURI) + int(r.ContentLength)
	for _, values := range r.Header {
		asked += len(strings.Join(values, ""))
	}
	answer := httptest.NewRecorder()
	s.ServeHTTP(answer, r)
	if !slices.Contains(append(statuses, 200, 400, 401, 404, 405, 413, 415), answer.Code) {
		t.Fatalf("%q %q is answered %d: %s", r.Method, r.URL.Path, answer.Code, answer.Body)
	}
	if answer.Code == http.StatusMethodNotAllowed && answer.Header().Get("Allow") == "" {
		t.Errorf("%q %q is answered 405 without Allow", r.Method, r.URL.Path)
	}
	refused := answer.Code >= 400
	if refused && answer.Body.Len() > 4<<10+16*asked {
		t.Errorf("%q %q is refused in %d bytes", r.Method, r.URL.Path, answer.Body.Len())
	}
	if kind := answer.Header().Get("Content-Type"); kind != "application/json; charset=utf-8" {
		if refused {
			t.Errorf("%q %q is refused as %q", r.Method, r.URL.Path, kind)
		}
		return answer
	}
	var said struct {
		Status     *bool
		Message    string
		Data       json.RawMessage
		Pagination json.RawMessage // of the lists of the control surface
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Body.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&said); err != nil || decoder.More() || said.Status == nil || *said.Status == refused ||
		said.Message == "" {
		t.Errorf("%q %q is answered %d with no such envelope (%v): %s", r.Method, r.URL.Path, answer.Code, err, answer.Body)
	}
	var why struct {
		Code string `json:"error_code"`
	}
	if refused && (json.Unmarshal(said.Data, &why) != nil || why.Code == "") {
		t.Errorf("%q %q is refused without a code: %s", r.Method, r.URL.Path, answer.Body)
	}
	return answer
}

// holds is what the control surface shows of a world.
func (s *stage) holds(t *testing.T, w *mockserver.World) string {
	var shown strings.Builder
	for _, path := range []string{"ledger?perPage=1", "regulatory-requests", "regulatory-requests/" + s.draft,
		"webhooks?perPage=3", "faults"} {
		shown.Write(ask(t, s.Server, w, http.MethodGet, "/_mock/"+path, "", nil).Body.Bytes())
	}
	return shown.String()
}

// FuzzServeHTTP tests that every request gets a response in the documented form and none fails the server. A refused
// request changes and charges nothing; a purchase charges the amount that it reports, once.
func FuzzServeHTTP(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzServeHTTP.txt", "", "", "", "", []byte(nil))
	s := newStage(f)
	f.Fuzz(func(t *testing.T, method, path, query, header string, body []byte) {
		if strings.HasPrefix(path, "/_mock/") {
			return // see FuzzControlSurface
		}
		defer s.clear()
		w := s.open(t)
		wallet, held := w.Wallets()[0], s.holds(t, w)
		before, _ := w.Balance(wallet)
		answer := s.answered(t, s.request(t, w, method, path, query, header, body), 304, 431)
		after, _ := w.Balance(wallet)
		var said struct {
			Data struct {
				Status  string
				Charged shipping.Amount `json:"charged_amount"`
			}
		}
		purchase := method == http.MethodPost && path == regulatoryPath+"/purchase"
		switch {
		case answer.Code == http.StatusOK && purchase:
			shippingtest.NoError(t, json.Unmarshal(answer.Body.Bytes(), &said))
			if cost, err := before.Sub(after); err != nil || !cost.Equal(said.Data.Charged) || cost.Sign() <= 0 {
				t.Errorf("the wallet paid %s for a purchase of %s (%v)", cost, said.Data.Charged, err)
			}
			s.answered(t, s.request(t, w, method, path, query, header, body))
			if again, _ := w.Balance(wallet); again != after {
				t.Errorf("the same purchase is charged again: %s after %s", again, after)
			}
		case !before.Equal(after):
			t.Errorf("the wallet went from %s to %s", before, after)
		case method == http.MethodGet || answer.Code >= 400 && json.Unmarshal(answer.Body.Bytes(), &said) == nil &&
			said.Data.Status != "failed":
			if got := s.holds(t, w); got != held {
				t.Errorf("answered %d, and yet changed from\n%s\nto\n%s", answer.Code, held, got)
			}
			return
		}
		shippingtest.Must(w.Advance(time.Hour))(t)
		s.answered(t, s.request(t, w, http.MethodGet, regulatoryPath+"/request/{draft}", "", "", nil))
		s.answered(t, s.request(t, w, http.MethodGet, regulatoryPath+"/request/{draft}/documents/CUSTOMS/pdf", "", "", nil))
		w.CheckInvariants(t)
	})
}

// FuzzControlSurface: the same of what lies under /_mock/. The service works on, also under each fault
// that is accepted.
func FuzzControlSurface(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzControlSurface.txt", "", "", "", "", []byte(nil))
	s := newStage(f)
	f.Fuzz(func(t *testing.T, method, path, query, header string, body []byte) {
		defer s.clear()
		w := s.open(t)
		held := s.holds(t, w)
		answer := s.answered(t, s.request(t, w, method, "/_mock/"+path, query, header, body), 304, 403, 408, 409, 503)
		if method == http.MethodGet || answer.Code >= 400 {
			if got := s.holds(t, w); got != held {
				t.Errorf("answered %d, and yet changed from\n%s\nto\n%s", answer.Code, held, got)
			}
			return
		}
		ask(t, s.Server, w, http.MethodGet, "/v1/rates?perPage=2", "", nil)
		ask(t, s.Server, w, http.MethodPost, regulatoryPath+"/purchase",
			`{"request_id":"`+s.draft+`","document_types":["CUSTOMS"]}`, nil)
		w.ClearFaults()
		s.answered(t, s.request(t, w, http.MethodGet, "/v1/rates", "perPage=2", "", nil), 401) // closed
		w.CheckInvariants(t)
	})
}
