package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

var (
	// ErrBodyTooLarge is wrapped by a [BodyError] if the body exceeds its limit.
	ErrBodyTooLarge = errors.New("shipping: body too large")
	// ErrTruncated is wrapped by a [BodyError] if the body was cut off.
	ErrTruncated = errors.New("shipping: truncated body")
)

// BodyError is a response whose body could not be read to its end.
type BodyError struct {
	StatusCode int
	Header     http.Header
	Body       []byte // its start
	Err        error
}

func (e *BodyError) Error() string { return e.Err.Error() }

func (e *BodyError) Unwrap() error { return e.Err }

// tooLargeError is the error of a body with more bytes than its value.
type tooLargeError int64

func (e tooLargeError) Error() string { return fmt.Sprintf("it has more than %d bytes", int64(e)) }

func (tooLargeError) Unwrap() error { return ErrBodyTooLarge }

// truncatedError keeps the cause beside [ErrTruncated].
type truncatedError struct{ cause error }

func (e truncatedError) Error() string {
	if errors.Is(e.cause, context.Canceled) || errors.Is(e.cause, context.DeadlineExceeded) {
		return "the context ended while the response was read: " + e.cause.Error()
	}
	return "the body ended early: " + e.cause.Error()
}

func (e truncatedError) Unwrap() []error { return []error{ErrTruncated, e.cause} }

// TimeoutError is the end of an attempt whose time was up. It is not a context error, because the context of
// the call has not ended.
type TimeoutError struct {
	After time.Duration
	// Of is the setting that bounds the attempt; empty if the call itself bounds it.
	Of       string
	evidence error
}

func (e *TimeoutError) Error() string {
	after := e.After
	if after > time.Second {
		after = after.Round(time.Millisecond)
	}
	text := "no complete response within " + after.String()
	if e.Of != "" {
		text += ", the " + e.Of
	}
	return text
}

// Timeout returns true, as [net.Error] does.
func (e *TimeoutError) Timeout() bool { return true }

func (e *TimeoutError) Unwrap() error { return e.evidence }

// PausedError is returned for an attempt that was not sent because an earlier call got a 429, and the
// pause would outlast the deadline.
type PausedError struct {
	// Left is the rest of the pause.
	Left time.Duration
}

func (e *PausedError) Error() string {
	return fmt.Sprintf("not sent: an earlier call got a 429, and the pause of %s would outlast the deadline",
		e.Left.Round(time.Millisecond))
}

type limiterError struct{ error }

func (e limiterError) Error() string { return "limiter: " + e.error.Error() }
func (e limiterError) Unwrap() error { return e.error }

// unsentError marks a failure before any of the request was handed to the network. Only this error is evidence: the
// text and type of an error that a transport returns prove nothing.
type unsentError struct {
	error
	// heldBack is true if the client itself held the request back.
	heldBack bool
}

func (e *unsentError) Unwrap() error { return e.error }

// own returns err, an error of one call, as an error of this package. It does not search what err wraps: a
// transport, a body and a limiter can return the cause of a context, and that cause can be the error of another
// call.
func own[E error](err error) (E, bool) {
	if late, ok := err.(*TimeoutError); ok && late.evidence != nil {
		err = late.evidence
	}
	found, ok := err.(E)
	return found, ok
}

// foreign returns an error that this call did not make, such as the cause of a context, without its evidence about
// another call.
func foreign(err error) error {
	if _, ok := own[*unsentError](err); ok {
		return foreignError{err}
	}
	if _, ok := own[*BodyError](err); ok {
		return foreignError{err}
	}
	return err
}

// foreignError is an error of another call.
type foreignError struct{ error }

func (e foreignError) Unwrap() error { return e.error }

// NotSent reports evidence that nothing reached the service: the client held the request back, or its own
// transport did not establish a connection to the service or the proxy. Without such evidence it reports
// false. err is what [Client.Do] returned, not an error that wraps it.
func NotSent(err error) bool {
	_, ok := own[*unsentError](err)
	return ok
}

// HeldBack reports whether the client itself held the request back: during the pause after a 429, by the
// limiter, or because the context had ended. err is what [Client.Do] returned.
func HeldBack(err error) bool {
	unsent, ok := own[*unsentError](err)
	return ok && unsent.heldBack
}

// Paused returns the pause for which the request was held back. err is what [Client.Do] returned.
func Paused(err error) (*PausedError, bool) {
	unsent, ok := own[*unsentError](err)
	if !ok {
		return nil, false
	}
	paused, ok := unsent.error.(*PausedError)
	return paused, ok
}

// Partial returns the response whose body could not be read to its end. err is what [Client.Do] returned.
func Partial(err error) (*BodyError, bool) { return own[*BodyError](err) }

var errNoConnection = errors.New("no connection was established")

// evidenceIn returns only the evidence in the error of a failed attempt: a partial response, or that nothing was sent.
// It leaves out the cause, which may look like the end of the caller's context.
func evidenceIn(err error) error {
	if partial, ok := Partial(err); ok {
		return &BodyError{partial.StatusCode, partial.Header, partial.Body, ErrTruncated}
	}
	if NotSent(err) {
		return &unsentError{error: errNoConnection}
	}
	return nil
}
