package redact

import (
	"errors"
	"fmt"
)

// Error returns err itself if neither it nor an error that it wraps contains the key under any verb of fmt.
// Else it returns an error with the text [Mark]. That one is what err is, for [errors.Is], and times out if err does.
// It wraps, for [errors.As], what err wraps, each withheld in the same way.
func (k Key) Error(err error) error {
	if err == nil {
		return nil
	}
	safe, _ := k.withhold(err)
	return safe
}

// withhold also reports whether the error contains the key. "%d" prints fields that other verbs leave to the error's
// methods.
func (k Key) withhold(err error) (safe error, found bool) {
	for _, verb := range []string{"%v", "%+v", "%#v", "%d"} {
		found = found || k.In(fmt.Sprintf(verb, err))
	}
	var causes []error
	switch wrapper := err.(type) {
	case interface{ Unwrap() error }:
		causes = []error{wrapper.Unwrap()}
	case interface{ Unwrap() []error }:
		causes = wrapper.Unwrap()
	}
	hidden := &withheld{is: func(target error) bool { return errors.Is(err, target) }}
	for _, cause := range causes {
		if cause != nil {
			cause, foundInIt := k.withhold(cause)
			hidden.causes, found = append(hidden.causes, cause), found || foundInIt
		}
	}
	if !found {
		return err, false
	}
	if e, ok := err.(interface{ Timeout() bool }); ok {
		hidden.timeout = e.Timeout()
	}
	if e, ok := err.(interface{ Temporary() bool }); ok {
		hidden.temporary = e.Temporary()
	}
	return hidden, true
}

// withheld stands for an error that contains the key.
type withheld struct {
	is                 func(target error) bool
	timeout, temporary bool
	causes             []error
}

func (e *withheld) Error() string        { return Mark }
func (e *withheld) Is(target error) bool { return e.is(target) }
func (e *withheld) Unwrap() []error      { return e.causes }
func (e *withheld) Timeout() bool        { return e.timeout }
func (e *withheld) Temporary() bool      { return e.temporary }
