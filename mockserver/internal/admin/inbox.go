package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// inboxView is the data of GET /_mock/inbox.
type inboxView struct {
	URL           string             `json:"url"` // for webhooks
	Notifications []notificationView `json:"notifications"`
}

type notificationView struct {
	Number     int                `json:"number"`
	At         jsontext.Timestamp `json:"at"`
	Event      string             `json:"event"`
	DeliveryID string             `json:"delivery_id,omitempty"`
	EventID    string             `json:"webhook_event_id,omitempty"`
	WebhookID  string             `json:"webhook_id,omitempty"`
	Attempt    int                `json:"attempt,omitempty"`
	Status     int                `json:"status"`
	Valid      bool               `json:"valid"`
	Problem    string             `json:"problem,omitempty"`
	Header     http.Header        `json:"header"`
	Payload    json.RawMessage    `json:"payload,omitempty"`
}

func viewNotification(n delivery.Notification) notificationView {
	return notificationView{
		Number: n.Number, At: jsontext.Timestamp(n.At), Event: n.Event, DeliveryID: n.DeliveryID, EventID: n.EventID, WebhookID: n.WebhookID,
		Attempt: n.Attempt, Status: n.Status, Valid: n.Valid, Problem: n.Problem, Header: n.Header, Payload: n.Payload,
	}
}

// listInbox serves GET /_mock/inbox. With wait it responds when there are count notifications, or with 408.
func (s *Admin) listInbox(c *control) wire.Reply {
	query := c.Query()
	after := 0
	if text := query.Get("after"); text != "" {
		var err error
		if after, err = strconv.Atoi(text); err != nil {
			return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("after is %q: write the number of a notification", text))
		}
	}
	timeout, count, refusal := waitForCount(query)
	if refusal != nil {
		return *refusal
	}
	found := c.world.Inbox.Notifications(after, query.Get("contains"))
	if timeout > 0 {
		var err error
		if found, err = c.world.AwaitInbox(c.Context(), after, query.Get("contains"), count, timeout); err != nil {
			return timedOut(err)
		}
	}
	return wire.Succeed(spelling.Counted(len(found), "notification in the inbox", "notifications in the inbox"),
		inboxView{delivery.InboxURL, list.Map(found, viewNotification)})
}

// receiveNotification serves POST /_mock/inbox, for programs that send notifications themselves.
func (s *Admin) receiveNotification(c *control) wire.Reply {
	status, err := delivery.InboxStatus(c.Query().Get("status"))
	if err != nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, err.Error())
	}
	p := wire.Succeed("The notification is in the inbox", viewNotification(c.world.Inbox.Receive(c.Header, c.Body, status)))
	p.Status = status
	return p
}

func (s *Admin) clearInbox(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	c.world.Inbox.Clear()
	return wire.Succeed("The inbox is empty", inboxView{delivery.InboxURL, []notificationView{}})
}
