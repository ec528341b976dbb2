package promises_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/test/vectors"
)

// hostileAnswer is a response that no honest service sends, or only under stress.
type hostileAnswer = vectors.Vector

// errAny is a result or a typed error: other tests cover how tolerant reading is.
var errAny = errors.New("a result or a typed error")

// classes are the errors of the classes of the vectors.
var classes = map[string]error{
	"": nil, "any": errAny, "connection": shipping.ErrConnection, "truncated": shipping.ErrTruncated, "too_large": shipping.ErrBodyTooLarge,
	"unexpected_body": shipping.ErrUnexpectedBody, "redirected": shipping.ErrRedirected, "server": shipping.ErrServer,
	"unauthorized": shipping.ErrUnauthorized, "not_found": shipping.ErrNotFound, "rate_limited": shipping.ErrRateLimited,
	"invalid_request": shipping.ErrInvalidRequest,
}

// expected is what the call of an operation ends with.
func expected(a hostileAnswer, operation string) error {
	want := classes[a.Error]
	switch {
	case operation == operations.DocumentPDF && a.Status == 200 && (want == errAny || want == shipping.ErrInvalidRequest):
		return shipping.ErrUnexpectedBody // in any case it is not a PDF
	case operation == "do" && a.Status == 204:
		return nil // it may have no body
	}
	return want
}

// hostileAnswers returns the vectors that are responses.
func hostileAnswers(t testing.TB) []hostileAnswer {
	t.Helper()
	all, err := vectors.All()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(v hostileAnswer) bool { return v.Refused })
}

// wireAnswer is an HTTP response, byte for byte.
func wireAnswer(status, body string, headers ...string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\nContent-Length: " + fmt.Sprint(len(body)) +
		"\r\nConnection: close\r\n" +
		strings.Join(append(headers, ""), "\r\n") + "\r\n" + body
}
