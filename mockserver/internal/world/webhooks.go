package world

import (
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// AddWebhook registers a webhook and returns its webhook_id.
func (w *World) AddWebhook(h notify.Webhook) (string, error) {
	if err := delivery.CheckTarget(h.URL, w.Assume().DeliverAnywhere); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	if err := checkWebhookSize(h.Name, h.URL, h.Events); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	if h.Name == "" {
		h.Name = "Added webhook"
	}
	if len(h.Events) == 0 {
		h.Events = account.EventKinds()
	}
	now := jsontext.Timestamp(w.Clock.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.room(); err != nil {
		return "", fmt.Errorf("mockserver: webhook not added: %w", err)
	}
	made := &account.Webhook{
		WebhookID: w.Account.IDs.Numbered("WA"), StorageID: w.Account.IDs.Storage(), Name: h.Name, URL: h.URL,
		Event: slices.Clone(h.Events), Active: !h.Inactive, User: w.Account.User, CreatedAt: now, UpdatedAt: now,
	}
	made.ID = made.StorageID
	return made.WebhookID, w.Account.Webhooks.Add(made)
}

// checkWebhookSize limits the memory of a webhook.
func checkWebhookSize(name, url string, events []string) error {
	const longestLabel, longestURL, mostEvents = 256, 2048, 100
	switch {
	case len(name) > longestLabel:
		return fmt.Errorf("the name has %d bytes: use at most %d", len(name), longestLabel)
	case len(url) > longestURL:
		return fmt.Errorf("the URL has %d bytes: use at most %d", len(url), longestURL)
	case len(events) > mostEvents:
		return fmt.Errorf("there are %d events: use at most %d", len(events), mostEvents)
	}
	for _, event := range events {
		if len(event) > longestLabel {
			return fmt.Errorf("an event has %d bytes: use at most %d", len(event), longestLabel)
		}
	}
	return nil
}
