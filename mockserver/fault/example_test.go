package fault_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// A rule has the same shape in Go and in POST /_mock/faults.
func ExampleRule() {
	text, err := json.Marshal(fault.Rule{
		Operation: shipping.OpListRates, First: 2,
		Fault: fault.RateLimit(fault.RetryAfterSeconds, 90*time.Second),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(text))
	// Output:
	// {"operation":"rates.list","first":2,"fault":{"kind":"rate-limit","duration":"1m30s","retry_after":"seconds"}}
}

// The first connection closes without a response, after three seconds. The later rule counts this request, and strikes
// the others.
func Example_severalFaults() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	fmt.Println(srv.Inject(
		fault.Rule{Fault: fault.Latency(3 * time.Second)},
		fault.Rule{First: 1, Fault: fault.Drop()},
		fault.Rule{Fault: fault.Status(503, nil)},
	))
	// Output:
	// <nil>
}
