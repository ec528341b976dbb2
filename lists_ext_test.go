package shipping_test

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/jarcoal/httpmock"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// List returned an empty list without an error if the response contained none. A list that is null is empty; All
// reported it as an error.
func TestLists_ResponsesWithoutAList(t *testing.T) {
	t.Parallel()
	for _, list := range shippingtest.Lists() {
		empty := list.Data("")
		for name, tc := range map[string]struct {
			body string
			want error
		}{
			"no data":       {`{"status":true}`, shipping.ErrUnexpectedBody},
			"data is {}":    {`{"status":true,"data":{}}`, shipping.ErrUnexpectedBody},
			"an empty list": {`{"status":true,"data":` + empty + `}`, nil},
			"null":          {`{"status":true,"data":` + strings.Replace(empty, "[]", "null", 1) + `}`, nil},
		} {
			mock := httpmock.NewMockTransport()
			mock.RegisterNoResponder(httpmock.NewStringResponder(http.StatusOK, tc.body))
			client := shippingtest.NewClient(t, mock)
			records, _, err := list.Get(t.Context(), client, "VA-1")
			if !errors.Is(err, tc.want) || err == nil && reflect.ValueOf(records).Len() != 0 {
				t.Errorf("%s, %s: List returned %v, %v; want %v", list.Name, name, records, err, tc.want)
			}
			if failure, ok := errors.AsType[*shipping.Error](err); err != nil && (!ok || failure.Operation != list.Operation || failure.StatusCode != http.StatusOK) {
				t.Errorf("%s, %s: %v", list.Name, name, err)
			}
			if !list.Paged {
				continue
			}
			for _, err := range list.All(t.Context(), client, "VA-1") {
				if !errors.Is(err, tc.want) || tc.want == nil {
					t.Errorf("%s, %s: All returned %v, want %v", list.Name, name, err, tc.want)
				}
			}
		}
	}
}
