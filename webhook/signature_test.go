package webhook_test

import (
	"bytes"
	"context"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
	"github.com/shipping-go/shipping/mockserver/notify"
	"github.com/shipping-go/shipping/webhook"
)

// With GODEBUG=fips140=only a short key panicked.
func TestSign_AShortKeyIsRefusedWhereItIsForbidden(t *testing.T) {
	t.Parallel()
	if !fips140.Enforced() {
		only := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		only.Env = append(os.Environ(), "GODEBUG=fips140=only")
		if out, err := only.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	const short = "sk_test_1"
	shippingtest.Diff(t, "the signature", "", webhook.Sign(short, []byte(body)))
	shippingtest.Contains(t, "no keys", webhook.Verify("00", []byte(body)), "Verify got no keys")
	if err := webhook.Verify("00", []byte(body), short); err != webhook.ErrSignature {
		t.Errorf("Verify returns %v", err)
	}
	_, err := webhook.NewReceiver(accept, webhook.WithKeys(short))
	shippingtest.Contains(t, "NewReceiver", err, "14 bytes")
	shortest := (short + short)[:14]
	if _, err := webhook.NewReceiver(accept, webhook.WithKeys(shortest)); err != nil || webhook.Sign(shortest, nil) == "" {
		t.Errorf("a key of 14 bytes: %v", err)
	}
}

// The id of a delivery is not signed. A captured body that was sent with the id of a later delivery suppressed that
// delivery: it was answered 200 and not handled.
func TestReceiver_AnIDWithAnotherBodyIsAnotherNotification(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store")
	var handled []string
	var log bytes.Buffer
	for range 2 { // the second receiver begins after a restart
		store := openFileStore(t, path, 0)
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error {
			handled = append(handled, n.ID+" "+string(n.Event))
			return nil
		}, webhook.WithStore(store), webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		for _, event := range []string{"captured", "genuine", "captured", "genuine"} {
			answer := postSigned(receiver, `{"event":"`+event+`"}`, webhook.DefaultIDHeader, "WD-1")
			shippingtest.Diff(t, event, http.StatusOK, answer.Code)
		}
		shippingtest.NoError(t, store.Close())
	}
	shippingtest.Diff(t, "handled", "[WD-1 captured WD-1 genuine]", fmt.Sprint(handled))
	text := log.String()
	if strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, `id seen before with another body`) {
		t.Errorf("logged:\n%s", text)
	}
}

