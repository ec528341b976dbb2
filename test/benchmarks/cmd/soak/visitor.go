package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// visitor is a program in a world: the real client, and the control surface.
type visitor struct {
	*load
	client           *shipping.Client
	key              string
	shipment, wallet string
}

// faults are the rules of every visited world. None responds in the way that a defect of the server would.
const faults = `{"rules":[
	{"operation":"rates.list","probability":0.05,"fault":{"kind":"status","status":503}},
	{"operation":"rates.list","probability":0.05,"fault":{"kind":"malformed"}},
	{"operation":"transactions.list","probability":0.05,"fault":{"kind":"drop"}},
	{"operation":"transactions.list","probability":0.05,"fault":{"kind":"latency","duration":"5ms"}},
	{"operation":"countries.list","probability":0.1,"fault":{"kind":"truncate","bytes":100}},
	{"operation":"webhooks.replay","probability":0.05,"fault":{"kind":"html","status":502}},
	{"operation":"regulatory.analyze","probability":0.05,"fault":{"kind":"reset"}},
	{"operation":"regulatory.purchase","probability":0.1,"committed":true,"fault":{"kind":"drop"}},
	{"operation":"regulatory.purchase","probability":0.1,"point":"before-charge"}
]}`

// prepare subscribes a receiver and injects the faults.
func (v *visitor) prepare(ctx context.Context, receiver string) error {
	if _, err := v.client.Countries.List(ctx); err != nil { // opens the world
		return err
	}
	return errors.Join(
		v.control(ctx, http.MethodPost, "webhooks", fmt.Sprintf(`{"url":%q}`, receiver), nil),
		v.control(ctx, http.MethodPost, "faults", faults, nil))
}

// read walks a part of every list, and requests records that do not exist.
func (v *visitor) read(ctx context.Context) error {
	var errs []error
	for page := range 4 {
		_, err := v.client.Rates.List(ctx, &shipping.RateListOptions{Page: page + 1})
		errs = append(errs, err)
		_, err = v.client.Transactions.List(ctx, &shipping.TransactionListOptions{Wallet: v.wallet, Page: page + 1})
		errs = append(errs, err)
	}
	_, err := v.client.Countries.List(ctx)
	errs = append(errs, err)
	_, err = v.client.Webhooks.List(ctx, nil)
	errs = append(errs, err)
	if _, err := v.client.Regulatory.Get(ctx, "RD-0000000000000000"); err == nil {
		errs = append(errs, errors.New("a request that nobody has made is found"))
	}
	return ofFaults(errs...)
}

// buy analyzes the first shipment, buys what can be generated, and waits for it.
func (v *visitor) buy(ctx context.Context) error {
	_, err := v.client.Regulatory.AnalyzeAndPoll(ctx, &shipping.AnalyzeRequest{ShipmentID: v.shipment}, &shipping.AnalyzeAndPollOptions{
		Select: func(draft *shipping.RegulatoryRequest) (automated []shipping.DocumentType, err error) {
			for _, document := range draft.AvailableDocuments {
				if document.Mode == "automated" {
					automated = append(automated, document.DocumentType)
				}
			}
			return automated, nil
		},
		Poll: shipping.PollOptions{MinInterval: time.Millisecond, MaxInterval: 20 * time.Millisecond, DraftFor: 100 * time.Millisecond},
	})
	return ofFaults(err)
}

// replay has a notification sent again, to the receiver and wherever else the world's webhooks point.
func (v *visitor) replay(ctx context.Context) error {
	_, err := v.client.Webhooks.Replay(ctx, &shipping.ReplayRequest{ShipmentID: v.shipment, Event: "shipment.created"})
	return ofFaults(err)
}

// goBack opens a copy of the world, changes the world, and restores its contents from the copy.
func (v *visitor) goBack(ctx context.Context) error {
	before, err := v.fork(ctx, "before-"+v.name()[strings.IndexByte(v.name(), '_')+1:])
	if err != nil {
		return err
	}
	return errors.Join(
		v.buy(ctx),
		v.control(ctx, http.MethodPost, "worlds/"+v.name()+"/restore", fmt.Sprintf(`{"from":%q}`, before.name()), nil),
		v.control(ctx, http.MethodDelete, "worlds/"+before.name(), "", nil))
}

// fork opens a copy of the world, without its faults.
func (v *visitor) fork(ctx context.Context, name string) (*visitor, error) {
	var made struct {
		Key string `json:"secret_key"`
	}
	if err := v.control(ctx, http.MethodPost, "worlds", fmt.Sprintf(`{"from":%q,"name":%q}`, v.name(), name), &made); err != nil {
		return nil, err
	}
	return v.enter(made.Key)
}

// audit fails where the world's books are out of balance.
func (v *visitor) audit(ctx context.Context) error {
	var ledger struct {
		Problems string `json:"problems"`
	}
	err := v.control(ctx, http.MethodGet, "ledger?perPage=1", "", &ledger)
	if ledger.Problems != "" {
		err = fmt.Errorf("the ledger of %s: %s", v.name(), ledger.Problems)
	}
	return err
}

// leave closes the world.
func (v *visitor) leave(ctx context.Context) error {
	return v.control(ctx, http.MethodDelete, "worlds/"+v.name(), "", nil)
}

func (v *visitor) name() string { return strings.TrimPrefix(v.key, "sk_test_") }

// control uses the control surface for this world.
func (v *visitor) control(ctx context.Context, method, path, body string, data any) error {
	req, err := http.NewRequestWithContext(ctx, method, v.server.URL+"/_mock/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+v.key)
	resp, err := v.transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s /_mock/%s: %s: %s", method, path, resp.Status, text)
	}
	return json.Unmarshal(text, &struct {
		Data any `json:"data"`
	}{data})
}
