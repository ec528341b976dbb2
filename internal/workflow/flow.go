// Package workflow takes a regulatory request from its draft to its end: edit, select, reserve, purchase, wait.
// A [Flow] goes from the draft to the purchase, and a [Wait] polls until the end. Both call functions of the
// caller for everything that is sent, stored or decided.
package workflow

import (
	"context"
	"slices"
)

// Step is a step of a Flow.
type Step string

const (
	Edit     Step = "edit"
	Select   Step = "select"
	Reserve  Step = "reserve"
	Purchase Step = "purchase"
)

// Error is a step that failed.
type Error struct {
	Step Step
	Err  error
}

func (e *Error) Error() string { return string(e.Step) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Flow is the way from a draft to its purchase.
type Flow[Draft, Document any] struct {
	// Edit changes the draft on the service. Nil changes nothing.
	Edit func(context.Context, Draft) error
	// Read reads the draft again after Edit.
	Read func(context.Context) (Draft, error)
	// Check returns an error unless the draft may be edited and purchased.
	Check func(Draft) error
	// Select chooses documents. Nil chooses none.
	Select func(Draft) ([]Document, error)
	// Reserve reserves the price of the documents, or records the intent to purchase. Nothing is purchased
	// unless it succeeds. Nil reserves nothing.
	Reserve func(context.Context, Draft, []Document) error
	// Purchase purchases the documents.
	Purchase func(context.Context, Draft, []Document) error
	// Done is called after each Edit and Select. Nil is not called.
	Done func(Step, Draft)
}

// Run returns the draft as last read, and whether it was purchased. The error is an [*Error].
func (f *Flow[Draft, Document]) Run(ctx context.Context, draft Draft) (last Draft, purchased bool, err error) {
	if f.Edit != nil {
		if draft, err = f.edit(ctx, draft); err != nil {
			return draft, false, &Error{Edit, err}
		}
	}
	if f.Select == nil {
		return draft, false, nil
	}
	selected, err := f.choose(draft)
	if err != nil {
		return draft, false, &Error{Select, err}
	}
	if len(selected) == 0 {
		return draft, false, nil
	}
	if f.Reserve != nil {
		if err := f.Reserve(ctx, draft, selected); err != nil {
			return draft, false, &Error{Reserve, err}
		}
	}
	if err := f.Purchase(ctx, draft, selected); err != nil {
		return draft, false, &Error{Purchase, err}
	}
	return draft, true, nil
}

func (f *Flow[Draft, Document]) edit(ctx context.Context, draft Draft) (Draft, error) {
	if err := f.Check(draft); err != nil {
		return draft, err
	}
	if err := f.Edit(ctx, draft); err != nil {
		return draft, err
	}
	edited, err := f.Read(ctx)
	if err != nil {
		return draft, err
	}
	f.done(Edit, edited)
	return edited, nil
}

func (f *Flow[Draft, Document]) choose(draft Draft) ([]Document, error) {
	if err := f.Check(draft); err != nil {
		return nil, err
	}
	selected, err := f.Select(draft)
	selected = slices.Clone(selected) // the caller may change its slice after the reservation
	if err == nil {
		f.done(Select, draft)
	}
	return selected, err
}

func (f *Flow[Draft, Document]) done(step Step, draft Draft) {
	if f.Done != nil {
		f.Done(step, draft)
	}
}
