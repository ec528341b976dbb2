package webhook_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

const (
	key  = "sk_test_present"
	body = `{"event":"shipment.updated","data":{"shipment_id":"SH-1","status":"in-transit"}}`
)

func newReceiver(t *testing.T, handle webhook.Handler, opts ...webhook.Option) *webhook.Receiver {
	t.Helper()
	receiver := shippingtest.Must(webhook.NewReceiver(handle,
		append([]webhook.Option{webhook.WithKeys(key), webhook.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...))(t)
	t.Cleanup(func() { _ = receiver.Close(context.Background()) })
	return receiver
}

// accept is a handler that does nothing.
func accept(context.Context, *webhook.Notification) error { return nil }

// subscribe makes a receiver of the notifications of a server, and returns the id of its webhook, and the notifications
// that it handles.
func subscribe(t *testing.T, server *mockserver.Server,
	opts ...webhook.Option) (id string, handled chan *webhook.Notification) {
	t.Helper()
	handled = make(chan *webhook.Notification, 10)
	receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error { handled <- n; return nil },
		append([]webhook.Option{webhook.WithKeys(server.SecretKey)}, opts...)...)
	hook := httptest.NewServer(receiver)
	t.Cleanup(hook.Close)
	id, err := server.AddWebhook(notify.Webhook{URL: hook.URL})
	shippingtest.NoError(t, err)
	return id, handled
}

// queued makes a receiver respond before it handles a notification.
func queued() webhook.Option { return webhook.WithWorkers(4, 1024) }

// post delivers a body to a receiver, with headers as pairs.
func post(receiver http.Handler, body, signature string, header ...string) *httptest.ResponseRecorder {
	return postIn(context.Background(), receiver, body, signature, header...)
}

func postIn(ctx context.Context, receiver http.Handler, body, signature string,
	header ...string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body))
	if signature != "" {
		request.Header.Set(webhook.DefaultSignatureHeader, signature)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	receiver.ServeHTTP(answer, request)
	return answer
}

// postSigned delivers a body with its signature.
func postSigned(receiver http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	return post(receiver, body, webhook.Sign(key, []byte(body)), header...)
}

// send delivers a signed notification with an id.
func send(receiver http.Handler, id string) *httptest.ResponseRecorder {
	return postSigned(receiver, body, webhook.DefaultIDHeader, id)
}

// hookedStore is a store that calls a function before each method, which can fail.
type hookedStore struct {
	webhook.Store
	before func(ctx context.Context, method string) error
}

func (s hookedStore) Claim(ctx context.Context, id, claim string) (webhook.ClaimState, error) {
	if err := s.before(ctx, "Claim"); err != nil {
		return 0, err
	}
	return s.Store.Claim(ctx, id, claim)
}

func (s hookedStore) Accept(ctx context.Context, id, claim string) error {
	if err := s.before(ctx, "Accept"); err != nil {
		return err
	}
	return s.Store.Accept(ctx, id, claim)
}

func (s hookedStore) Release(ctx context.Context, id, claim string) error {
	if err := s.before(ctx, "Release"); err != nil {
		return err
	}
	return s.Store.Release(ctx, id, claim)
}

