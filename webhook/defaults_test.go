package webhook

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// hurriedStore records how much time each call is given, and fails to accept.
type hurriedStore struct {
	*MemoryStore
	given map[string]time.Duration
}

func (s hurriedStore) note(ctx context.Context, method string) {
	if deadline, ok := ctx.Deadline(); ok {
		s.given[method] = time.Until(deadline)
	}
}

func (s hurriedStore) Accept(ctx context.Context, id, claim string) error {
	s.note(ctx, "Accept")
	return errors.Join(ctx.Err(), s.MemoryStore.Accept(ctx, id, claim))
}

func (s hurriedStore) Release(ctx context.Context, id, claim string) error {
	s.note(ctx, "Release")
	return errors.Join(ctx.Err(), s.MemoryStore.Release(ctx, id, claim))
}

// A claim is ended within ten seconds, also if the request is over. A refused delivery is asked for again after five.
func TestReceiver_EndsAClaimAlsoAfterTheRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const key, body = "sk_test_present", `{"event":"shipment.updated"}`
		store := hurriedStore{NewMemoryStore(0, 0), map[string]time.Duration{}}
		fails := true
		receiver, err := NewReceiver(func(context.Context, *Notification) error {
			if fails {
				return errors.New("not today")
			}
			return nil
		}, WithKeys(key), WithInline(), WithStore(store))
		if err != nil {
			t.Fatal(err)
		}
		send := func() *httptest.ResponseRecorder {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
			request.Header.Set(DefaultSignatureHeader, Sign(key, []byte(body)))
			response := httptest.NewRecorder()
			receiver.ServeHTTP(response, request)
			return response
		}
		if response := send(); response.Code != http.StatusServiceUnavailable || response.Header().Get("Retry-After") != "5" {
			t.Errorf("a failure: %d %v", response.Code, response.Header())
		}
		fails = false
		if response := send(); response.Code != http.StatusOK {
			t.Errorf("after it: %d %s", response.Code, response.Body)
		}
		for _, method := range []string{"Accept", "Release"} {
			if store.given[method] != 10*time.Second {
				t.Errorf("%s is given %s", method, store.given[method])
			}
		}
		if err := receiver.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
