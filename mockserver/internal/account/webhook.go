package account

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/records"
)

// Webhook is a record of GET /v1/webhooks.
//
// Specification: "Webhook", in the order of its table.
type Webhook struct {
	WebhookID string             `json:"webhook_id"`
	StorageID string             `json:"_id"`
	ID        string             `json:"id"` // equal to _id
	Name      string             `json:"name"`
	URL       string             `json:"url"`
	Event     []string           `json:"event"`
	Active    bool               `json:"active"`
	Live      bool               `json:"live"`
	User      string             `json:"user"`
	CreatedAt jsontext.Timestamp `json:"created_at"`
	UpdatedAt jsontext.Timestamp `json:"updated_at"`
	Revision  int                `json:"__v"`
}

// Webhooks are the webhooks of an account, as records and as the entries of the list.
type Webhooks struct {
	All     []*Webhook // oldest first
	Encoded records.List
	Bytes   int // of the records
}

func (b *Webhooks) Add(h *Webhook) {
	record := jsontext.Of(h)
	b.All = append(b.All, h)
	b.Encoded.Prepend(record)
	b.Bytes += len(record)
}

// clone returns an independent copy of the book.
func (b *Webhooks) clone() Webhooks {
	return Webhooks{All: slices.Clip(b.All), Encoded: b.Encoded.Clone(), Bytes: b.Bytes}
}

func (b *Webhooks) Find(id string) *Webhook {
	i := slices.IndexFunc(b.All, func(h *Webhook) bool { return h.WebhookID == id })
	if i < 0 {
		return nil
	}
	return b.All[i]
}

// Receivers returns the active webhooks that are subscribed to an event, newest first.
func (b *Webhooks) Receivers(event string) []*Webhook {
	var out []*Webhook
	for _, h := range slices.Backward(b.All) {
		if h.Receives(event) {
			out = append(out, h)
		}
	}
	return out
}

func (h *Webhook) Receives(event string) bool { return h.Active && slices.Contains(h.Event, event) }

func Unsubscribed(event string) string {
	next := cmp.Or(spelling.Meant(event, EventKinds()), ": subscribe one, or choose another event")
	return fmt.Sprintf("no active webhook is subscribed to %s%s", event, next)
}

// EventKinds are the three kinds that the specification names ("Events").
func EventKinds() []string {
	return []string{"shipment.created", "shipment.updated", "shipment.delivered"}
}