func TestReceiver_AnswersForWhatComes(t *testing.T) {
	t.Parallel()
	const former, unknown = "sk_test_former", `{"event":"wallet.opened","data":null}`
	type row struct {
		body, signature string
		status          int
		handled         int
	}
	shippingtest.EachRow(t, map[string]row{
		"signed":                     {body, webhook.Sign(key, []byte(body)), 200, 1},
		"signed, in large letters":   {body, strings.ToUpper(webhook.Sign(key, []byte(body))), 200, 1},
		"signed with the former key": {body, webhook.Sign(former, []byte(body)), 200, 1},
		"unknown event":              {unknown, webhook.Sign(key, []byte(unknown)), 200, 1},
		"not signed":                 {body, "", 401, 0},
		"signed with another key":    {body, webhook.Sign("sk_test_other", []byte(body)), 401, 0},
		"changed after signing":      {strings.Replace(body, "SH-1", "SH-2", 1), webhook.Sign(key, []byte(body)), 401, 0},
		"signed, but re-serialised":  {strings.ReplaceAll(body, ":", ": "), webhook.Sign(key, []byte(body)), 401, 0},
		"cut signature":              {body, webhook.Sign(key, []byte(body))[:64], 401, 0},
		"not JSON":                   {"hello", webhook.Sign(key, []byte("hello")), 400, 0},
		"no event":                   {`{"data":{}}`, webhook.Sign(key, []byte(`{"data":{}}`)), 400, 0},
		"empty":                      {"", webhook.Sign(key, nil), 400, 0},
		"too large":                  {strings.Repeat(" ", 2000) + body, webhook.Sign(key, []byte(body)), 413, 0},
	}, func(t *testing.T, tc row) {
		handled := 0
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { handled++; return nil },
			webhook.WithKeys(key, former), webhook.WithLimits(1000, time.Second))
		answer := post(receiver, tc.body, tc.signature)
		if answer.Code != tc.status || handled != tc.handled {
			t.Errorf("%d, handled %d times, want %d and %d: %s", answer.Code, handled, tc.status, tc.handled, answer.Body)
		}
		if strings.Contains(answer.Body.String(), key) {
			t.Error("the response holds the key")
		}
	})
	receiver := newReceiver(t, accept)
	get := httptest.NewRecorder()
	receiver.ServeHTTP(get, httptest.NewRequest(http.MethodGet, "/", nil))
	if get.Code != http.StatusMethodNotAllowed || get.Header().Get("Allow") != http.MethodPost {
		t.Errorf("GET: %d %v", get.Code, get.Header())
	}
	two, refused := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)), httptest.NewRecorder()
	two.Header[webhook.DefaultSignatureHeader] = []string{webhook.Sign(key, []byte(body)), "00"}
	if receiver.ServeHTTP(refused, two); refused.Code != http.StatusUnauthorized {
		t.Errorf("two different signatures: %d", refused.Code)
	}
}

// If an id were looked up and claimed in two steps, two of the senders at the same time would both reach the handler.
func TestReceiver_HandlesEachDeliveryOnce(t *testing.T) {
	t.Parallel()
	var handled atomic.Int64
	receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { handled.Add(1); return nil })
	var senders sync.WaitGroup
	for n := range 100 {
		senders.Go(func() {
			id := fmt.Sprintf("WD-%d", n%10)
			code := http.StatusServiceUnavailable
			for code == http.StatusServiceUnavailable { // while another delivery of it is being taken in
				code = send(receiver, id).Code
			}
			shippingtest.Diff(t, id, 200, code)
		})
	}
	senders.Wait()
	for range 5 { // without an id the body identifies
		postSigned(receiver, body)
	}
	shippingtest.NoError(t, receiver.Close(t.Context()))
	shippingtest.Diff(t, "handled", 11, int(handled.Load()))
}

// Only accepted notifications get a 2xx: a full queue, a store that fails and a closed receiver ask
// the service to send again, and the repeat is accepted.
func TestReceiver_DoesNotAcceptWhatItCannotKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var handled atomic.Int64
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error {
			<-release
			handled.Add(1)
			return nil
		}, webhook.WithWorkers(1, 2))
		deliver := func(n int) int {
			answer := send(receiver, fmt.Sprint(n))
			if answer.Code == http.StatusServiceUnavailable && answer.Header().Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
			synctest.Wait()
			return answer.Code
		}
		for n, want := range []int{200, 200, 200, 503, 503} { // one at work, two in the queue
			shippingtest.Diff(t, fmt.Sprintf("delivery %d", n), want, deliver(n))
		}
		close(release)
		synctest.Wait()
		for n := range 5 { // three were seen before, two are accepted now
			shippingtest.Diff(t, fmt.Sprintf("delivery %d again", n), 200, deliver(n))
		}
		if err := receiver.Close(t.Context()); err != nil || handled.Load() != 5 {
			t.Errorf("handled %d, %v", handled.Load(), err)
		}
		shippingtest.Diff(t, "closed", http.StatusServiceUnavailable, deliver(9))
	})
}

// A repeat that arrives while the first delivery is still being handled is not answered as if that had
// succeeded: it fails, and a notification that got a 2xx would be lost.
func TestReceiver_ARepeatDuringHandlingIsNotAcceptedForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outcome := errors.New("the database is away")
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error {
			time.Sleep(time.Second)
			return outcome
		})
		expect := func(want int) {
			shippingtest.Diff(t, "status", want, send(receiver, "WD-1").Code)
		}
		go expect(http.StatusServiceUnavailable)
		synctest.Wait()
		expect(http.StatusServiceUnavailable) // in the middle
		time.Sleep(time.Second)
		synctest.Wait() // the first one has failed
		outcome = nil
		expect(http.StatusOK)
		outcome = errors.New("it is handled again")
		expect(http.StatusOK)
	})
}

