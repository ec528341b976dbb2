package main

import (
	"cmp"
	"context"
	"strings"

	"github.com/shipping-go/shipping"
)

// confirmed is what the confirmation of a purchase reports, which may be nothing but that it was made.
func confirmed(purchase *shipping.PurchaseResult) string {
	var parts []string
	if purchase.ChargedAmount.Known() {
		parts = append(parts, money(purchase.ChargedAmount, purchase.Currency)+" charged")
	}
	if purchase.TransactionID != "" {
		parts = append(parts, "transaction "+purchase.TransactionID)
	}
	if parts == nil {
		return "Purchased once. The confirmation names no amount and no transaction."
	}
	return "Purchased once: " + strings.Join(parts, ", ") + "."
}

// debit shows the transaction of the purchase.
func (s *scene) debit(ctx context.Context) error {
	if s.purchase == nil {
		s.out.line("Nothing: nothing was purchased.")
		return nil
	}
	list, total, err := s.ends(ctx)
	if err != nil {
		return err
	}
	switch debit := s.find(list); {
	case debit != nil:
		s.out.row("%s", transaction(debit))
	case s.purchase.TransactionID != "":
		s.out.line("The list does not show transaction %s yet.", s.purchase.TransactionID)
	default:
		s.out.line("The confirmation names no transaction, and the list does not show which one it is.")
	}
	s.out.line("%d transactions now.", total)
	return nil
}

// ends reads the first page of the wallet's transactions and the last one, because a service may list the
// oldest first.
func (s *scene) ends(ctx context.Context) (list []shipping.Transaction, total int, err error) {
	const perPage = 100
	options := &shipping.TransactionListOptions{Wallet: s.wallet, PerPage: perPage}
	first, err := s.client.Transactions.List(ctx, options)
	if err != nil {
		return nil, 0, err
	}
	list, total = first.Items, first.Pagination.Total
	size := cmp.Or(first.Pagination.PerPage, perPage) // a service may put fewer on a page than requested
	if options.Page = (total + size - 1) / size; options.Page < 2 {
		return list, total, nil
	}
	last, err := s.client.Transactions.List(ctx, options)
	if err != nil {
		return nil, 0, err
	}
	return append(list, last.Items...), total, nil
}

// find returns the transaction of the purchase: the one that the confirmation names. If it names none, it is
// the one that mentions the request or, failing that, the only debit of the price. It returns nil if that
// does not decide.
func (s *scene) find(list []shipping.Transaction) *shipping.Transaction {
	price := s.price
	if s.purchase.ChargedAmount.Known() {
		price = s.purchase.ChargedAmount
	}
	var priced []*shipping.Transaction
	for i := range list {
		t := &list[i]
		switch {
		case s.purchase.TransactionID != "":
			if t.TransactionID == s.purchase.TransactionID {
				return t
			}
		case strings.Contains(t.Description+" "+t.TxRef+" "+string(t.Metadata), s.purchase.RequestID):
			return t
		case t.Flow == shipping.FlowOut && t.Amount.Known() && t.Amount == price:
			priced = append(priced, t)
		}
	}
	if len(priced) == 1 {
		return priced[0]
	}
	return nil
}
