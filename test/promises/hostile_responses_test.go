package promises_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/test/vectors"
)

// hostileAnswer is a response that no honest service sends, or only under stress: a vector, as the tests of all calls need
// it.
type hostileAnswer struct {
	// write sends it; success is the body that an honest service would send.
	write func(to net.Conn, success string)
	// want is what the error is: nil for a success, errAny where either will do.
	want error
	// status is the error's StatusCode; 0 if it is not checked.
	status int
	// asked is the error's RetryAfter.
	asked time.Duration
	// again is true where an operation that is safe to repeat asks again.
	again bool
	// endless responses end only with the time of the attempt.
	endless bool
}

// errAny is a result or a typed error: other tests cover how tolerant reading is.
var errAny = errors.New("a result or a typed error")

// expected is what the call of an operation ends with.
func (a hostileAnswer) expected(operation string) error {
	switch {
	case operation == operations.DocumentPDF && a.status == 200 && (a.want == errAny || a.want == shipping.ErrInvalidRequest):
		return shipping.ErrUnexpectedBody // in any case it is not a PDF
	case operation == "do" && a.status == 204:
		return nil // it may have no body
	}
	return a.want
}

// hostileAnswers returns the vectors that are responses, by name.
func hostileAnswers(t testing.TB) map[string]hostileAnswer {
	t.Helper()
	classes := map[string]error{
		"": nil, "any": errAny, "connection": shipping.ErrConnection, "truncated": shipping.ErrTruncated, "too_large": shipping.ErrBodyTooLarge,
		"unexpected_body": shipping.ErrUnexpectedBody, "redirected": shipping.ErrRedirected, "server": shipping.ErrServer,
		"unauthorized": shipping.ErrUnauthorized, "not_found": shipping.ErrNotFound, "rate_limited": shipping.ErrRateLimited,
		"invalid_request": shipping.ErrInvalidRequest,
	}
	vectors, err := vectors.All()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]hostileAnswer{}
	for _, v := range vectors {
		if !v.Refused {
			all[v.Name] = hostileAnswer{v.Write, classes[v.Error], v.Status, time.Duration(v.RetryAfter) * time.Millisecond, v.Retry, v.Endless}
		}
	}
	return all
}

// wireAnswer is an HTTP response, byte for byte.
func wireAnswer(status, body string, headers ...string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) + "\r\nConnection: close\r\n" +
		strings.Join(append(headers, ""), "\r\n") + "\r\n" + body
}

// bytesOf writes a text and nothing else.
func bytesOf(text string) func(net.Conn, string) {
	whole := []byte(text)
	return func(to net.Conn, _ string) { _, _ = to.Write(whole) }
}
