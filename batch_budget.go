package shipping

import (
	"fmt"
	"sync"
)

// spending is what a batch has spent or reserved. A price is reserved before its purchase is sent and
// released only when nothing was charged, so the sum never exceeds the budget, not for a moment.
type spending struct {
	budget *Budget
	mu     sync.Mutex
	sum    Amount
}

func (s *spending) committed() Amount {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}

// reserve sets aside the price of the record's documents, as stored on the draft.
func (s *spending) reserve(record *BatchRecord, draft *RegulatoryRequest) error {
	price, currency, err := draft.Price(record.Documents...)
	if s.budget == nil {
		if err == nil { // without a budget a price is worth noting, and not needed
			record.Amount, record.Currency = price, currency
		}
		return nil
	}
	if _, err := s.budget.allows(draft, record.Documents); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, err := s.sum.Add(price)
	if err != nil {
		return err
	}
	if sum.Cmp(s.budget.Amount) > 0 {
		left, _ := s.budget.Amount.Sub(s.sum) // both were added up without overflow
		return &BudgetError{Budget: *s.budget, Needed: price,
			Problem: fmt.Sprintf("%s needed, %s of it left", inFull(price), inFull(left))}
	}
	s.sum = sum
	record.Amount, record.Currency = price, currency
	return nil
}

// release gives a reservation back.
func (s *spending) release(record BatchRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum, err := s.sum.Sub(record.Amount); err == nil && s.budget != nil {
		s.sum = sum
	}
}

// correct replaces a reservation by what the service says it charged.
func (s *spending) correct(record *BatchRecord, charged Amount) {
	s.release(*record)
	record.Amount = charged
	s.mu.Lock()
	defer s.mu.Unlock()
	if sum, err := s.sum.Add(charged); err == nil && s.budget != nil {
		s.sum = sum
	}
}

// restore counts what an earlier run spent or may have spent.
func (s *spending) restore(record BatchRecord) error {
	if s.budget == nil || !record.Step.committed() {
		return nil
	}
	if record.Currency != "" && record.Currency != s.budget.Currency {
		return &BudgetError{Budget: *s.budget,
			Problem: fmt.Sprintf("the journal holds a purchase of %s in %s", record.Key, record.Currency)}
	}
	sum, err := s.sum.Add(record.Amount)
	if err != nil {
		return err
	}
	s.sum = sum
	return nil
}
