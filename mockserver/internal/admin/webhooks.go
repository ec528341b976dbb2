package admin

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
)

func (s *Admin) listWebhooks(c *control) wire.Reply {
	w := c.world
	w.Lock()
	all := slices.Clone(w.Account.Webhooks.All)
	w.Unlock()
	slices.Reverse(all)
	all = containing(all, c.Query().Get("contains"), func(h *account.Webhook) []string { return append([]string{h.WebhookID, h.Name, h.URL}, h.Event...) })
	return pageOf(c, spelling.Counted(len(all), "webhook", "webhooks"), all, viewWebhook)
}

func (s *Admin) addWebhook(c *control) wire.Reply {
	w := c.world
	var form struct {
		Name   string        `json:"name"`
		URL    string        `json:"url"`
		Events []string      `json:"events"`
		Active *bool         `json:"active"`
		Order  *webhookOrder `json:"order"`
	}
	if refusal := w.Decoding().DecodeControl(c.Exchange, &form); refusal != nil {
		return *refusal
	}
	id, err := w.AddWebhook(world.Subscription{Name: form.Name, URL: form.URL, Events: form.Events, Inactive: form.Active != nil && !*form.Active})
	if err != nil {
		return refusedFor(err)
	}
	if form.Order != nil {
		if err := w.ChangeWebhook(id, world.WebhookChange{Order: (*delivery.Order)(form.Order)}); err != nil {
			return refusedFor(errors.Join(err, w.RemoveWebhook(id)))
		}
	}
	return answerWebhook(w, id, "Webhook added")
}

// answerWebhook returns a webhook in its current state.
func answerWebhook(w *world.World, id, message string) wire.Reply {
	h := findWebhook(w, id)
	if h == nil {
		return webhookNotFound(id)
	}
	return wire.Succeed(message, viewWebhook(h))
}

func (s *Admin) changeWebhook(c *control) wire.Reply {
	w, id := c.world, c.PathValue("webhook_id")
	var change struct {
		Name   *string       `json:"name"`
		URL    *string       `json:"url"`
		Events []string      `json:"events"`
		Active *bool         `json:"active"`
		Order  *webhookOrder `json:"order"`
	}
	if refusal := w.Decoding().DecodeControl(c.Exchange, &change); refusal != nil {
		return *refusal
	}
	if h := findWebhook(w, id); h == nil {
		return webhookNotFound(id)
	}
	if err := w.ChangeWebhook(id, world.WebhookChange{
		Name: change.Name, URL: change.URL, Events: change.Events, Active: change.Active, Order: (*delivery.Order)(change.Order),
	}); err != nil {
		return refusedFor(err)
	}
	return answerWebhook(w, id, "Webhook changed")
}

func (s *Admin) removeWebhook(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	id := c.PathValue("webhook_id")
	if err := c.world.RemoveWebhook(id); err != nil {
		return webhookNotFound(id)
	}
	return wire.Succeed("Webhook removed", map[string]string{"webhook_id": id})
}

func webhookNotFound(id string) wire.Reply {
	return wire.Refused(http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf("webhook %q does not exist: GET %swebhooks lists them", id, wire.ControlPrefix))
}

func findWebhook(w *world.World, id string) *account.Webhook {
	w.Lock()
	defer w.Unlock()
	return w.Account.Webhooks.Find(id)
}

func (s *Admin) emitEvent(c *control) wire.Reply {
	var e world.Event
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &e); refusal != nil {
		return *refusal
	}
	queued, err := c.world.Emit(e)
	if err != nil {
		return refusedFor(err)
	}
	refused := 0
	for i, d := range queued {
		if d.State == delivery.Refused {
			refused++
		}
		queued[i].Payload = nil // the same for all; GET deliveries has it
	}
	message := spelling.Counted(len(queued)-refused, "notification queued", "notifications queued")
	if refused > 0 {
		message += fmt.Sprintf(", %d not sent: see reason", refused)
	}
	return wire.Succeed(message, list.Map(queued, viewDelivery))
}
