package contract

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
)

// FuzzResponses tests that the document describes the response to any request to the service. Its seeds are those of
// FuzzServeHTTP of the server.
func FuzzResponses(f *testing.F) {
	addSeeds(f, "../../mockserver/testdata/fuzz/FuzzServeHTTP/*")
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
	if _, err := client.Regulatory.Purchase(f.Context(), &shipping.PurchaseRequest{RequestID: bought.RequestID, DocumentTypes: []shipping.DocumentType{"CUSTOMS"}}); err != nil {
		f.Fatal(err)
	}
	names := strings.NewReplacer("{draft}", draft.RequestID, "{bought}", bought.RequestID, "{wallet}", srv.Wallets()[0],
		"{shipment}", srv.Shipments()[0], "{webhook}", srv.Webhooks()[0], "{delivery}", srv.Deliveries()[0].ID, "{key}", srv.SecretKey)
	f.Fuzz(func(t *testing.T, method, path, query, header string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(names.Replace(string(body))))
		fields, odd := textproto.NewReader(bufio.NewReader(strings.NewReader(names.Replace(header) + "\r\n\r\n"))).ReadMIMEHeader()
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

// addSeeds adds the inputs of a fuzz test in package mockserver: four texts and a body, each in a line of Go.
func addSeeds(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds in %s: %v", pattern, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var input []string
		for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] { // the first is the version
			_, literal, _ := strings.Cut(strings.TrimSuffix(line, ")"), "(")
			value, err := strconv.Unquote(literal)
			if err != nil {
				f.Fatalf("%s: %q: %v", file, line, err)
			}
			input = append(input, value)
		}
		f.Add(input[0], input[1], input[2], input[3], []byte(input[4]))
	}
}
