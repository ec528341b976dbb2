package delivery

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

var errNotLoopback = errors.New("only loopback targets are delivered to; allow others with -deliver-anywhere (in Go: WithDeliveryTargets)")

// CheckTarget reports why a URL cannot be a webhook's: it is no absolute http or https address, or
// it leaves this machine and anywhere is false.
func CheckTarget(target string, anywhere bool) error {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is no absolute http or https URL", target)
	}
	if !anywhere && !IsLoopback(u.Hostname()) {
		return errNotLoopback
	}
	return nil
}

// IsLoopback reports whether a host name or address, without a port, means this machine by itself.
func IsLoopback(host string) bool {
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// NewTransport returns a transport for any number of dispatchers. It connects to loopback addresses only, unless anywhere is true. It looks at the address
// that is really dialled, so that a name such as x.localhost cannot resolve to somewhere else.
func NewTransport(anywhere bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	if !anywhere {
		dialer.Control = func(_, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !ap.Addr().Unmap().IsLoopback() {
				return errNotLoopback
			}
			return nil
		}
	}
	// No proxy: a receiver on this machine must not be asked for through another one.
	return &http.Transport{
		DialContext:         dialer.DialContext,
		MaxIdleConnsPerHost: maxInFlight,
		IdleConnTimeout:     30 * time.Second,
	}
}
