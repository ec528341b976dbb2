package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/batch"
	"github.com/shipping-go/shipping/webhook"
)

// shop buys the documents of each new shipment that it is notified of.
type shop struct {
	client  *shipping.Client
	options batch.Options
	close   func() error // closes the journal
	orders  string       // a folder with a file for each shipment that is not finished, named after it
	logger  *slog.Logger
	wake    chan struct{} // with room for one element
}

// openShop opens the files of a shop in a folder.
func openShop(folder, budget string, logger *slog.Logger) (*shop, error) {
	s := &shop{orders: filepath.Join(folder, "orders"), logger: logger, wake: make(chan struct{}, 1)}
	var clientErr, budgetErr error
	s.client, clientErr = shipping.NewClientFromEnv()
	s.options.Budget, budgetErr = shipping.ParseBudget(budget)
	if err := errors.Join(clientErr, budgetErr, os.MkdirAll(s.orders, 0o700)); err != nil {
		return nil, err
	}
	journal, err := batch.OpenFile(filepath.Join(folder, "batch.journal"))
	s.options.Journal, s.options.Select = journal, shipping.SelectAutomated
	s.close = journal.Close
	return s, err
}

// start starts the worker. stop ends it.
func (s *shop) start(ctx context.Context) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var worker sync.WaitGroup
	worker.Go(func() { s.work(ctx) })
	return func() error {
		cancel()
		worker.Wait()
		return s.close()
	}
}

// record records a new shipment before the receiver responds, so that a crash loses none.
func (s *shop) record(_ context.Context, n *webhook.Notification) error {
	if n.Event != shipping.EventShipmentCreated {
		return nil
	}
	shipment, err := n.Shipment()
	if err != nil {
		return err // the service sends it again
	}
	id := shipment.ShipmentID
	if url.PathEscape(id) != id || strings.HasPrefix(id, ".") {
		return fmt.Errorf("%q is not the id of a shipment", id)
	}
	if err := create(s.orders, id); err != nil {
		return err
	}
	select {
	case s.wake <- struct{}{}:
	default: // the worker has not read the folder since the last notification
	}
	return nil
}

// work buys until ctx ends, or the service charges more than a draft shows. It is the only caller of batch.Run, because
// a journal file takes one run at a time.
func (s *shop) work(ctx context.Context) {
	pause := time.Second
	for ctx.Err() == nil {
		err := s.buy(ctx)
		if errors.Is(err, shipping.ErrOvercharged) {
			s.logger.Error("nothing is purchased until a person has done this and starts the program again", "error", err)
			return
		}
		if err != nil {
			s.logger.Error("not everything is purchased", "error", err, "again", pause)
			select {
			case <-time.After(time.Second): // also if there is a notification already
			case <-ctx.Done():
			}
		}
		select {
		case <-s.wake:
			pause = time.Second
		case <-time.After(pause):
			pause = min(2*pause, time.Hour)
		case <-ctx.Done():
		}
	}
}

// buy purchases for the shipments in the folder, and removes those that are finished. The journal contains each
// purchase, so nothing is sent for a shipment that is recorded again.
func (s *shop) buy(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, 10*time.Minute) // later notifications wait for this run
	defer stop()
	orders, err := os.ReadDir(s.orders)
	if err != nil || len(orders) == 0 {
		return err
	}
	var items []batch.Item
	for _, order := range orders {
		items = append(items, batch.Item{Analyze: shipping.AnalyzeRequest{ShipmentID: order.Name()}})
	}
	options := s.options
	// The budget is for a day, and runs for earlier days are never repeated.
	options.Period = time.Now().UTC().Format(time.DateOnly)
	report, err := batch.Run(ctx, s.client, items, &options)
	if report == nil {
		return err
	}
	for _, result := range report.Results {
		switch result.State {
		case batch.StateCompleted, batch.StateDraft, batch.StateClosed:
			s.logger.Info("finished", "shipment", result.Key, "state", result.State, "missing", result.NotSelected)
			err = errors.Join(err, os.Remove(filepath.Join(s.orders, result.Key)))
		}
	}
	return errors.Join(err, report.Err())
}

// create creates an empty file that survives a power failure.
func create(folder, name string) error {
	file, err := os.Create(filepath.Join(folder, name))
	if err != nil {
		return err
	}
	dir, err := os.Open(folder)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	_ = dir.Sync() // not every system can flush a folder
	return errors.Join(file.Sync(), file.Close(), dir.Close())
}
