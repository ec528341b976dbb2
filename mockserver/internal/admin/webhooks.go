package admin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/notify"
)

func webhookRoutes() []Route {
	return []Route{
		route("GET", "webhooks", "listWebhooks", "List the webhooks, newest first", "", (*Admin).listWebhooks),
		route("POST", "webhooks", "addWebhook", "Subscribe a receiver",
			`{"url":"http://127.0.0.1:9000/","events":["shipment.created"]}`, (*Admin).addWebhook),
		route("PATCH", "webhooks/{webhook_id}", "changeWebhook", "Change a webhook", `{"active":false}`,
			(*Admin).changeWebhook),
		route("DELETE", "webhooks/{webhook_id}", "removeWebhook", "Remove a webhook", "", (*Admin).removeWebhook),
		route("POST", "events", "emitEvent", "Send an event to its subscribers; the event is about a shipment, or has "+
			"the data in the body",
			`{"event":"shipment.updated"}`, (*Admin).emitEvent),
		route("GET", "deliveries", "listDeliveries", "List the webhook deliveries, newest first", "",
			(*Admin).listDeliveries),
		route("GET", "inbox", "listInbox", "List the notifications to the inbox, oldest first, with their signatures "+
			"verified; a webhook to its url needs no receiver", "", (*Admin).listInbox),
		route("POST", "inbox", "receiveNotification", "Receive a notification in the inbox",
			`{"event":"shipment.updated","data":{}}`, (*Admin).receiveNotification),
	}
}

