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
	"unicode/utf8"
)

// ErrNotLoopback is returned for a target on another machine.
var ErrNotLoopback = errors.New("not a loopback address: allow it with -deliver-anywhere (in Go: WithDeliverAnywhere)")

// CheckTarget returns an error if a URL cannot be a webhook's: if it is not an absolute http or https address, or
// if it is on another machine and anywhere is false.
func CheckTarget(target string, anywhere bool) error {
	u, err := url.Parse(target)
	if known, _ := url.Parse("http://" + target); !strings.Contains(target, "://") && known != nil && known.Port() != "" {
		return fmt.Errorf("%q has no scheme: write %q", target, "http://"+target)
	}
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return fmt.Errorf("%q is not an absolute http or https URL", target)
	}
	if !anywhere && !IsLoopback(u.Hostname()) {
		return fmt.Errorf("%q is %w", u.Hostname(), ErrNotLoopback)
	}
	return nil
}

// IsLoopback reports whether a host name or address, without a port, is a loopback address. A name that is not ASCII
// does not count, because IDNA may map it to another name.
func IsLoopback(host string) bool {
	if strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// IsLoopbackAddress reports whether an address with a port is a loopback address.
func IsLoopbackAddress(address string) bool {
	ap, err := netip.ParseAddrPort(address)
	return err == nil && ap.Addr().Unmap().IsLoopback()
}

// errLinkLocal is returned for a link-local address, at which clouds serve the credentials of a machine.
var errLinkLocal = errors.New("link-local addresses, such as 169.254.169.254, never receive deliveries")

// NewTransport returns a transport for any number of dispatchers. Unless anywhere is true, it connects to loopback
// addresses only, and never to link-local ones. It checks the address that is dialled, not the name.
func NewTransport(anywhere bool) *http.Transport {
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		switch {
		case err != nil:
			return err
		case to.Addr().Unmap().IsLinkLocalUnicast():
			return errLinkLocal
		case !anywhere && !to.Addr().Unmap().IsLoopback():
			return ErrNotLoopback
		}
		return nil
	}}
	// No proxy: a receiver on this machine is not reached through another machine.
	return &http.Transport{
		DialContext:         dialer.DialContext,
		MaxIdleConns:        MaxAttempts,
		MaxIdleConnsPerHost: maxInFlight,
		IdleConnTimeout:     30 * time.Second,
	}
}
