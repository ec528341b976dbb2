package mockserver

import (
	"fmt"
	"net/http"
	"slices"
)

// webhookView is a webhook with what only the control surface knows of it.
type webhookView struct {
	*webhook
	Order DeliveryOrder `json:"order,omitempty"`
}

func (s *Server) adminWebhooks(c *call) reply {
	w := c.world
	w.mu.Lock()
	all := slices.Clone(w.webhooks.all)
	w.mu.Unlock()
	slices.Reverse(all)
	page := cut(s.config.assume.paging(c.query()), all)
	views := make([]webhookView, len(page))
	for i, h := range page {
		views[i] = viewWebhook(h)
	}
	return succeedWith(nil, fmt.Sprintf("%d webhooks", len(all)), views)
}

func viewWebhook(h *webhook) webhookView { return webhookView{h, h.order} }

func (s *Server) adminAddWebhook(c *call) reply {
	var h Webhook
	if refusal := c.world.decodeControl(c, &h); refusal != nil {
		return *refusal
	}
	id, err := c.world.AddWebhook(h)
	if err != nil {
		return refused(http.StatusBadRequest, codeInvalid, err.Error())
	}
	return succeedWith(nil, "Webhook added", map[string]string{"webhook_id": id})
}

func (s *Server) adminChangeWebhook(c *call) reply {
	w, id := c.world, c.PathValue("webhook_id")
	var change WebhookChange
	if refusal := w.decodeControl(c, &change); refusal != nil {
		return *refusal
	}
	if h := w.findWebhook(id); h == nil {
		return webhookNotFound(id)
	}
	if err := w.ChangeWebhook(id, change); err != nil {
		return refused(http.StatusBadRequest, codeInvalid, err.Error())
	}
	return succeedWith(nil, "Webhook changed", viewWebhook(w.findWebhook(id)))
}

func (s *Server) adminRemoveWebhook(c *call) reply {
	id := c.PathValue("webhook_id")
	if err := c.world.RemoveWebhook(id); err != nil {
		return webhookNotFound(id)
	}
	return succeedWith(nil, "Webhook removed", map[string]string{"webhook_id": id})
}

func webhookNotFound(id string) reply {
	return refused(http.StatusNotFound, codeNotFound, fmt.Sprintf("webhook %q does not exist: GET %swebhooks lists them", id, adminPrefix))
}

func (w *World) findWebhook(id string) *webhook {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.webhooks.find(id)
}

func (s *Server) adminEmit(c *call) reply {
	var e Event
	if refusal := c.world.decodeControl(c, &e); refusal != nil {
		return *refusal
	}
	queued, err := c.world.Emit(e)
	if err != nil {
		return refused(http.StatusBadRequest, codeInvalid, err.Error())
	}
	return succeedWith(nil, fmt.Sprintf("%d notifications queued", len(queued)), queued)
}