// A claim is ended within ten seconds, even if the request is over. A handled notification that cannot be recorded is
// logged. A refused delivery is requested again after five seconds. With the context of the request, the claim would
// stay until its lease has passed.
func TestReceiver_EndsAClaimAlsoAfterTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		given := map[string]time.Duration{} // to each method
		store := hookedStore{webhook.NewMemoryStore(webhook.StoreOptions{}), func(ctx context.Context, method string) error {
			deadline, limited := ctx.Deadline()
			if !limited {
				return nil
			}
			given[method] = time.Until(deadline)
			if method == "Accept" {
				return errors.New("the disk is full")
			}
			return ctx.Err()
		}}
		outcome := errors.New("not today")
		var log bytes.Buffer
		receiver := newReceiver(t, func(context.Context, *webhook.Notification) error { return outcome },
			webhook.WithStore(store), webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		signature := webhook.Sign(key, []byte(body))
		if answer := postIn(ended, receiver, body, signature); answer.Code != http.StatusServiceUnavailable ||
			answer.Header().Get("Retry-After") != "5" {
			t.Errorf("a failure: %d %v", answer.Code, answer.Header())
		}
		outcome = nil
		shippingtest.Diff(t, "status after it", http.StatusOK, postIn(ended, receiver, body, signature).Code)
		shippingtest.Contains(t, "the log", log.String(), "the store did not record it")
		if given["Accept"] != 10*time.Second || given["Release"] != 10*time.Second || len(given) != 2 {
			t.Errorf("the store has %v", given)
		}
	})
}

// Without pauses that double, a handler would use up its attempts within a short outage; a pause after the last attempt
// would delay the report.
func TestReceiver_HandlersThatFailAreCalledAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts []time.Duration
		started := time.Now()
		lost := 0
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			attempts = append(attempts, time.Since(started))
			shippingtest.Diff(t, "attempt", len(attempts), n.Attempt)
			n.Attempt = -5 // changes neither the number of attempts nor the pauses
			return errors.New("not today")
		}, queued(), webhook.WithRetries(3, time.Second), webhook.WithLost(func(n *webhook.Notification, err error) {
			// After the last attempt the receiver waits no longer.
			if lost++; n.Event != shipping.EventShipmentUpdated || err == nil || time.Since(started) != 7*time.Second {
				t.Errorf("lost %+v, %v after %v", n, err, time.Since(started))
			}
		}))
		postSigned(receiver, body)
		shippingtest.NoError(t, receiver.Close(t.Context()))
		if fmt.Sprint(attempts) != "[0s 1s 3s 7s]" || lost != 1 {
			t.Errorf("attempts at %v, lost %d", attempts, lost)
		}
	})
}

