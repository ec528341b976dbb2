package delivery

import (
	"bytes"
	"context"
	"crypto/fips140"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/signature"
	"github.com/shipping-go/shipping/mockserver/notify"
)

const inboxHost = "inbox.localhost"

// Limits of an inbox. The oldest notifications are dropped.
const (
	maxInbox      = 1000
	maxInboxBytes = 8 << 20 // of payloads
)

// Inbox receives notifications in the place of a user's receiver, verifies and keeps them. It is safe for concurrent
// use.
type Inbox struct {
	secret string
	scheme signature.Scheme
	now    func() time.Time

	mu       sync.Mutex
	kept     []notify.Received // oldest first
	received int
	bytes    int
	changed  sync.Cond // uses mu
}

// NewInbox returns an empty inbox that verifies signatures by a scheme and a secret.
func NewInbox(secret string, scheme signature.Scheme, now func() time.Time) *Inbox {
	in := &Inbox{secret: secret, scheme: scheme, now: now}
	in.changed.L = &in.mu
	return in
}

// Receive verifies a notification and keeps it. status is the status of the response.
func (in *Inbox) Receive(header http.Header, payload []byte, status int) notify.Received {
	n := notify.Received{
		At: in.now(), Status: status, Header: http.Header{},
		DeliveryID: header.Get(in.scheme.DeliveryID), EventID: header.Get(in.scheme.EventID),
		WebhookID: header.Get(signature.WebhookID),
	}
	for _, name := range []string{"Content-Type", in.scheme.Header, in.scheme.TimestampHeader, in.scheme.DeliveryID,
		in.scheme.EventID, signature.WebhookID} {
		if values := header.Values(name); len(values) > 0 {
			n.Header[name] = slices.Clone(values)
		}
	}
	n.Event, n.Problem = in.verify(header, payload)
	n.Valid = n.Problem == ""
	if json.Valid(payload) {
		n.Payload = bytes.Clone(payload) // without the spare capacity of a body that was read
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.received++
	n.Number = in.received
	if n.DeliveryID != "" {
		n.Attempt = 1
		for _, earlier := range in.kept {
			if earlier.DeliveryID == n.DeliveryID {
				n.Attempt = earlier.Attempt + 1
			}
		}
	}
	in.kept = append(in.kept, n)
	in.bytes += len(n.Payload)
	for len(in.kept) > maxInbox || in.bytes > maxInboxBytes && len(in.kept) > 1 {
		in.bytes -= len(in.kept[0].Payload)
		in.kept[0] = notify.Received{}
		in.kept = in.kept[1:]
	}
	in.changed.Broadcast()
	return n
}

// verify returns the event of a payload, and a problem if it is not signed by the world.
func (in *Inbox) verify(header http.Header, payload []byte) (event, problem string) {
	var body struct {
		Event string `json:"event"`
	}
	if !json.Valid(payload) || bytes.TrimSpace(payload)[0] != '{' {
		return "", "the body is not a JSON object"
	}
	// An event that is not a string counts as none.
	_ = jsonread.Unmarshal(payload, &body)
	fips140.WithoutEnforcement(func() {
		problem = in.scheme.Verify(header, payload, [][]byte{[]byte(in.secret)}, time.Now())
	})
	return body.Event, problem
}

// Notifications returns, oldest first, the notifications that have a number above after, and have the text as an id or
// in the payload.
func (in *Inbox) Notifications(after int, text string) []notify.Received {
	found, _ := in.Await(context.Background(), after, text, 0) // a count of 0 does not wait
	return found
}

func contains(n *notify.Received, text string) bool {
	return text == "" || bytes.Contains(n.Payload, []byte(text)) ||
		slices.Contains([]string{n.DeliveryID, n.EventID, n.WebhookID}, text)
}

// Await is like Notifications, but waits until there are count of them, or returns the error of the context.
func (in *Inbox) Await(ctx context.Context, after int, text string, count int) (found []notify.Received, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	err = await(ctx, &in.changed, func() bool {
		found = []notify.Received{}
		for _, n := range in.kept {
			if n.Number > after && contains(&n, text) {
				found = append(found, n)
			}
		}
		return len(found) >= count
	})
	if err != nil {
		return nil, fmt.Errorf("the inbox received %d of %d notifications: register a webhook with the url "+
			"%s, and send an event: %w", len(found), count, notify.InboxURL, err)
	}
	return found, nil
}

// Clear removes every notification and starts the numbering again.
func (in *Inbox) Clear() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.kept, in.received, in.bytes = nil, 0, 0
}

// Received returns how many notifications were received since the inbox was emptied.
func (in *Inbox) Received() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.received
}

// Bytes returns how many bytes the payloads have.
func (in *Inbox) Bytes() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.bytes
}

// Transport returns a transport that hands requests to [notify.InboxURL] to the inbox, and all others to next.
func (in *Inbox) Transport(next http.RoundTripper) http.RoundTripper { return inboxTransport{in, next} }

type inboxTransport struct {
	inbox *Inbox
	next  http.RoundTripper
}

func (t inboxTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Hostname() != inboxHost {
		return t.next.RoundTrip(req)
	}
	defer req.Body.Close()
	payload, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	status, err := InboxStatus(req.URL.Query().Get("status"))
	if err != nil {
		return nil, err
	}
	t.inbox.Receive(req.Header, payload, status)
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: req,
	}, nil
}

// InboxStatus parses the status with which an inbox responds. Without a text it is 200.
func InboxStatus(text string) (int, error) {
	if text == "" {
		return http.StatusOK, nil
	}
	status, err := strconv.Atoi(text)
	if err != nil || status < 200 || status > 599 {
		return 0, fmt.Errorf("status is %q: write one from 200 to 599, such as 503", text)
	}
	return status, nil
}