// webhookSettings is a webhook with the fields that only the control surface shows.
type webhookSettings struct {
	WebhookID string    `json:"webhook_id"`
	Name      string    `json:"name"`
	URL       string    `json:"url"`
	Events    []string  `json:"events"`
	Active    bool      `json:"active"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Revision  int       `json:"revision"`
}

func viewWebhook(h *account.Webhook) webhookSettings {
	return webhookSettings{
		WebhookID: h.WebhookID, Name: h.Name, URL: h.URL, Events: h.Event, Active: h.Active,
		CreatedAt: h.CreatedAt.Time, UpdatedAt: h.UpdatedAt.Time, Revision: h.Revision,
	}
}

type webhooksQuery struct {
	Contains string `query:"contains" doc:"Only those with this text in any member, in whatever case." example:"shipment"`
	paging
}

func (s *Admin) listWebhooks(c *control, query webhooksQuery, _ none) (string, []webhookSettings, error) {
	w := c.world
	w.Lock()
	all := slices.Clone(w.Account.Webhooks.All)
	w.Unlock()
	slices.Reverse(all)
	all = containing(all, query.Contains, func(h *account.Webhook) []string {
		return append([]string{h.WebhookID, h.Name,
			h.URL}, h.Event...)
	})
	webhooks := []webhookSettings{}
	for _, h := range pageOf(c, query.paging, all) {
		webhooks = append(webhooks, viewWebhook(h))
	}
	return spelling.Counted(len(all), "webhook", "webhooks"), webhooks, nil
}

func (s *Admin) addWebhook(c *control, _ none, order notify.WebhookChange) (string, webhookSettings, error) {
	absent := new(string)
	added := notify.Webhook{Name: *cmp.Or(order.Name, absent), URL: *cmp.Or(order.URL, absent), Events: order.Events,
		Inactive: order.Active != nil && !*order.Active}
	id, err := c.world.AddWebhook(added)
	if err != nil {
		return "", webhookSettings{}, err
	}
	h, err := findWebhook(c.world, id)
	message := "Webhook added"
	for _, event := range h.Events {
		if strings.HasPrefix(event, "shipment.") && !slices.Contains(account.EventKinds(), event) {
			message += fmt.Sprintf("; no event %q is known%s", event, spelling.Suggestion(event, account.EventKinds()))
		}
	}
	return message, h, err
}

type webhookParameter struct {
	ID string `path:"webhook_id" doc:"Identifier of the webhook." example:"WA-0011223344"`
}

func (s *Admin) changeWebhook(c *control, webhook webhookParameter,
	change notify.WebhookChange) (string, webhookSettings, error) {
	if h, err := findWebhook(c.world, webhook.ID); err != nil {
		return "", h, err
	}
	if err := c.world.ChangeWebhook(webhook.ID, change); err != nil {
		return "", webhookSettings{}, err
	}
	h, err := findWebhook(c.world, webhook.ID)
	return "Webhook changed", h, err
}

func (s *Admin) removeWebhook(c *control, webhook webhookParameter, _ none) (string, webhookSettings, error) {
	h, err := findWebhook(c.world, webhook.ID)
	if err == nil {
		err = c.world.RemoveWebhook(h.WebhookID)
	}
	return "Webhook removed", h, err
}

func findWebhook(w *world.World, id string) (webhookSettings, error) {
	w.Lock()
	defer w.Unlock()
	if h := w.Account.Webhooks.Find(id); h != nil {
		return viewWebhook(h), nil
	}
	return webhookSettings{}, notFound("webhook %q does not exist: GET %swebhooks lists them", id, wire.ControlPrefix)
}

func (s *Admin) emitEvent(c *control, _ none, order notify.Event) (string, []notify.Delivery, error) {
	queued, err := c.world.Emit(order)
	if err != nil {
		return "", nil, err
	}
	unsent := 0
	for i, d := range queued {
		if d.State == notify.Refused {
			unsent++
		}
		queued[i].Payload = nil // the same for all; GET deliveries has it
	}
	message := spelling.Counted(len(queued)-unsent, "notification queued", "notifications queued")
	if unsent > 0 {
		message += fmt.Sprintf(", %d not sent: see reason", unsent)
	}
	return message, queued, nil
}

type deliveriesQuery struct {
	webhooksQuery
	Wait time.Duration `query:"wait" most:"1h" doc:"Wait until no delivery is queued, at most this long (up to 1h). The response is 408 if one still is." example:"5s"`
}

func (s *Admin) listDeliveries(c *control, query deliveriesQuery, _ none) (string, []notify.Delivery, error) {
	if query.Wait > 0 {
		ctx, cancel := context.WithTimeout(c.Context(), query.Wait)
		defer cancel()
		if err := c.world.Dispatcher.WaitAll(ctx); err != nil {
			return "", nil, timedOut(err)
		}
	}
	log := containing(c.world.Dispatcher.Deliveries(), query.Contains, func(d notify.Delivery) []string {
		return []string{d.ID, d.EventID, d.WebhookID, d.Event, d.ShipmentID, d.URL, string(d.State), string(d.Payload)}
	})
	return spelling.Counted(len(log), "delivery in the log", "deliveries in the log"), pageOf(c, query.paging, log), nil
}

type inbox struct {
	URL           string            `json:"url" doc:"For webhooks."`
	Notifications []notify.Received `json:"notifications" doc:"The latest, up to 1,000, oldest first."`
}

type inboxQuery struct {
	Contains string `query:"contains" doc:"Only notifications whose payload contains this text, or whose identifier it is." example:"SH-"`
	After    uint   `query:"after" doc:"Only notifications after the one of this number." example:"7"`
	waiting
}

// listInbox responds with the notifications that the query selects. With wait it responds once their number is count,
// or with 408.
func (s *Admin) listInbox(c *control, query inboxQuery, _ none) (string, inbox, error) {
	if err := query.waiting.check(); err != nil {
		return "", inbox{}, err
	}
	found := c.world.Inbox.Notifications(int(query.After), query.Contains)
	if query.Wait > 0 {
		var err error
		if found, err = c.world.AwaitInbox(c.Context(), int(query.After), query.Contains, query.Count,
			query.Wait); err != nil {
			return "", inbox{}, timedOut(err)
		}
	}
	return spelling.Counted(len(found), "notification in the inbox", "notifications in the inbox"), inbox{notify.InboxURL,
		found}, nil
}

type receiveQuery struct {
	Status string `query:"status" doc:"Status of the response, from 200 to 599. Default: 200." example:"503"`
}

// receiveNotification serves programs that send notifications themselves.
func (s *Admin) receiveNotification(c *control, query receiveQuery,
	body json.RawMessage) (string, notify.Received, error) {
	status, err := delivery.InboxStatus(query.Status)
	if err != nil {
		return "", notify.Received{}, err
	}
	c.world.Lock()
	err = c.world.Room(len(body))
	c.world.Unlock()
	c.status = status
	if err != nil {
		return "", notify.Received{}, err
	}
	return "The notification is in the inbox", c.world.Inbox.Receive(c.Header, body, status), nil
}
