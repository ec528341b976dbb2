package webhook

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// PanicError is returned instead of the result of a callback that panicked or called [runtime.Goexit]. The
// receiver treats it like any other error of that callback.
type PanicError struct {
	// Callback names the function, such as "the handler" or "Store.Claim".
	Callback string
	// Value is the value that was passed to panic; nil if the callback called [runtime.Goexit].
	Value any
	// Stack is the stack of the goroutine that panicked.
	Stack []byte
}

// Error returns the value, and at the end the stack.
func (e *PanicError) Error() string {
	if e.Value == nil {
		return fmt.Sprintf("webhook: %s called runtime.Goexit\n\n%s", e.Callback, e.Stack)
	}
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

// protect calls a callback and returns its error, or a [*PanicError]. The callback runs on a goroutine of its
// own, because [runtime.Goexit] cannot be recovered: it would end a worker or the goroutine of the request.
func protect(callback string, call func() error) error {
	done := make(chan error, 1)
	go func() {
		err := error(nil)
		returned := false
		defer func() {
			if !returned {
				err = &PanicError{Callback: callback, Value: recover(), Stack: debug.Stack()}
			}
			done <- err
		}()
		err = call()
		returned = true
	}()
	return <-done
}
