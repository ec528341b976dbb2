package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is returned instead of the result of a callback that panicked, or that ended its goroutine, as t.FailNow
// does. The receiver treats it like any other error of that callback.
type PanicError struct {
	// Callback names the function, such as "the handler" or "Store.Claim".
	Callback string
	// Value is the value that was passed to panic, or a text if the callback ended its goroutine.
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error returns the value, and at the end the stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("webhook: %s panicked: %v\n\n%s", e.Callback, e.Value, e.Stack)
}

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

func isPanic(err error) bool {
	_, panicked := errors.AsType[*PanicError](err)
	return panicked
}

// protect calls a callback on its own goroutine, which [runtime.Goexit] may end, and returns its error, or a
// [*PanicError].
func protect(callback string, call func() error) error {
	ended := make(chan error, 1)
	go func() {
		var err error
		returned := false
		defer func() {
			if value := recover(); !returned {
				err = &PanicError{callback, cmp.Or(value, any("it called runtime.Goexit")), debug.Stack()}
			}
			ended <- err
		}()
		err = call()
		returned = true
	}()
	return <-ended
}
