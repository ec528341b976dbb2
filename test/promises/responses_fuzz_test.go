package promises_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// FuzzAnswers: whatever the response to whatever call, the call returns, has been sent once, and reports
// either that the service has agreed or, in a typed error that can be read and shows no key, that it has
// not. {key} stands for the secret key.
func FuzzAnswers(f *testing.F) {
	randomtest.AddInputs(f, "testdata/FuzzAnswers.txt", uint8(0), uint16(0), "", "")
	calls := hostileCalls()
	f.Fuzz(func(t *testing.T, which uint8, status uint16, contentType, body string) {
		call, status := calls[int(which)%len(calls)], 200+status%400
		body = strings.ReplaceAll(body, "{key}", shippingtest.Key)
		synctest.Test(t, func(t *testing.T) {
			service := shippingtest.NewService(httpmock.NewStringResponder(int(status), body).HeaderSet(http.Header{"Content-Type": {contentType}}))
			client := shippingtest.NewClient(t, service, shipping.WithProvisionalRoutes(), shipping.WithRetryPolicy(shipping.RetryPolicy{MaxAttempts: 1}))
			_, err := call.Do(t.Context(), client)
			if got := service.Requests(); len(got) == 0 || len(got) > 1 && (call.Operation != shipping.OpPurchase || service.Count(http.MethodPost) > 1) {
				t.Errorf("%s was sent %d times", call.Operation, len(got))
			}
			if err == nil {
				var said struct{ Status any }
				_ = json.Unmarshal([]byte(body), &said) // fails for a PDF
				if status/100 != 2 || said.Status == false {
					t.Errorf("%s is said to have worked: %d %q", call.Operation, status, body)
				}
				return
			}
			failure, ok := errors.AsType[*shipping.Error](err)
			if _, failed := errors.AsType[*shipping.FailedError](err); failed && !ok {
				failure, ok = &shipping.Error{StatusCode: int(status)}, status/100 == 2 // not a response of the service
			}
			if !ok || failure.StatusCode != int(status) && call.Operation != shipping.OpPurchase {
				t.Fatalf("%s was answered %d %q: %v", call.Operation, status, body, err)
			}
			if call.Operation == shipping.OpPurchase && shippingtest.Outcome(nil, err) == "" {
				t.Errorf("a purchase without an outcome: %v", err)
			}
			if text := err.Error(); len(text) > 6000 || strings.ContainsAny(text, "\n\r") || leaks(text) || leaks(string(failure.Data)+string(failure.Body)+failure.Message+failure.RequestID) {
				t.Errorf("%s: the error does not read well: %.300q", call.Operation, text)
			}
		})
	})
}
