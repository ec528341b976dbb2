package mockserver

import (
	"bytes"
	"fmt"
	"net/http"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// FaultMalformed sends half of the body as if it were all of it: well-formed HTTP, broken JSON.
func FaultMalformed() Fault { return faultMalformed{} }

type faultMalformed struct{}

func (faultMalformed) strike(x *wire.Exchange, _ *core) {
	x.StandIn()
	x.Reply.Body = bytes.Clone(x.Reply.Body[:len(x.Reply.Body)/2])
}

func (faultMalformed) form() FaultForm { return FaultForm{Kind: kindMalformed} }

// FaultContentType sends the answer as it is and says that it is something else, such as "text/plain".
func FaultContentType(contentType string) Fault { return faultContentType(contentType) }

type faultContentType string

func (f faultContentType) strike(x *wire.Exchange, _ *core) {
	x.StandIn()
	x.Reply.ContentType = string(f)
}

func (f faultContentType) form() FaultForm {
	return FaultForm{Kind: kindContentType, ContentType: string(f)}
}

func (f faultContentType) problem() string {
	if f == "" {
		return "name the content_type to claim, such as text/plain"
	}
	return ""
}

// FaultHTML answers with a page for people in place of JSON, as proxies do. A status of 200 is the
// nastiest.
func FaultHTML(status int) Fault { return faultHTML(status) }

type faultHTML int

func (f faultHTML) strike(x *wire.Exchange, w *core) {
	faultStatus{code: int(f)}.strike(x, w)
	x.Reply.ContentType = "text/html; charset=utf-8"
	title := fmt.Sprintf("%d %s", int(f), http.StatusText(int(f)))
	x.Reply.Body = fmt.Appendf(nil, "<!DOCTYPE html>\n<html><head><title>%[1]s</title></head>\n<body><center><h1>%[1]s</h1></center></body></html>\n", title)
}

func (f faultHTML) form() FaultForm { return FaultForm{Kind: kindHTML, Status: int(f)} }

func (f faultHTML) problem() string {
	if int(f) == http.StatusNoContent || int(f) == http.StatusNotModified {
		return fmt.Sprintf("status %d has no body to hold a page: choose another", int(f))
	}
	return faultStatus{code: int(f)}.problem()
}

// FaultEmpty answers 200 with no body at all.
func FaultEmpty() Fault { return faultEmpty{} }

type faultEmpty struct{}

func (faultEmpty) strike(x *wire.Exchange, _ *core) {
	x.StandIn()
	x.Reply.Status, x.Reply.Body = http.StatusOK, nil
}

func (faultEmpty) form() FaultForm { return FaultForm{Kind: kindEmpty} }
