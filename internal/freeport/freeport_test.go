package freeport_test

import (
	"net"
	"strconv"
	"testing"

	"github.com/shipping-go/shipping/internal/freeport"
	"github.com/shipping-go/shipping/internal/shippingtest"
)

// A port comes once and stays free while others listen on ports that the system chooses.
func TestNext_StaysFree(t *testing.T) {
	t.Parallel()
	ports, found := freeport.New(), map[string]bool{}
	for range 200 {
		found[shippingtest.Must(ports.Next())(t)] = true
	}
	shippingtest.Diff(t, "different ports", 200, len(found))
	for range 400 {
		other := shippingtest.Must(net.Listen("tcp", "127.0.0.1:0"))(t)
		t.Cleanup(func() { other.Close() })
		if port := strconv.Itoa(other.Addr().(*net.TCPAddr).Port); found[port] {
			t.Errorf("port %s: the system chose it for another listener", port)
		}
	}
}

// A port on which a program listens is skipped.
func TestNext_SkipsWhatIsTaken(t *testing.T) {
	t.Parallel()
	ports := freeport.New()
	next := shippingtest.Must(strconv.Atoi(shippingtest.Must(ports.Next())(t)))(t) + 1
	taken := shippingtest.Must(net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(next))))(t)
	defer taken.Close()
	if port := shippingtest.Must(ports.Next())(t); port == strconv.Itoa(next) {
		t.Errorf("port %s is taken", port)
	}
}
