package webhook

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is returned instead of the result of a callback that panicked. The receiver treats it like any other error
// of that callback.
type PanicError struct {
	// Callback names the function, such as "the handler" or "Store.Claim".
	Callback string
	// Value is the value that was passed to panic.
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

// protect calls a callback and returns its error, or a [*PanicError].
func protect(callback string, call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Callback: callback, Value: value, Stack: debug.Stack()}
		}
	}()
	return call()
}
