// Package servers starts the real servers that the tests of this module run against, each in a folder of
// its own and reached over a socket there, and is stopped at the end.
package servers

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package with servers that start makes; it exits. stop undoes what start did.
func Main(m *testing.M, start func() (stop func() error, err error)) {
	stop, err := start()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// missing returns an error that states how to install a server.
func missing(server string) error {
	return errors.New("these tests need " + server + "; stores/run.sh installs it, from Debian's packages, and runs them")
}
