package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

func newInbox() *Inbox {
	return NewInbox("secret", dialect.Notification{}, func() time.Time { return time.Date(2026, 1, 5, 9, 30, 0, 0, time.UTC) })
}

func TestInbox_VerifiesSignatures(t *testing.T) {
	t.Parallel()
	const payload = `{"event":"shipment.updated"}`
	for name, test := range map[string]struct {
		payload, signature string
		event, problem     string // part of the problem; "" for a valid notification
	}{
		"signed":       {payload, webhook.Sign("secret", []byte(payload)), "shipment.updated", ""},
		"another key":  {payload, webhook.Sign("other", []byte(payload)), "shipment.updated", "X-Webhook-Signature is wrong"},
		"no signature": {payload, "", "shipment.updated", "the header X-Webhook-Signature is missing"},
		"no event":     {`{"event":1}`, webhook.Sign("secret", []byte(`{"event":1}`)), "", ""},
		"a list":       {` []`, webhook.Sign("secret", []byte(` []`)), "", "not a JSON object"},
		"no JSON":      {`{"event":"shipment.updated"`, "", "", "not a JSON object"},
		"nothing":      {``, "", "", "not a JSON object"},
	} {
		header := http.Header{"Content-Type": {"application/json"}, "X-Other": {"1"}}
		if test.signature != "" {
			header.Set(signature.Header, test.signature)
		}
		n := newInbox().Receive(header, []byte(test.payload), 200)
		if n.Valid != (test.problem == "") || !strings.Contains(n.Problem, test.problem) || n.Event != test.event {
			t.Errorf("%s: %+v", name, n)
		}
		if delete(header, "X-Other"); len(n.Header) != len(header) || n.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: the header is %v", name, n.Header)
		}
	}
}

func TestInbox_CountsAttempts(t *testing.T) {
	t.Parallel()
	in := newInbox()
	var got []string
	for _, id := range []string{"D-1", "D-2", "D-1", "", "D-1", ""} {
		n := in.Receive(http.Header{signature.DeliveryID: {id}}, []byte(`{}`), 200)
		got = append(got, fmt.Sprintf("%d %s %d", n.Number, n.DeliveryID, n.Attempt))
	}
	if want := []string{"1 D-1 1", "2 D-2 1", "3 D-1 2", "4  0", "5 D-1 3", "6  0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if in.Received() != 6 {
		t.Errorf("%d received", in.Received())
	}
	if in.Clear(); in.Received() != 0 || len(in.Notifications(0, "")) != 0 || in.Receive(nil, nil, 200).Number != 1 {
		t.Error("an inbox that was cleared is not empty")
	}
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
			{0, "", []int{1, 2}}, {1, "", []int{2}}, {2, "", nil}, {0, "needle", []int{1}}, {0, "D-1", []int{1, 2}}, {0, "E-2", []int{2}},
			{0, "WA-2", []int{2}}, {0, "D", []int{2}}, {1, "needle", nil},
		} {
			var got []int
			for _, n := range in.Notifications(test.after, test.text) {
				got = append(got, n.Number)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q after %d: %v, want %v", test.text, test.after, got, test.want)
			}
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
		if _, err := in.Await(ctx, 0, "late", 3); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "found 2 of 3") {
			t.Errorf("the wait ends with %v", err)
		}
	})
}

func TestInbox_RespondsInPlaceOfAReceiver(t *testing.T) {
	t.Parallel()
	in := newInbox()
	elsewhere := errors.New("elsewhere")
	transport := in.Transport(roundTripper(func(*http.Request) (*http.Response, error) { return nil, elsewhere }))
	send := func(url string, body io.Reader) (*http.Response, error) {
		r, err := http.NewRequest(http.MethodPost, url, body)
		if err != nil {
			t.Fatal(err)
		}
		return transport.RoundTrip(r)
	}
	for query, want := range map[string]int{"": 200, "?status=200": 200, "?status=503": 503, "?status=599": 599, "?status=199": 0, "?status=600": 0, "?status=a": 0} {
		response, err := send(notify.InboxURL+query, strings.NewReader(`{}`))
		if got := 0; err == nil {
			if got = response.StatusCode; got != want {
				t.Errorf("%q: %d, want %d", query, got, want)
			}
		} else if want != 0 || !strings.Contains(err.Error(), "200 to 599") {
			t.Errorf("%q: %v", query, err)
		}
	}
	if in.Received() != 4 {
		t.Errorf("%d notifications, want 4", in.Received())
	}
	broken := errors.New("broken")
	if _, err := send(notify.InboxURL, iotest.ErrReader(broken)); !errors.Is(err, broken) || in.Received() != 4 {
		t.Errorf("a body that cannot be read: %v", err)
	}
	if _, err := send("http://127.0.0.1/", strings.NewReader(`{}`)); !errors.Is(err, elsewhere) {
		t.Errorf("another address: %v", err)
	}
}
