package admin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// worldParameter is the query parameter that selects the world. Every route has it.
const worldParameter = "world"

// unknownParameter refuses a query with an unknown parameter: a misspelt filter would select everything, or the wrong
// world.
func unknownParameter(query url.Values, known []string) *wire.Reply {
	for name := range query {
		if !slices.Contains(known, name) {
			p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("unknown parameter %q%s", name, spelling.Suggestion(name, known)))
			return &p
		}
	}
	return nil
}

// controlPage reads page and perPage. PerPageCap does not apply to the control surface.
func controlPage(query url.Values) (api.Paging, *wire.Reply) {
	p := api.Paging{Page: 1, PerPage: api.DefaultPerPage}
	for name, value := range map[string]*int{"page": &p.Page, "perPage": &p.PerPage} {
		text := query.Get(name)
		if text == "" {
			continue
		}
		if *value = api.Positive(text, 0); *value == 0 {
			refusal := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("invalid %s %q: write a whole number from 1", name, text))
			return p, &refusal
		}
	}
	return p, nil
}

// containing returns the elements of which one of the texts contains another one, in whatever case. Without that, it
// returns all.
func containing[T any](all []T, text string, texts func(T) []string) []T {
	if text == "" {
		return all
	}
	text = strings.ToLower(text)
	return slices.DeleteFunc(all, func(one T) bool {
		return !slices.ContainsFunc(texts(one), func(has string) bool { return strings.Contains(strings.ToLower(has), text) })
	})
}

// paged returns a success with data and the pagination of a list.
func paged(p api.Paging, total int, message string, data any) wire.Reply {
	answer := wire.Succeed(message, data)
	pagination, err := json.Marshal(p.Rates(total))
	if answer.Status == http.StatusOK && err == nil {
		answer.Body = fmt.Appendf(answer.Body[:len(answer.Body)-1], `,"pagination":%s}`, pagination)
	}
	return answer
}

// pageOf returns a page of a list, with the pagination of the rate list.
func pageOf[T, V any](c *control, message string, all []T, view func(T) V) wire.Reply {
	p, refusal := controlPage(c.Query())
	if refusal != nil {
		return *refusal
	}
	return paged(p, len(all), message, list.Map(cut(p, all), view))
}

// cut returns the page of a slice that is requested.
func cut[T any](p api.Paging, all []T) []T {
	if p.Page > p.PageCount(len(all)) {
		return []T{}
	}
	first := (p.Page - 1) * p.PerPage
	return all[first : first+min(p.PerPage, len(all)-first)]
}
