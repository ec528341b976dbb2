package admin

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// worldParameter names the world that a request to the control surface is about. Every route takes it.
const worldParameter = "world"

// Parameter is a query parameter of the control surface.
type Parameter struct {
	Name, About string
	Example     string
}

// Parameters is the table of them, which the OpenAPI document shows.
func Parameters() []Parameter {
	return []Parameter{
		{worldParameter, `The world that the request is about: the name of an open one, or "unauthenticated" for the requests whose key opens none. Without it, the world of the key in Authorization, or else the server's own.`, "home"},
		{"page", "The page of the list, from 1.", "1"},
		{"perPage", "Records on a page; 100 by default.", "100"},
		{"keys", "false leaves secret keys out.", "false"},
		{"wallet", "The wallet whose entries are listed.", "VA-2244668800"},
		{"operation", "An operation such as rates.list.", "rates.list"},
		{"status", "An HTTP status.", "400"},
		{"request_id", "The X-Request-Id of an answer.", "req-7"},
		{"key", "A fingerprint, as the journal shows it.", "sk_test_…0a1b2c3d"},
		{"contains", "A text in the path, the query or a body.", "RD-"},
		{"faulted", "true chooses the requests that an injected fault struck.", "true"},
		{"after", "A request id: only requests behind it; latest: only those to come.", "req-7"},
		{"last", "At most so many, the latest.", "50"},
		{"bodies", "false leaves the bodies out.", "false"},
		{"await", "Wait so long for the first that is chosen, or answer 408.", "5s"},
		{"as", "curl or go: what makes the request again.", "curl"},
		{tokenParameter, "The token, for a browser on another machine: it gets a cookie.", ""},
	}
}

// unknownParameter refuses a query with a parameter that the route does not take: one that is misspelt would
// choose everything, or the wrong world.
func unknownParameter(query url.Values, known []string) *wire.Reply {
	for name := range query {
		if !slices.Contains(known, name) {
			p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("unknown parameter %q%s", name, spelling.Suggestion(name, known)))
			return &p
		}
	}
	return nil
}

// controlPage reads page and perPage. Assumptions about the service do not hold here, so that nothing caps a page.
func controlPage(query url.Values) (api.Paging, *wire.Reply) {
	p := api.Paging{Page: 1, PerPage: api.DefaultPerPage}
	for name, value := range map[string]*int{"page": &p.Page, "perPage": &p.PerPage} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		if *value = api.Positive(text, 0); *value == 0 {
			refusal := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("%s is %q: write a whole number from 1", name, text))
			return p, &refusal
		}
	}
	return p, nil
}

// paged is a success with the pagination of a list beside its data.
func paged(p api.Paging, total int, message string, data any) wire.Reply {
	answer := wire.SucceedWith(nil, message, data)
	if answer.Status == http.StatusOK {
		answer.Body = append(answer.Body[:len(answer.Body)-1], `,"pagination":`...)
		answer.Body = append(p.AppendRates(answer.Body, total), '}')
	}
	return answer
}
