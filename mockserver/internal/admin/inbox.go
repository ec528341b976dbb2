package admin

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// inboxView is the data of GET /_mock/inbox.
type inboxView struct {
	URL           string            `json:"url"` // for webhooks
	Notifications []notify.Received `json:"notifications"`
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
	return wire.SucceedWith(nil, spelling.Counted(len(found), "notification in the inbox", "notifications in the inbox"),
		inboxView{notify.InboxURL, found})
}

// receiveNotification serves POST /_mock/inbox, for programs that send notifications themselves.
func (s *Admin) receiveNotification(c *control) wire.Reply {
	status, err := delivery.InboxStatus(c.Query().Get("status"))
	if err != nil {
		return wire.Refused(http.StatusBadRequest, wire.CodeInvalid, err.Error())
	}
	p := wire.SucceedWith(nil, "The notification is in the inbox", c.world.Inbox.Receive(c.Header, c.Body, status))
	p.Status = status
	return p
}

func (s *Admin) clearInbox(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Call, &struct{}{}); refusal != nil {
		return *refusal
	}
	c.world.Inbox.Clear()
	return wire.SucceedWith(nil, "The inbox is empty", inboxView{notify.InboxURL, []notify.Received{}})
}
