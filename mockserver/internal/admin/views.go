package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/clock"
	"github.com/shipping-go/shipping/mockserver/internal/delivery"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// JSON views of values that Go programs get as structs. Times are in milliseconds, as in the service; names are those
// of the service's records, and of the bodies that change them.

type journalEntryView struct {
	journal.Entry
	At jsontext.Timestamp `json:"at"`
}

func viewJournalEntry(e journal.Entry) journalEntryView {
	return journalEntryView{e, jsontext.Timestamp(e.At)}
}

type firedView struct {
	Due   jsontext.Timestamp `json:"due"`
	Label string             `json:"label"`
}

func viewFired(f clock.Fired) firedView { return firedView{jsontext.Timestamp(f.Due), f.Label} }

type deliveryView struct {
	ID         string                `json:"delivery_id"`
	EventID    string                `json:"webhook_event_id"`
	WebhookID  string                `json:"webhook_id"`
	Event      string                `json:"event"`
	ShipmentID string                `json:"shipment_id"`
	URL        string                `json:"url"`
	State      delivery.State        `json:"state"`
	Reason     string                `json:"reason,omitempty"`
	Payload    json.RawMessage       `json:"payload,omitempty"` // not in the response to POST events
	CreatedAt  jsontext.Timestamp    `json:"created_at"`
	Attempts   []deliveryAttemptView `json:"attempts"`
}

type deliveryAttemptView struct {
	At         jsontext.Timestamp `json:"at"`
	StatusCode int                `json:"status_code,omitempty"`
	Error      string             `json:"error,omitempty"`
}

func viewDelivery(d delivery.Delivery) deliveryView {
	return deliveryView{
		ID: d.ID, EventID: d.EventID, WebhookID: d.WebhookID, Event: d.Event, ShipmentID: d.ShipmentID, URL: d.URL,
		State: d.State, Reason: d.Reason, Payload: d.Payload, CreatedAt: jsontext.Timestamp(d.CreatedAt),
		Attempts: list.Map(d.Attempts, func(a delivery.Attempt) deliveryAttemptView {
			return deliveryAttemptView{jsontext.Timestamp(a.At), a.StatusCode, a.Error}
		}),
	}
}

// ledgerView is the data of GET /_mock/ledger.
type ledgerView struct {
	Wallets  []walletView      `json:"wallets"`
	Entries  []ledgerEntryView `json:"entries"`
	Problems string            `json:"problems"` // empty if every invariant holds
}

type walletView struct {
	ledger.Wallet
	Balance shipping.Amount `json:"balance"`
}

type ledgerEntryView struct {
	ledger.Entry
	At jsontext.Timestamp `json:"at"`
}

func viewLedgerEntry(e ledger.Entry) ledgerEntryView {
	return ledgerEntryView{e, jsontext.Timestamp(e.At)}
}

// webhookOrder is a [delivery.Order] on the control surface: [delivery.Any] instead of the empty one.
type webhookOrder delivery.Order

func (o webhookOrder) MarshalText() ([]byte, error) {
	return []byte(cmp.Or(string(o), delivery.Any)), nil
}

func (o *webhookOrder) UnmarshalText(text []byte) error {
	known := delivery.Orders()
	switch name := string(text); {
	case name == delivery.Any:
		*o = webhookOrder(delivery.Together)
	case slices.Contains(known, delivery.Order(name)):
		*o = webhookOrder(name)
	default:
		return fmt.Errorf("order is %q: choose %s or one of %v", name, delivery.Any, known)
	}
	return nil
}

// webhookView is a webhook with the fields that only the control surface shows.
type webhookView struct {
	WebhookID string             `json:"webhook_id"`
	Name      string             `json:"name"`
	URL       string             `json:"url"`
	Events    []string           `json:"events"`
	Active    bool               `json:"active"`
	Order     webhookOrder       `json:"order"`
	CreatedAt jsontext.Timestamp `json:"created_at"`
	UpdatedAt jsontext.Timestamp `json:"updated_at"`
	Revision  int                `json:"revision"`
}

func viewWebhook(h *account.Webhook) webhookView {
	return webhookView{
		WebhookID: h.WebhookID, Name: h.Name, URL: h.URL, Events: h.Event, Active: h.Active,
		Order: webhookOrder(h.Order), CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Revision: h.Revision,
	}
}

// packagePrefix is the prefix of errors for Go programs.
const packagePrefix = "mockserver: "

// refusedFor returns the refusal for an error.
func refusedFor(err error) wire.Reply {
	status, code := http.StatusBadRequest, wire.CodeInvalid
	switch {
	case errors.Is(err, world.ErrTooManyWorlds):
		status, code = http.StatusServiceUnavailable, wire.CodeFull
	case errors.Is(err, world.ErrWorldExists), errors.Is(err, world.ErrRealClock):
		status = http.StatusConflict
	case errors.Is(err, world.ErrNoFault):
		status, code = http.StatusNotFound, wire.CodeNotFound
	}
	message := strings.TrimPrefix(err.Error(), packagePrefix)
	return wire.Refused(status, code, strings.ReplaceAll(message, ": "+packagePrefix, ": "))
}
