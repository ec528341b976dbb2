package contract

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/mockserver"
)

// FuzzResponses tests that the document describes the response to any request to the service. Its seeds are those of
// FuzzServeHTTP of the server.
func FuzzResponses(f *testing.F) {
	randomtest.AddInputs(f, "../../mockserver/testdata/FuzzServeHTTP.txt", "", "", "", "", []byte(nil))
	srv := mockserver.New(mockserver.WithoutListener(), mockserver.WithVirtualClock(time.Time{}))
	f.Cleanup(srv.Close)
	client := srv.Client(f)
	draft, err := client.Regulatory.Analyze(f.Context(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		f.Fatal(err)
	}
	bought, err := client.Regulatory.Analyze(f.Context(), &shipping.AnalyzeRequest{ShipmentID: srv.Shipments()[0]})
	if err != nil {
		f.Fatal(err)
	}
	if _, err := client.Regulatory.Purchase(f.Context(),
		&shipping.PurchaseRequest{RequestID: bought.RequestID,
			DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}); err != nil {
		f.Fatal(err)
	}
	names := strings.NewReplacer("{draft}", draft.RequestID, "{bought}", bought.RequestID, "{wallet}", srv.Wallets()[0],
		"{shipment}", srv.Shipments()[0], "{webhook}", srv.Webhooks()[0], "{delivery}", srv.Deliveries()[0].ID, "{key}", srv.SecretKey)
	f.Fuzz(func(t *testing.T, method, path, query, header string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(names.Replace(string(body))))
		fields, odd := textproto.NewReader(bufio.NewReader(strings.NewReader(names.Replace(header) +
			"\r\n\r\n"))).ReadMIMEHeader()
		if err != nil || odd != nil || strings.HasPrefix(path, "/_mock/") {
			return
		}
		req.URL.Path, req.URL.RawQuery, req.Header = names.Replace(path), names.Replace(query), http.Header(fields)
		if req.Header.Get("Authorization") == "" {
			req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
		}
		recorder := httptest.NewRecorder()
		srv.ServeHTTP(recorder, req)
		if recorder.Code == http.StatusNotModified || recorder.Code == http.StatusRequestHeaderFieldsTooLarge {
			return // of every operation, and in no document
		}
		newJudge(t).judge(req, []byte(names.Replace(string(body))), recorder.Result(), recorder.Body.Bytes())
	})
}
