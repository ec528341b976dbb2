package admin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// ledgerView is the data of GET /_mock/ledger.
type ledgerView struct {
	Wallets  []walletView   `json:"wallets"`
	Entries  []ledger.Entry `json:"entries"`
	Problems string         `json:"problems"` // empty if every invariant holds
}

type walletView struct {
	ledger.Wallet
	Balance shipping.Amount `json:"balance"`
}

// webhookView is a webhook with the fields that only the control surface shows.
type webhookView struct {
	WebhookID string             `json:"webhook_id"`
	Name      string             `json:"name"`
	URL       string             `json:"url"`
	Events    []string           `json:"events"`
	Active    bool               `json:"active"`
	Order     notify.Order       `json:"order"`
	CreatedAt jsontext.Timestamp `json:"created_at"`
	UpdatedAt jsontext.Timestamp `json:"updated_at"`
	Revision  int                `json:"revision"`
}

func viewWebhook(h *account.Webhook) webhookView {
	return webhookView{
		WebhookID: h.WebhookID, Name: h.Name, URL: h.URL, Events: h.Event, Active: h.Active,
		Order: h.Order, CreatedAt: h.CreatedAt, UpdatedAt: h.UpdatedAt, Revision: h.Revision,
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
