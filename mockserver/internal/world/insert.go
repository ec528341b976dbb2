package world

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/account"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/notify"
)

// InsertRows inserts new records at the head of the list that an operation serves. It stops at the first error, which
// it logs.
func (w *World) InsertRows(operation string, query url.Values, rows int) {
	for range rows {
		if err := w.insertRow(operation, query); err != nil {
			w.settings.Logger.Error("cannot insert a row", "error", err)
			return
		}
	}
}

// insertRow inserts a record. The caller does not hold the lock.
func (w *World) insertRow(operation string, query url.Values) error {
	if operation == shipping.OpListWebhooks {
		_, err := w.AddWebhook(notify.Webhook{Name: "Inserted webhook", URL: "http://127.0.0.1:9/", Inactive: true})
		return err
	}
	w.Lock()
	defer w.Unlock()
	if err := w.Room(0); err != nil {
		return err
	}
	switch operation {
	case shipping.OpListRates:
		return w.insertRate()
	case shipping.OpListTransactions:
		one, _ := shipping.NewAmount(1, 0) // a short number always fits
		return w.Account.Fund(query.Get("wallet"), one, "Wallet funded", w.Clock.Now())
	default:
		return fmt.Errorf("the world cannot add a record to %s", operation)
	}
}

// RemoveRows removes the newest stored records, up to rows, from the list of an operation.
func (w *World) RemoveRows(operation string, rows int) {
	w.Lock()
	defer w.Unlock()
	for range rows {
		all := w.Account.Webhooks.All
		switch {
		case operation != shipping.OpListWebhooks:
			w.Account.List(strings.TrimSuffix(operation, ".list")).RemoveNewest()
		case len(all) > 0:
			_ = w.replaceWebhook(all[len(all)-1].WebhookID, func(account.Webhook) *account.Webhook { return nil }) // it exists
		}
	}
}

// insertRate inserts a copy of the newest rate, with a new id and the current time. The caller holds
// the lock.
func (w *World) insertRate() error {
	newest := w.Account.List("rates").Page(1, 1, false)
	if len(newest) == 0 {
		return fmt.Errorf("the world has no rate to copy")
	}
	var again account.Rate
	if err := json.Unmarshal(newest[0](), &again); err != nil {
		return err
	}
	now := jsontext.Timestamp{Time: w.Clock.Now()}
	again.RateID, again.Used, again.CreatedAt, again.UpdatedAt = w.Account.IDs.Numbered("RT"), false, now, now
	w.Account.List("rates").PrependValue(again)
	return nil
}
