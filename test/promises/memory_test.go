package promises_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/test/vectors"
)

// allocated is how many bytes the whole process allocates while do runs, those that are freed again and those
// of a server in the process included.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// The memory that a call may allocate for each response: a multiple of hostileLimit, which also bounds its headers,
// which are read in growing buffers, kept for the error, and quoted in it. The records
// of lists come on top; a response of that limit may hold mostElements of them.
const (
	mostForAnAnswer = 16 * hostileLimit
	mostElements    = 4096
	mostMembers     = 65536
	mostForARecord  = 8 << 10
)

// TestMemory_NoAnswerCostsMoreThanItsLimit is not parallel: nothing else allocates meanwhile.
func TestMemory_NoAnswerCostsMoreThanItsLimit(t *testing.T) {
	measured := []string{shipping.OpListRates, shipping.OpPurchase}
	for _, answer := range hostileAnswers(t) {
		if answer.Endless { // so are these in time, and a byte a second is not much
			continue
		}
		t.Run(answer.Name, func(t *testing.T) {
			for _, call := range hostileCalls() {
				if slices.Contains(measured, call.Operation) {
					measure(t, call, answer, 0)
				}
			}
		})
	}
}

// TestMemory_NoListCostsMoreThanItsElements: an element takes the memory of a record, and a member that of a value,
// however short they are.
func TestMemory_NoListCostsMoreThanItsElements(t *testing.T) {
	lists := map[string]string{} // the start of their responses by operation
	for _, list := range shippingtest.Lists() {
		lists[list.Operation], _, _ = strings.Cut(list.Data("|"), "|")
	}
	lists[shipping.OpGetRequest] = `{"request_id":"RD-1","status":"draft","documents":[`
	elements := []string{"0", "{}", `{"a":[0]}`}
	var members strings.Builder
	for i := range mostMembers * 5 / 4 {
		fmt.Fprintf(&members, `,"%x":0`, i)
	}
	for _, call := range hostileCalls() {
		start, isList := lists[call.Operation]
		if !isList {
			continue // it reads no records, or a regulatory request
		}
		crowded := wireAnswer("200 OK", shippingtest.Envelope(`{"m":0`+members.String()+"}"))
		answer := hostileAnswer{Response: []vectors.Part{{Text: crowded}}}
		shippingtest.WantError(t, fmt.Sprintf("%s of %d members", call.Operation, mostMembers), measure(t, call, answer, 0),
			shipping.ErrBodyTooLarge)
		for _, element := range elements {
			for count, want := range map[int]error{mostElements: nil, mostElements + 2: shipping.ErrBodyTooLarge,
				100_000: shipping.ErrBodyTooLarge} {
				t.Run(call.Operation+" of "+element, func(t *testing.T) {
					data := start + element + strings.Repeat(","+element, count-1) + "]" + map[bool]string{true: "}"}[start[0] == '{']
					answer := hostileAnswer{Response: []vectors.Part{{Text: wireAnswer("200 OK", shippingtest.Envelope(data))}}}
					err := measure(t, call, answer, mostElements*mostForARecord)
					if tooLarge := errors.Is(err, shipping.ErrBodyTooLarge); tooLarge != (want != nil) {
						t.Errorf("%d elements: %v", count, err)
					}
				})
			}
		}
	}
}

// measure makes a call that gets the same response repeatedly, and compares its allocations with the bound.
func measure(t *testing.T, call shippingtest.Call, answer hostileAnswer, more uint64) (err error) {
	t.Helper()
	server := startHostile(t, func(to net.Conn, _ *http.Request) { answer.Write(to, call.Body()) })
	defer server.Close()
	client := server.client(t, hostilePolicy(answer))
	got := allocated(func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = call.Do(ctx, client)
	})
	if most := uint64(max(server.count(""), 1))*mostForAnAnswer + more; got > most {
		t.Errorf("%s allocated %d bytes, want %d at most: %.100v", call.Operation, got, most, err)
	}
	return err
}
