package promises_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/internal/tcptest"
)

// cut is where a connection ends: after so many bytes of the request or of the response.
type cut struct {
	request  bool
	after    int
	response string
}

// serve reads and writes until the connection ends.
func (c cut) serve(conn net.Conn) {
	if c.request {
		_, _ = io.CopyN(io.Discard, conn, int64(c.after))
	} else {
		_, _ = tcptest.ReadRequest(bufio.NewReader(conn))
		_, _ = io.WriteString(conn, c.response[:c.after])
	}
	_ = conn.Close()
}

func (c cut) inBody() bool {
	return !c.request && c.after >= strings.Index(c.response, "\r\n\r\n")+len("\r\n\r\n")
}

// want is the error of the call.
func (c cut) want() error {
	if c.inBody() {
		return shipping.ErrTruncated
	}
	return shipping.ErrConnection
}

// TestCuts_AConnectionThatEndsAtAnyByte: the connection ends at each byte of the request and of the header of the
// response, and at every 13th byte of its body, for a read, a purchase and another change; for other calls at every
// 13th byte. The call returns a typed error, and only a read is sent again. Nobody knows whether such a purchase was
// charged.
func TestCuts_AConnectionThatEndsAtAnyByte(t *testing.T) {
	t.Parallel()
	eachByte := []string{shipping.OpListRates, shipping.OpPurchase, shipping.OpAnalyze}
	var connections atomic.Int64
	t.Run("of", func(t *testing.T) {
		for _, call := range hostileCalls() {
			t.Run(call.Operation, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					response := wireAnswer("200 OK", call.Body())
					size := requestSize(t, call, response)
					for at := range size + len(response) {
						c := cut{at < size, at, response}
						if !c.request {
							c.after -= size
						}
						if at%13 == 0 || !c.inBody() && slices.Contains(eachByte, call.Operation) {
							connections.Add(checkCut(t, call, c))
						}
					}
				})
			})
		}
	})
	t.Attr("cases", fmt.Sprintf("%d connections", connections.Load()))
}

// requestSize returns the number of bytes that a call sends.
func requestSize(t *testing.T, call shippingtest.Call, response string) int {
	var sent bytes.Buffer
	transport := wire(t, func(conn net.Conn) {
		_, _ = tcptest.ReadRequest(bufio.NewReader(io.TeeReader(conn, &sent)))
		_, _ = io.WriteString(conn, response)
	})
	if _, err := call.Do(t.Context(), shippingtest.NewClient(t, transport, shippingtest.WithRoutes())); err != nil {
		t.Error(err)
	}
	return sent.Len()
}

// checkCut makes a call whose connections all end at one place, and returns their number.
func checkCut(t *testing.T, call shippingtest.Call, c cut) (connections int64) {
	transport := wire(t, func(conn net.Conn) {
		connections++
		c.serve(conn)
	})
	_, err := call.Do(t.Context(),
		shippingtest.NewClient(t, transport, shippingtest.WithRoutes(), hostilePolicy(hostileAnswer{})))
	attempts := 1
	if shippingtest.Operation(call.Operation).Retry == operations.Safe {
		attempts = 2
	}
	failure, typed := errors.AsType[*shipping.Error](err)
	switch text := fmt.Sprint(err); {
	case !typed || !errors.Is(err, c.want()) || len(failure.Attempts) != attempts:
		t.Errorf("%+v: %d attempts: %v", c, attempts, err)
	case leaks(text) || strings.ContainsAny(text, "\r\n"):
		t.Errorf("%+v: the error does not read well: %q", c, text)
	case c.inBody() && failure.StatusCode != http.StatusOK:
		t.Errorf("%+v: status %d", c, failure.StatusCode)
	case call.Operation == shipping.OpPurchase && shippingtest.Outcome(nil, err) != shipping.OutcomeUnknown:
		t.Errorf("%+v: %v", c, err)
	}
	return connections
}
