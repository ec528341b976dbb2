package webhook_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/webhook"
)

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

// A resend that keeps its id, whose time and signature are new, cannot be distinguished from one of the service that
// has lost the response: it is not handled again, which only a debug line reported. A receiver with another store
// handles it.
func TestStandardWebhooks_AResendThatKeepsItsIDIsADuplicate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		handled := 0
		receive := func() http.Handler {
			return newReceiver(t, func(context.Context, *webhook.Notification) error { handled++; return nil },
				webhook.WithKeys(secret), webhook.WithDialect(shippingtest.Dialect(t, "standard-webhooks")),
				webhook.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		}
		receiver := receive()
		for i, to := range []http.Handler{receiver, receiver, receive()} {
			timestamp := fmt.Sprint(time.Now().Unix())
			answer := post(to, body, "", "webhook-id", "msg_1", "webhook-timestamp", timestamp,
				"webhook-signature", standardSignature(secret, "msg_1", timestamp, body))
			if want := []int{1, 1, 2}[i]; answer.Code != http.StatusOK || handled != want {
				t.Errorf("delivery %d: %d, handled %d times, want %d", i+1, answer.Code, handled, want)
			}
			time.Sleep(10 * time.Minute)
		}
		if text := log.String(); strings.Count(text, "level=INFO") != 1 || !strings.Contains(text, "not handled again") ||
			!strings.Contains(text, "id=msg_1") {
			t.Errorf("logged:\n%s", text)
		}
	})
}

// A verifier decides alone. Its reason is logged, and not sent to whoever may be forging.
func TestWithVerifier_DecidesAlone(t *testing.T) {
	t.Parallel()
	receiver := newReceiver(t, accept, webhook.WithKeys(), webhook.WithVerifier(func(header http.Header, got []byte) error {
		if header.Get("X-Caller") != "the service" || string(got) != body {
			return errors.New("the expected signature is 1234")
		}
		return nil
	}))
	if answer := post(receiver, body, "", "X-Caller", "the service"); answer.Code != http.StatusOK {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	for _, header := range [][]string{nil, {"X-Caller", "somebody"}} {
		answer := post(receiver, body, "", header...)
		if answer.Code != http.StatusUnauthorized || strings.Contains(answer.Body.String(), "1234") {
			t.Errorf("%v: %d %s", header, answer.Code, answer.Body)
		}
	}
}
