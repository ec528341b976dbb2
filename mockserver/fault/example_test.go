package fault_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/fault"
)

// A response that is exactly as given: half a JSON object that claims to be all of it.
func ExampleRespond() {
	srv := mockserver.New(mockserver.WithoutListener())
	defer srv.Close()
	half := fault.Respond(200, http.Header{"Content-Type": {"application/json"}}, `{"status":true,"data":{"rates":[`)
	if err := srv.Inject(fault.Rule{Operation: shipping.OpListRates, Fault: half}); err != nil {
		fmt.Println(err)
		return
	}
	req, err := http.NewRequest(http.MethodGet, srv.URL+"/v1/rates", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+srv.SecretKey)
	resp, err := srv.Transport().RoundTrip(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	fmt.Println(resp.Status, resp.ContentLength, resp.Header.Get("Content-Type"))
	// Output:
	// 200 OK 32 application/json
}

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

// The first connection closes without a response, after three seconds. The later rule counts this request, and strikes the
// others.
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
