package mockserver

import (
	"fmt"
	"maps"
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// FaultStatus answers with a status and, beside the usual ones, the given headers, such as
// Retry-After. The header may be nil. A status outside 200 to 599 is refused by [World.Inject].
func FaultStatus(code int, header http.Header) Fault { return faultStatus{code, header.Clone()} }

type faultStatus struct {
	code   int
	header http.Header
}

func (f faultStatus) strike(x *wire.Exchange, _ *core) {
	x.Reply = wire.Refused(f.code, wire.CodeInjected, fmt.Sprintf("injected fault: %d %s", f.code, http.StatusText(f.code)))
	x.Reply.Header = f.header
	if f.code == http.StatusNoContent || f.code == http.StatusNotModified {
		x.Reply.Body = nil
	}
	x.Settled = true
}

func (f faultStatus) form() FaultForm {
	form := FaultForm{Kind: kindStatus, Status: f.code}
	for name := range f.header {
		if form.Header == nil {
			form.Header = map[string]string{}
		}
		form.Header[name] = f.header.Get(name)
	}
	return form
}

func (f faultStatus) problem() string {
	if f.code < 200 || f.code > 599 {
		return fmt.Sprintf("status %d is none that ends an exchange: choose one from 200 to 599", f.code)
	}
	return ""
}

// FaultRedirect answers 308 with a Location, which a careful client does not follow.
func FaultRedirect(location string) Fault { return faultRedirect(location) }

type faultRedirect string

func (f faultRedirect) strike(x *wire.Exchange, w *core) {
	FaultStatus(http.StatusPermanentRedirect, http.Header{"Location": {string(f)}}).strike(x, w)
}

func (f faultRedirect) form() FaultForm { return FaultForm{Kind: kindRedirect, Location: string(f)} }

func (f faultRedirect) problem() string {
	if f == "" {
		return "a redirect needs a location to lead to"
	}
	return ""
}

// header returns the header that a form asks for.
func (f FaultForm) header() http.Header {
	header := http.Header{}
	for name, value := range maps.All(f.Header) {
		header.Set(name, value)
	}
	return header
}
