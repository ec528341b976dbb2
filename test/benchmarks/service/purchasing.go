package service

import (
	"fmt"
	"net/http"
	"strings"
)

// Purchasing offers many documents at 1 NGN, and generates all of them at once.
type Purchasing struct{ draft, generated []byte }

// NewPurchasing returns a service with that many offers.
func NewPurchasing(offers int) *Purchasing {
	list := func(member string) string {
		documents := make([]string, offers)
		for n := range documents {
			documents[n] = fmt.Sprintf(`{"document_type":"FORM-%d","name":"a form","mode":"automated",%s}`, n, member)
		}
		return strings.Join(documents, ",")
	}
	const envelope = `{"status":true,"message":"OK","data":{"request_id":"RD-5FQJ2M81KD0XA7NB","status":"%s",` +
		`"available_documents":[%s],"documents":[%s]}}`
	offered := list(`"amount":1,"currency":"NGN"`)
	return &Purchasing{
		draft:     fmt.Appendf(nil, envelope, "draft", offered, ""),
		generated: fmt.Appendf(nil, envelope, "completed", offered, list(`"status":"generated"`)),
	}
}

// RoundTrip implements [http.RoundTripper].
func (p *Purchasing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/analyze") {
		return respond(r, p.draft), nil
	}
	return respond(r, p.generated), nil
}
