package redact

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
)

// Error returns err itself if neither it nor an error that it wraps shows the key under any verb of fmt.
// Else it returns an error with the same text without the key. That one is what err is, for [errors.Is],
// and times out if err does. It wraps, for [errors.As], what err wraps, each redacted in the same way: an
// error of a type that holds the text of a peer is found only if it does not show the key or if it is a
// [*net.OpError], [*net.DNSError], [*url.Error] or [*tls.CertificateVerificationError], which are made anew.
func (k Key) Error(err error) error {
	if err == nil || !k.inError(err) {
		return err
	}
	if rebuilt := k.rebuild(err); rebuilt != nil && !k.inError(rebuilt) {
		return rebuilt
	}
	hidden := &redacted{
		text: k.Text(err.Error()),
		is:   func(target error) bool { return errors.Is(err, target) },
	}
	if temporary, ok := err.(interface{ Temporary() bool }); ok {
		hidden.temporary = temporary.Temporary()
	}
	if timeout, ok := err.(interface{ Timeout() bool }); ok {
		hidden.timeout = timeout.Timeout()
	}
	for _, cause := range causes(err) {
		hidden.causes = append(hidden.causes, k.Error(cause))
	}
	return hidden
}

// inError reports whether an error or one that it wraps shows the key. "%d" prints fields that other verbs
// leave to the error's methods.
func (k Key) inError(err error) bool {
	if k.In(fmt.Sprintf("%v", err)) || k.In(fmt.Sprintf("%+v", err)) || k.In(fmt.Sprintf("%#v", err)) || k.In(fmt.Sprintf("%d", err)) {
		return true
	}
	for _, cause := range causes(err) {
		if k.inError(cause) {
			return true
		}
	}
	return false
}

// causes returns what an error wraps.
func causes(err error) []error {
	var all []error
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		all = []error{wrapper.Unwrap()}
	case interface{ Unwrap() []error }:
		all = wrapper.Unwrap()
	}
	var some []error
	for _, cause := range all {
		if cause != nil {
			some = append(some, cause)
		}
	}
	return some
}

// rebuild makes an error of a well-known type anew, or returns nil.
func (k Key) rebuild(err error) error {
	switch e := err.(type) {
	case *net.OpError:
		return &net.OpError{Op: k.Text(e.Op), Net: k.Text(e.Net), Source: e.Source, Addr: e.Addr, Err: k.Error(e.Err)}
	case *net.DNSError:
		rebuilt := *e
		rebuilt.UnwrapErr, rebuilt.Err = k.Error(e.UnwrapErr), k.Text(e.Err)
		rebuilt.Name, rebuilt.Server = k.Text(e.Name), k.Text(e.Server)
		return &rebuilt
	case *url.Error:
		return &url.Error{Op: k.Text(e.Op), URL: k.Text(e.URL), Err: k.Error(e.Err)}
	case *tls.CertificateVerificationError: // the certificates may hold anything
		return &tls.CertificateVerificationError{Err: k.Error(e.Err)}
	}
	return nil
}

// redacted stands for an error that shows the key.
type redacted struct {
	text               string
	is                 func(target error) bool
	timeout, temporary bool
	causes             []error
}

func (e *redacted) Error() string        { return e.text }
func (e *redacted) Is(target error) bool { return e.is(target) }
func (e *redacted) Unwrap() []error      { return e.causes }
func (e *redacted) Timeout() bool        { return e.timeout }
func (e *redacted) Temporary() bool      { return e.temporary }