const (
	secret      = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

// standardSignature signs by the Standard Webhooks scheme.
func standardSignature(secret, id, timestamp, body string) string {
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(id + "." + timestamp + "." + body))
	return "v1," + base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

// Without a limit for the age of its timestamp, a captured delivery could be sent again at any time.
func TestStandardWebhooks_VerifiesIDTimeAndBody(t *testing.T) {
	type delivery struct{ id, timestamp, signature, body string }
	scheme := shippingtest.Dialect(t, "standard-webhooks")
	scheme.Notification.Signature.Tolerance = 0 // five minutes
	sign := func(d *delivery, secret string) { d.signature = standardSignature(secret, d.id, d.timestamp, d.body) }
	type row struct {
		change func(d *delivery)
		away   time.Duration // of the timestamp from now
		status int
	}
	shippingtest.EachInBubble(t, map[string]row{
		"signed":                   {func(*delivery) {}, 0, 200},
		"several signatures":       {func(d *delivery) { d.signature = "v1a,AAAA v1,AAAA " + d.signature }, 0, 200},
		"with the previous secret": {func(d *delivery) { sign(d, otherSecret) }, 0, 200},
		"with another secret":      {func(d *delivery) { sign(d, "whsec_AAAA") }, 0, 401},
		"of another version": {func(d *delivery) { d.signature = strings.Replace(d.signature, "v1,", "v2,", 1) },
			0, 401},
		"without a version":            {func(d *delivery) { d.signature = strings.TrimPrefix(d.signature, "v1,") }, 0, 401},
		"in small letters":             {func(d *delivery) { d.signature = strings.ToLower(d.signature) }, 0, 401},
		"another id":                   {func(d *delivery) { d.id = "WD-2" }, 0, 401},
		"another time":                 {func(d *delivery) { d.timestamp += "0" }, 0, 401},
		"another body":                 {func(d *delivery) { d.body += " " }, 0, 401},
		"no id":                        {func(d *delivery) { d.id = ""; sign(d, secret) }, 0, 401},
		"no time":                      {func(d *delivery) { d.timestamp = ""; sign(d, secret) }, 0, 401},
		"no signature":                 {func(d *delivery) { d.signature = "" }, 0, 401},
		"a time that is not a number":  {func(d *delivery) { d.timestamp = "now"; sign(d, secret) }, 0, 401},
		"a template in the id":         {func(d *delivery) { d.id = "{body}"; sign(d, secret) }, 0, 200},
		"five minutes ago":             {func(*delivery) {}, -5 * time.Minute, 200},
		"more than five minutes ago":   {func(*delivery) {}, -301 * time.Second, 401},
		"more than five minutes ahead": {func(*delivery) {}, 301 * time.Second, 401},
	}, func(t *testing.T, test row) {
		d := delivery{id: "WD-1", timestamp: fmt.Sprint(time.Now().Add(test.away).Unix()), body: body}
		sign(&d, secret)
		test.change(&d)
		id := ""
		receiver := newReceiver(t, func(_ context.Context, n *webhook.Notification) error { id = n.ID; return nil },
			webhook.WithKeys(secret, otherSecret), webhook.WithDialect(scheme))
		answer := post(receiver, d.body, "",
			"webhook-id", d.id, "webhook-timestamp", d.timestamp, "webhook-signature", d.signature)
		if answer.Code != test.status || (id == d.id && id != "") != (test.status == 200) {
			t.Errorf("%d, handled %q, want %d", answer.Code, id, test.status)
		}
	})
}

// A verifier decides alone. Its reason is logged, and not sent to whoever may be forging.
func TestWithVerifier_DecidesAlone(t *testing.T) {
	t.Parallel()
	verifier := webhook.WithVerifier(func(header http.Header, got []byte) error {
		if header.Get("X-Caller") != "the service" || string(got) != body {
			return errors.New("the expected signature is 1234")
		}
		return nil
	})
	receiver := newReceiver(t, accept, webhook.WithKeys(), verifier)
	shippingtest.Diff(t, "status", http.StatusOK, post(receiver, body, "", "X-Caller", "the service").Code)
	for _, header := range [][]string{nil, {"X-Caller", "somebody"}} {
		answer := post(receiver, body, "", header...)
		if answer.Code != http.StatusUnauthorized || strings.Contains(answer.Body.String(), "1234") {
			t.Errorf("%v: %d %s", header, answer.Code, answer.Body)
		}
	}
}

// A receiver with the dialect of a server takes its notifications and replays, with the identifiers that it sends. One
// with another dialect refuses them, as often as the server attempts a delivery.
func TestWithDialect(t *testing.T) {
	t.Parallel()
	const timed, same = "standard-webhooks,notification.signature.key=text", "the same"
	tests := map[[2]string]bool{ // whether the receiver takes the notifications, by the dialects of server and receiver
		{timed, same}: true,
		{timed + ",notification.event_id=Webhook-Id", same}:                                       true,
		{"notification.signature.header=X-Example-Signature,notification.delivery_id=X-Id", same}: true,
		{"", same}:         true,
		{"", "reference"}:  true,
		{"contrary", same}: true,
		{"contrary", "notification.signature.header=X-Example-Signature"}: false,
		{"", "contrary"}:                        false,
		{"notification.attempts=2", "contrary"}: false,
	}
	for _, f := range dialect.Contrary().Fields() {
		if strings.HasPrefix(f.Name, "notification.") && f.Set {
			choice := f.Name + "=" + f.Value
			tests[[2]string{choice, same}] = true
			tests[[2]string{choice, ""}] = !strings.Contains(choice, "signature") || strings.Contains(choice, "tolerance") ||
				strings.Contains(choice, "timestamp_header") // which no signature covers
		}
	}
	for dialects, taken := range tests {
		t.Run(strings.Join(dialects[:], " and "), func(t *testing.T) {
			t.Parallel()
			decided := shippingtest.Dialect(t, dialects[0])
			received := decided
			if dialects[1] != same {
				received = shippingtest.Dialect(t, dialects[1])
			}
			server := mockserver.New(mockserver.WithDialect(decided), mockserver.WithVirtualClock(time.Now()))
			defer server.Close()
			hook, handled := subscribe(t, server, webhook.WithDialect(received))
			first := shippingtest.Must(server.Emit(notify.Event{Kind: shipping.EventShipmentCreated}))(t)
			shippingtest.Must(server.Advance(time.Hour))(t) // for the attempts after a refusal
			shippingtest.Must(server.Client(t).Webhooks.Replay(t.Context(),
				&shipping.ReplayRequest{DeliveryID: first[0].ID, WebhookID: hook}))(t)
			shippingtest.Must(server.Advance(time.Hour))(t)
			notification := decided.Resolved().Notification
			for _, id := range []string{first[0].ID, server.Deliveries()[0].ID} {
				delivery, err := server.WaitDelivery(t.Context(), id)
				if err != nil || (delivery.State == notify.Delivered) != taken {
					t.Fatalf("%s: %v", delivery.State, err)
				}
				if !taken {
					shippingtest.Diff(t, "attempts", notification.Attempts, len(delivery.Attempts))
					continue
				}
				if len(handled) == 0 && decided.Notification.DeliveryID == "-" && id != first[0].ID {
					continue // a replay has the same body, which identifies the notification
				}
				n := <-handled
				sent := map[string]string{notification.DeliveryID: delivery.ID, notification.EventID: delivery.EventID}
				delete(sent, "-")
				if id := sent[received.Resolved().Notification.DeliveryID]; id != "" && id != n.ID {
					t.Errorf("delivery %q, want %q", n.ID, id)
				}
				shippingtest.Diff(t, "event", sent[received.Resolved().Notification.EventID], n.EventID)
			}
		})
	}
}
