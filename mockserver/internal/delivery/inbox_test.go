package delivery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func newInbox() *Inbox {
	return NewInbox("secret", signature.Of(nil),
		func() time.Time { return time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC) })
}

func TestInbox_IsBounded(t *testing.T) {
	t.Parallel()
	in := newInbox()
	for range maxInbox + 3 {
		in.Receive(nil, []byte(`{}`), 200)
	}
	if kept := in.Notifications(0, ""); len(kept) != maxInbox || kept[0].Number != 4 {
		t.Errorf("%d notifications, the first is %d", len(kept), kept[0].Number)
	}
	in.Clear()
	half := []byte(`"` + strings.Repeat("a", 4<<20-2) + `"`)
	for number, want := range []int{1, 2, 2, 2} {
		if kept := in.Receive(nil, half, 200); kept.Number != number+1 || len(in.Notifications(0, "")) != want {
			t.Errorf("after number %d: %d notifications, want %d", kept.Number, len(in.Notifications(0, "")), want)
		}
	}
	in.Receive(nil, []byte(`1`), 200)
	if kept := in.Notifications(0, ""); len(kept) != 2 || kept[1].Number != 5 {
		t.Errorf("after another byte: %d notifications", len(kept))
	}
	in.Receive(nil, []byte(`"`+strings.Repeat("a", 9<<20)+`"`), 200)
	if kept := in.Notifications(0, ""); len(kept) != 1 || kept[0].Number != 6 {
		t.Errorf("a payload beyond the limit: %d notifications", len(kept))
	}
}

// A wait for the inbox ends with the notification that completes its count, not with one that another query matches,
// and with its context.
func TestInbox_FindsAndAwaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := newInbox()
		in.Receive(http.Header{signature.DeliveryID: {"D-1"}}, []byte(`{"a":"needle"}`), 200)
		in.Receive(http.Header{signature.EventID: {"E-2"}, signature.WebhookID: {"WA-2"}}, []byte(`{"a":"D-1"}`), 200)
		for _, test := range []struct {
			after int
			text  string
			want  []int
		}{
			{0, "", []int{1, 2}}, {1, "", []int{2}}, {2, "", nil}, {0, "needle", []int{1}}, {0, "D-1", []int{1, 2}},
			{0, "E-2", []int{2}},
			{0, "WA-2", []int{2}}, {0, "D", []int{2}}, {1, "needle", nil},
		} {
			var got []int
			for _, n := range in.Notifications(test.after, test.text) {
				got = append(got, n.Number)
			}
			shippingtest.Diff(t, fmt.Sprint(test.text, " after ", test.after), test.want, got)
		}
		ended := make(chan []notify.Received)
		go func() {
			found, err := in.Await(t.Context(), 2, "late", 2)
			if err != nil {
				t.Error(err)
			}
			ended <- found
		}()
		for _, payload := range []string{`"late"`, `"other"`, `"late"`} {
			synctest.Wait()
			select {
			case <-ended:
				t.Errorf("the wait has ended before %s", payload)
			default:
			}
			in.Receive(nil, []byte(payload), 200)
		}
		if found := <-ended; len(found) != 2 || found[1].Number != 5 {
			t.Errorf("%+v", found)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := in.Await(ctx, 0, "late", 3); !errors.Is(err, context.DeadlineExceeded) ||
			!strings.Contains(err.Error(), "found 2 of 3") {
			t.Errorf("the wait ends with %v", err)
		}
		broken := errors.New("broken")
		r := httptest.NewRequest(http.MethodPost, notify.InboxURL, iotest.ErrReader(broken))
		shippingtest.WantError(t, "a body that cannot be read", shippingtest.Err(in.Transport(nil).RoundTrip(r)), broken)
		if r, err := in.Transport(nil).RoundTrip(httptest.NewRequest("POST", notify.InboxURL+"?status=a", nil)); err == nil {
			t.Errorf("an impossible status: %v", r)
		}
	})
}
