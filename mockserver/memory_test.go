package mockserver

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// The memory that a request may make the server allocate: a few times its limit while it is read (the race detector
// adds to it), and more for a complete body, for the records that are made from it.
const (
	bodyLimit        = 1 << 20
	mostWhileReading = 8 * bodyLimit
	mostForItsValues = 16 * bodyLimit
)

// TestMemory_NoRequestCostsMoreThanItsLimit sends requests without end until the server has had enough, and
// whole ones that are as large as may be. It is not parallel: nothing else allocates meanwhile.
func TestMemory_NoRequestCostsMoreThanItsLimit(t *testing.T) {
	server := New(WithDialect(&dialect.Dialect{Request: dialect.Request{MaxBody: bodyLimit}}))
	defer server.Close()
	draft := shippingtest.Draft(t, server.Client(t), server.Shipments()[0])
	head := func(line, more string) string {
		return line + " HTTP/1.1\r\nHost: service\r\nAuthorization: Bearer " + server.SecretKey +
			"\r\nContent-Type: application/json\r\n" + more
	}
	const (
		chunked, petabyte = "Transfer-Encoding: chunked\r\n\r\n", "Content-Length: 1125899906842624\r\n\r\n"
		analyze, purchase = "POST /v1/regulatory-documents/analyze", "POST /v1/regulatory-documents/purchase"
	)
	items := "PUT /v1/regulatory-documents/request/" + draft.RequestID + "/items"
	whole := func(line, start, element, end string) string {
		body := start + element + strings.Repeat(","+element, (bodyLimit-len(start+element+end))/len(","+element)) + end
		return head(line, fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body))
	}
	for name, request := range map[string]struct {
		start, again string
		status       string
		most         uint64
	}{
		"a body without end":            {head(analyze, petabyte) + `{"shipment_id":"`, "x", "413", mostWhileReading},
		"chunks without end":            {head(analyze, chunked), "10\r\n0123456789abcdef\r\n", "413", mostWhileReading},
		"a chunk extension without end": {head(analyze, chunked) + "1;", "x", "400", mostWhileReading},
		"a trailer without end": {head(analyze, chunked) + "2\r\n{}\r\n0\r\n", "X-More: and more\r\n", "400",
			mostWhileReading},
		"headers without end":      {head(analyze, ""), "X-More: and more\r\n", "431", mostWhileReading},
		"a header without end":     {head(analyze, "X-More: "), "x", "431", mostWhileReading},
		"a first line without end": {"GET /", "x", "431", mostWhileReading},
		"arrays to the moon":       {whole(analyze, strings.Repeat("[", bodyLimit/2), "0", ""), "", "400", mostWhileReading},
		"members":                  {whole(analyze, "{", `"":0`, "}"), "", "400", mostForItsValues},
		"document types of numbers": {whole(purchase, `{"request_id":"RD-1","document_types":[`, "0", "]}"), "", "413",
			mostForItsValues},
		"document types of texts": {whole(purchase, `{"request_id":"RD-1","document_types":[`, `""`, "]}"), "", "413",
			mostForItsValues},
		"line items of numbers": {whole(items, `{"line_items":[`, "0", "]}"), "", "413", mostForItsValues},
		"empty line items":      {whole(items, `{"line_items":[`, "{}", "]}"), "", "413", mostForItsValues},
	} {
		t.Run(name, func(t *testing.T) {
			start, again := []byte(request.start), bytes.Repeat([]byte(request.again), 1000)
			answer := make([]byte, len("HTTP/1.1 400"))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			send(t, server.URL, start, again, answer)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > request.most {
				t.Errorf("it allocated %d bytes, want %d at most", got, request.most)
			}
			shippingtest.Diff(t, "status line", "HTTP/1.1 "+request.status, string(answer))
		})
	}
}

// send writes the start of a request, and the rest again and again until the server has had enough. It reads
// the start of the answer.
func send(t *testing.T, url string, start, again, answer []byte) {
	t.Helper()
	conn := shippingtest.Must(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	defer conn.Close()
	answered := make(chan error)
	go func() {
		_, err := io.ReadFull(conn, answer)
		conn.Close() // else net/http reads on for half a second
		answered <- err
	}()
	_, err := conn.Write(start)
	for err == nil && len(again) > 0 {
		_, err = conn.Write(again)
	}
	if err := <-answered; err != nil {
		t.Errorf("no answer: %v", err)
	}
}
