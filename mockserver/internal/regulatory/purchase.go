package regulatory

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/compliance"
	"github.com/shipping-go/shipping/mockserver/internal/ledger"
)

// PurchaseInput is the body of a purchase.
//
// Specification: "Regulatory documents": POST /purchase.
type PurchaseInput struct {
	RequestID     string   `json:"request_id"`
	DocumentTypes []string `json:"document_types"`
}

// Receipt confirms "that the wallet was charged and generation started".
//
// Assumption: its fields.
type Receipt struct {
	RequestID string `json:"request_id"`
	// Status is processing, or purchasing for [Times.Purchasing].
	Status        State    `json:"status"`
	DocumentTypes []string `json:"document_types"`
	// ChargedAmount is the sum of the stored amounts, in Currency.
	ChargedAmount shipping.Amount `json:"charged_amount"`
	Currency      string          `json:"currency"`
	TransactionID string          `json:"transaction_id"`
}

const (
	specPurchaseBody = "POST /purchase: request_id (string); document_types (array of document type slugs)"
	specSlugs        = "Regulatory document request: supported document type slugs (exact values)"
	specOffered      = "Pricing rules: purchase charges the amounts already stored on the draft in available_documents"
	assumeOnce       = "assumption: a document type appears once in a purchase"
	assumeFunds      = "assumption: a wallet never goes below zero"
)

// Purchase charges the wallet once with the sum of the amounts that the draft has for the document
// types, and starts their generation. Current exchange rates do not matter.
//
// Purchase is refused, and nothing is charged, if request id or document types are missing, a type is
// unknown, repeated or not offered, the request is not a draft, or the funds are
// insufficient. An error of [Config.At] is returned unchanged; [fault.Point] documents the state after it.
func (d *Service) Purchase(in PurchaseInput) (Receipt, error) {
	if problems := in.check(); len(problems) > 0 {
		return Receipt{}, refuseProblems(CodeInvalidRequest, specPurchaseBody, problems)
	}
	record, err := d.open(in.RequestID, TriggerPurchase)
	if err != nil {
		return Receipt{}, err
	}
	if err := d.checkTypes(record, in.DocumentTypes); err != nil {
		return Receipt{}, err
	}
	var sum shipping.Amount
	for _, slug := range in.DocumentTypes {
		offer, _ := record.offered(slug)
		if sum, err = sum.Add(offer.Amount); err != nil {
			return Receipt{}, chargeRefused(record, err)
		}
	}
	if err := d.config.At(fault.BeforeCharge, shipping.OpPurchase, in.RequestID); err != nil {
		return Receipt{}, err
	}
	memo := fmt.Sprintf("Regulatory documents for %s", record.RequestID)
	entry, err := d.config.Ledger.Debit(record.Wallet, sum, record.RequestID, memo, d.config.Now(), d.config.NewID("TR"))
	if err != nil {
		return Receipt{}, chargeRefused(record, err)
	}
	next := record.clone()
	next.ChargedAmount, next.TransactionID = entry.Amount, entry.ID
	next.purchased = slices.Clone(in.DocumentTypes)
	return d.charged(next, entry)
}

// charged is the part of a purchase after the charge, which cannot be refused.
func (d *Service) charged(next *Record, entry ledger.Entry) (Receipt, error) {
	d.fire(next, TriggerPurchase)
	stored := d.store(next)
	d.config.Charged(entry, stored)
	interrupted := d.config.At(fault.AfterCharge, shipping.OpPurchase, stored.RequestID)
	switch wait := d.config.Times.Purchasing; {
	case stored.script.hangInPurchasing:
	case interrupted != nil || wait > 0:
		d.later(wait, "start generation", stored, func(current *Record) { d.startGeneration(current) })
	default:
		stored = d.startGeneration(stored)
	}
	if interrupted != nil {
		return Receipt{}, interrupted
	}
	if err := d.config.At(fault.BeforeReply, shipping.OpPurchase, stored.RequestID); err != nil {
		return Receipt{}, err
	}
	return Receipt{
		RequestID: stored.RequestID, Status: stored.Status, DocumentTypes: slices.Clone(stored.purchased),
		ChargedAmount: stored.ChargedAmount, Currency: stored.Currency, TransactionID: stored.TransactionID,
	}, nil
}

func (in PurchaseInput) check() []Problem {
	var problems []Problem
	if in.RequestID == "" {
		problems = append(problems, Problem{Field: "request_id",
			Reason: "is required; use the one in the response of analyze"})
	}
	if len(in.DocumentTypes) == 0 {
		problems = append(problems, Problem{Field: "document_types",
			Reason: "is required; list at least one of the draft's available_documents"})
	}
	return problems
}

// checkTypes refuses a purchase with invalid document types and lists all problems; the first one determines
// the code of the refusal.
func (d *Service) checkTypes(record *Record, slugs []string) error {
	var first Refusal
	var problems []Problem
	for i, slug := range slugs {
		_, known := d.config.Rules().Form(slug)
		_, offered := record.offered(slug)
		for _, rule := range []struct {
			broken bool
			code   Code
			rule   string
			reason string
		}{
			{!known, CodeUnknownDocumentType, specSlugs, "is not a document type" + spelling.Meant(slug, compliance.Slugs())},
			{slices.Contains(slugs[:i], slug), CodeRepeatedDocumentType, assumeOnce, "is listed before; list it once"},
			{!offered, CodeNotOffered, specOffered, "is not offered by the draft"},
		} {
			if !rule.broken {
				continue
			}
			if problems == nil {
				first = Refusal{Code: rule.code, Rule: rule.rule}
			}
			problems = append(problems, Problem{Field: fmt.Sprintf("document_types[%d]", i),
				Reason: fmt.Sprintf("(%s) %s", shorten(slug), rule.reason)})
			break
		}
	}
	if problems == nil {
		return nil
	}
	refusal := refuseProblems(first.Code, first.Rule, problems)
	refusal.Message += "; nothing was charged; the request offers " + record.offers()
	return refusal.of(record)
}

func chargeRefused(record *Record, err error) error {
	if short, ok := errors.AsType[*ledger.InsufficientFundsError](err); ok {
		missing, _ := short.Needed.Sub(short.Balance)
		refusal := refuse(CodeInsufficientFunds, assumeFunds, "%v: add money with PATCH /_mock/ledger "+
			`{"fund":[{"wallet":"%s","amount":%s}]} and the same Authorization (in Go: World.Fund)`, short, short.Wallet,
			missing)
		refusal.Data = map[string]any{"wallet": short.Wallet, "currency": short.Currency, "balance": short.Balance,
			"needed": short.Needed}
		return refusal.of(record)
	}
	return refuse(CodeChargeRefused, assumeFunds, "wallet %s cannot be charged for request %s: %v", record.Wallet,
		record.RequestID, err).of(record)
}
