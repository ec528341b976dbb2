// Package freeport finds ports on which a program can listen later.
package freeport

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync/atomic"
)

// By default, systems choose ports of 32768 or above, such as for 127.0.0.1:0. A lower port stays free until the
// program listens.
const (
	lowest = 10240
	count  = 32768 - lowest
)

// Sequence is a series of free ports of 127.0.0.1. A port repeats only after all others were used.
type Sequence struct{ used atomic.Uint32 }

// New returns a sequence that begins at a random port.
func New() *Sequence {
	s := &Sequence{}
	s.used.Store(rand.Uint32N(count))
	return s
}

// Next returns the next free port.
func (s *Sequence) Next() (port string, err error) {
	for range count {
		port = strconv.FormatUint(uint64(lowest+s.used.Add(1)%count), 10)
		free, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err == nil {
			return port, free.Close()
		}
	}
	return "", fmt.Errorf("no port from %d to %d is free: stop a program that listens", lowest, lowest+count-1)
}