// No log and no response contains a key, even if a delivery contains it.
func TestReceiver_NoLogShowsAKey(t *testing.T) {
	t.Parallel()
	const secret = "sk_test_8mK3vQ9rT2xW7yZ4bN6c"
	var log bytes.Buffer
	receiver := newReceiver(t, func(context.Context,
		*webhook.Notification) error {
		return fmt.Errorf("refused %s", secret)
	},
		webhook.WithKeys("sk_test_another_one_1234", secret),
		webhook.WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	marshaled, err := receiver.MarshalText()
	none, logged := (*webhook.Receiver)(nil), receiver.LogValue()
	fmt.Fprintf(&log, "%+v %#v %d %v, %v, %s, %v, %v\n", receiver, receiver, receiver, receiver, none, marshaled, err,
		logged)
	for _, delivery := range []string{body, `{"event":` + secret + `}`, `{"event":"` + secret + `","data":1}`, secret} {
		answer := post(receiver, delivery, webhook.Sign(secret, []byte(delivery)), webhook.DefaultIDHeader, secret)
		log.WriteString(answer.Body.String())
	}
	text := log.String()
	const printed = "webhook.Receiver(2 keys), webhook.Receiver(nil), webhook.Receiver(2 keys), <nil>, " +
		"webhook.Receiver(2 keys)"
	if strings.Contains(text, "8mK3") || !strings.Contains(text, "notification not accepted") ||
		!strings.Contains(text, printed) {
		t.Errorf("the log:\n%s", text)
	}
}

// When the time given to Close is up, the context of the handlers ends. Otherwise Close would wait for a handler that
// waits for its context.
func TestReceiver_CloseEndsWhenItsContextDoes(t *testing.T) {
	for want, opts := range map[int][]webhook.Option{http.StatusOK: {queued()}, http.StatusServiceUnavailable: nil} {
		synctest.Test(t, func(t *testing.T) {
			var cause error
			receiver := newReceiver(t, func(ctx context.Context, _ *webhook.Notification) error {
				<-ctx.Done()
				cause = context.Cause(ctx)
				return cause
			}, opts...)
			code := make(chan int, 1)
			go func() { code <- postSigned(receiver, body).Code }()
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			shippingtest.WantError(t, "a handler that goes on", receiver.Close(ctx), context.DeadlineExceeded)
			if got := <-code; got != want || !errors.Is(cause, webhook.ErrClosed) {
				t.Errorf("%d, %v", got, cause)
			}
			if err := receiver.Close(t.Context()); err != nil {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// Over a real connection, a body that does not end is given up. Without the time limit, it would keep its connection
// open forever.
func TestReceiver_ASlowBodyIsGivenUp(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newReceiver(t, accept, webhook.WithLimits(1000, 50*time.Millisecond)))
	defer server.Close()
	connection := shippingtest.Must(net.Dial("tcp", server.Listener.Addr().String()))(t)
	defer connection.Close()
	fmt.Fprintf(connection, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
	answer, err := io.ReadAll(connection)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 408") {
		t.Errorf("%q, %v", answer, err)
	}
}

// The identifiers of a delivery are not signed, and were kept whatever their length: 150 deliveries of one captured
// body took 258 MB of memory, and ten of them 9 MB of a file.
func TestReceiver_KeepsLongIdentifiersAsHashes(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	var handled []string
	receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
		handled = append(handled, n.ID, n.EventID)
		return nil
	}, webhook.WithStore(openFileStore(t, path, 0)))
	kept, long := strings.Repeat("x", 200), strings.Repeat("x", 100_000)
	ids := []string{"", "WD-1", kept, kept + "y", long + "y", long + "z"}
	for range 2 { // the second delivery of each is a duplicate
		for _, id := range ids {
			answer := postSigned(receiver, body, webhook.DefaultIDHeader, id, webhook.DefaultEventIDHeader, id)
			if answer.Code != http.StatusOK {
				t.Errorf("an id of %d bytes: %d", len(id), answer.Code)
			}
		}
	}
	hash := func(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }
	shippingtest.Diff(t, "ids", []string{
		hash(body), "", "WD-1", "WD-1", kept, kept,
		hash(ids[3]), hash(ids[3]), hash(ids[4]), hash(ids[4]), hash(ids[5]), hash(ids[5]),
	}, handled)
	if info := shippingtest.Must(os.Stat(path))(t); info.Size() > 2000 {
		t.Errorf("the file of the store has %d bytes", info.Size())
	}
}

// The reference server's deliveries are accepted: replayed, signed with the account's key. A replay of a delivery is
// another delivery of another event. Specification: "A replay creates a webhook event identifier".
func TestReceiver_TakesWhatTheReferenceServerSends(t *testing.T) {
	t.Parallel()
	server := mockserver.New()
	defer server.Close()
	id, got := subscribe(t, server)
	result := shippingtest.Must(server.Client(t).Webhooks.Replay(t.Context(), &shipping.ReplayRequest{
		ShipmentID: server.Shipments()[0], Event: shipping.EventShipmentDelivered, WebhookID: id,
	}))(t)
	n := <-got
	shipment, err := n.Shipment()
	if err != nil || shipment.ShipmentID != result.ShipmentID || n.ID != result.DeliveryID || n.Event != result.Event ||
		shipment.UpdatedAt.IsZero() {
		t.Errorf("%+v, %+v, %v", n, shipment, err)
	}
	if n.EventID == "" || n.EventID != result.WebhookEventID {
		t.Errorf("the event is %q, the result of the replay names %q", n.EventID, result.WebhookEventID)
	}
	shippingtest.Must(server.Client(t).Webhooks.Replay(t.Context(),
		&shipping.ReplayRequest{DeliveryID: n.ID, WebhookID: id}))(t)
	if again := <-got; again.ID == n.ID || again.EventID == n.EventID || again.EventID == "" {
		t.Errorf("the replay is delivery %s of event %s, the first %s of %s", again.ID, again.EventID, n.ID, n.EventID)
	}
}

func TestNewReceiver_RefusesBadOptions(t *testing.T) {
	t.Parallel()
	type options = []webhook.Option
	keys := webhook.WithKeys(key)
	verify := func(http.Header, []byte) error { return nil }
	standard := webhook.WithDialect(shippingtest.Dialect(t, "standard-webhooks"))
	wrong := webhook.WithDialect(shippingtest.Dialect(t, "notification.signature.signed={time}"))
	for name, tc := range map[string]struct {
		handle  webhook.Handler
		opts    options
		message string
	}{
		"no handler":              {nil, options{keys}, "handler"},
		"no key":                  {accept, nil, "WithKeys"},
		"nil option":              {accept, options{nil}, "WithKeys"},
		"a key with a line break": {accept, options{webhook.WithKeys(key, key+"\n")}, "trim it"},
		"empty key":               {accept, options{webhook.WithKeys(key, "")}, "WithKeys"},
		"no limit":                {accept, options{keys, webhook.WithLimits(0, time.Second)}, "WithLimits"},
		"no workers":              {accept, options{keys, webhook.WithWorkers(0, 1)}, "WithWorkers"},
		"a verifier and keys":     {accept, options{keys, webhook.WithVerifier(verify)}, "WithVerifier"},
		"no secret":               {accept, options{standard}, "WithKeys"},
		"a secret without base64": {accept, options{standard, keys}, "not the secret key of the account"},
		// Each notification was refused, because its header was not that of the other scheme.
		"a secret, no dialect": {accept, options{webhook.WithKeys(secret)}, "WithDialect(dialect.StandardWebhooks())"},
		"a short secret":       {accept, options{standard, webhook.WithKeys("whsec_AAAA")}, "14 bytes"},
		"a secret with a version": {accept, options{standard, webhook.WithKeys("v1," + secret)},
			`WithKeys: a secret begins with the version "v1,"`},
		"a signed id without a header": {accept, options{standard, keys, webhook.WithDialect(
			shippingtest.Dialect(t, "notification.delivery_id=-"))}, "needs the id that is signed"},
		"retries without workers": {accept, options{keys, webhook.WithRetries(1, 0)}, "WithWorkers"},
		"retries":                 {accept, options{keys, queued(), webhook.WithRetries(-1, 0)}, "WithRetries"},
		"a negative pause":        {accept, options{keys, queued(), webhook.WithRetries(0, -1)}, "WithRetries"},
		"a wrong dialect":         {accept, options{keys, wrong}, "WithDialect"},
		"no time":                 {accept, options{keys, webhook.WithLimits(1, 0)}, "WithLimits"},
		"no queue":                {accept, options{keys, webhook.WithWorkers(1, 0)}, "WithWorkers"},
		// The error of OpenFileStore was a panic at each notification.
		"a nil store": {accept, options{keys, webhook.WithStore((*webhook.FileStore)(nil))},
			"check the error of OpenFileStore"},
	} {
		shippingtest.Contains(t, name, shippingtest.Err(webhook.NewReceiver(tc.handle, tc.opts...)), tc.message)
	}
	least := options{webhook.WithKeys("k"), webhook.WithLimits(1, 1), webhook.WithWorkers(1, 1), webhook.WithRetries(0, 0)}
	if receiver, err := webhook.NewReceiver(accept, least...); err != nil {
		t.Errorf("the smallest settings: %v", err)
	} else if err := receiver.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// The names of a notification's members match byte for byte.
func TestReceiver_NamesMatchByteForByte(t *testing.T) {
	t.Parallel()
	got := ""
	receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
		shipment, err := n.Shipment()
		got = fmt.Sprint(n.Event, " ", shipment.ShipmentID)
		return err
	})
	answer := postSigned(receiver, `{"event":"shipment.created","EVENT":"x","Data":7,`+
		`"data":{"shipment_id":"SH-1","Shipment_ID":"SH-2","ſhipment_id":"SH-3"}}`)
	if answer.Code != http.StatusOK || got != "shipment.created SH-1" {
		t.Errorf("%d, %q", answer.Code, got)
	}
}
