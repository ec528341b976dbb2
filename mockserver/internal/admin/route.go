package admin

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
	"github.com/shipping-go/shipping/mockserver/internal/world"
	"github.com/shipping-go/shipping/mockserver/journal"
)

func Routes() []Route {
	return slices.Concat(consoleRoutes(), serverRoutes(), worldRoutes(), journalRoutes(), faultRoutes(), stubRoutes(),
		moneyRoutes(), goodsRoutes(), webhookRoutes(), regulatoryRoutes())
}

// Route is an operation of the control surface: a row of the index and of the OpenAPI document, and its handler.
type Route struct {
	openapi.Control
	serve func(s *Admin, c *control) wire.Reply
}

// none is the type of a query without parameters, of an empty body, and of a response without data.
type none struct{}

type control struct {
	*wire.Exchange
	world  *world.World // the world of the request
	page   api.Paging   // of a list with pages
	total  int          // records of that list
	status int          // of the response, if it is not 200
	header http.Header  // of the response
	raw    *wire.Reply  // a response without an envelope
}

// address returns the address of the server with the host of the request, which a proxy may have passed on.
func (c *control) address() string {
	scheme, _, _ := strings.Cut(c.world.URL, "://")
	return scheme + "://" + c.Host
}

// route returns a row: the path is below wire.ControlPrefix, and example is a body, or empty. The handler gets the
// decoded parameters and body, and returns the message and the data of the response.
func route[P, B, D any](method, path, id, summary, example string,
	handle func(s *Admin, c *control, parameters P, body B) (string, D, error)) Route {
	r := Route{Control: openapi.Control{
		Method: method, Path: wire.ControlPrefix + path, ID: id, Summary: summary, Example: example,
		Parameters: reflect.TypeFor[P](), Body: reflect.TypeFor[B](), Data: reflect.TypeFor[D](),
	}}
	r.serve = func(s *Admin, c *control) wire.Reply {
		var parameters P
		var body B
		if err := readParameters(c.Request, reflect.ValueOf(&parameters).Elem()); err != nil {
			return refused(err)
		}
		if refusal := r.readBody(c, &body); refusal != nil {
			return *refusal
		}
		message, data, err := handle(s, c, parameters, body)
		switch {
		case err != nil:
			return refused(err)
		case c.raw != nil:
			return *c.raw
		}
		return c.reply(message, data)
	}
	return r
}

// with returns the route with media types of responses without an envelope.
func (r Route) with(media ...string) Route {
	r.Media = media
	return r
}

func (r *Route) queries() []string { return append(r.Query(), worldParameter) }

// readBody decodes the body. It refuses a body without a member that the type requires.
func (r *Route) readBody(c *control, into any) *wire.Reply {
	if text, isRaw := into.(*json.RawMessage); isRaw {
		*text = c.Body
		return nil
	}
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, into); refusal != nil {
		return refusal
	}
	value := reflect.ValueOf(into).Elem()
	for _, field := range reflect.VisibleFields(value.Type()) {
		name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if option == "" && value.FieldByIndex(field.Index).IsZero() {
			p := refused(fmt.Errorf("%s is required: send %s", name, r.Example))
			return &p
		}
	}
	return nil
}

// reply returns a success with data, and the pagination of a list with pages.
func (c *control) reply(message string, data any) wire.Reply {
	p := wire.Succeed(message, data)
	if c.page.PerPage > 0 && p.Status == http.StatusOK {
		p.Body = fmt.Appendf(p.Body[:len(p.Body)-1], `,"pagination":%s}`, jsontext.Of(c.page.Plain(c.total)))
	}
	p.Status, p.Header = cmp.Or(c.status, p.Status), c.header
	return p
}

const worldParameter = "world"

// unknownParameter refuses a query with an unknown parameter: a misspelt filter would select everything, or the wrong
// world.
func unknownParameter(query url.Values, known []string) error {
	for name := range query {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown parameter %q%s", name, spelling.Suggestion(name, known))
		}
	}
	return nil
}

// readParameters reads the parameters in the path and in the query that a struct names. An int counts from 1, a
// uint from 0, and the tag "most" limits a duration. An empty parameter is absent.
func readParameters(r *http.Request, into reflect.Value) error {
	query := r.URL.Query()
	for _, field := range reflect.VisibleFields(into.Type()) {
		name, isPath := field.Tag.Lookup("path")
		text, want, valid := r.PathValue(name), "", true
		if !isPath {
			name = field.Tag.Get("query")
			text = query.Get(name)
		}
		if name == "" || text == "" {
			continue
		}
		value := into.FieldByIndex(field.Index)
		switch value := value.Addr().Interface().(type) {
		case *string:
			choices := strings.Fields(field.Tag.Get("enum"))
			*value, want, valid = text, "one of "+strings.Join(choices, ", "), len(choices) == 0 ||
				slices.Contains(choices, text)
		case *bool:
			parsed, err := strconv.ParseBool(text)
			*value, want, valid = parsed, "true or false", err == nil
		case **bool:
			parsed, err := strconv.ParseBool(text)
			*value, want, valid = &parsed, "true or false", err == nil
		case *int:
			*value, want = api.Positive(text, 0), "a whole number from 1"
			valid = *value > 0
		case *uint:
			number, err := strconv.ParseUint(text, 10, 64)
			*value, want, valid = uint(min(number, math.MaxInt32)), "a whole number from 0", err == nil
		case *time.Duration:
			given, err := time.ParseDuration(text)
			limit := field.Tag.Get("most")
			most, _ := time.ParseDuration(limit)
			*value, want = given, fmt.Sprintf("a duration up to %s, such as %s", limit, field.Tag.Get("example"))
			valid = err == nil && given > 0 && given <= most
		}
		if !valid {
			return fmt.Errorf("invalid %s %q: write %s", name, text, want)
		}
	}
	return nil
}

// paging are the parameters of a list with pages. List.MaxPerPage of the dialect does not apply to them.
type paging struct {
	Page    int `query:"page" doc:"Number of the page. Default: 1." example:"2"`
	PerPage int `query:"perPage" doc:"Records in a page. Default: 100." example:"50"`
}

// pageOf returns the page of a list that a request selects, and adds the pagination to the response.
func pageOf[T any](c *control, p paging, all []T) []T {
	c.setPage(p, len(all))
	if c.page.Page > c.page.PageCount(len(all)) {
		return []T{}
	}
	first := (c.page.Page - 1) * c.page.PerPage
	return all[first : first+min(c.page.PerPage, len(all)-first)]
}

func (c *control) setPage(p paging, total int) {
	c.page, c.total = api.Paging{Page: cmp.Or(p.Page, 1), PerPage: cmp.Or(p.PerPage, api.DefaultPerPage)}, total
}

type waiting struct {
	Wait  time.Duration `query:"wait" most:"1h" doc:"Wait until there are count of them, at most this long (up to 1h). The response is 408 if they do not come." example:"5s"`
	Count int           `query:"count" doc:"How many to wait for. Default: 1." example:"2"`
}

func (w *waiting) check() error {
	if w.Count > 0 && w.Wait == 0 {
		return errors.New("count needs wait: send wait=5s&count=2")
	}
	w.Count = max(1, w.Count)
	return nil
}

// containing returns the elements that have a text which contains text, ignoring case.
func containing[T any](all []T, text string, texts func(T) []string) []T {
	text = strings.ToLower(text)
	return slices.DeleteFunc(all, func(one T) bool {
		return !slices.ContainsFunc(texts(one), func(has string) bool { return strings.Contains(strings.ToLower(has), text) })
	})
}

type refusal struct {
	status        int
	code, message string
}

func (r *refusal) Error() string { return r.message }

func notFound(format string, args ...any) error {
	return &refusal{http.StatusNotFound, wire.CodeNotFound, fmt.Sprintf(format, args...)}
}

// internal returns the error of a response that could not be made.
func internal(err error) error {
	return &refusal{http.StatusInternalServerError, wire.CodeInternal, err.Error()}
}

const packagePrefix = "mockserver: "

// refused returns the response for an error: 400, unless the error has another status.
func refused(err error) wire.Reply {
	r := refusal{http.StatusBadRequest, wire.CodeInvalid, err.Error()}
	if own, ok := errors.AsType[*refusal](err); ok {
		r = *own
	}
	switch {
	case errors.Is(err, world.ErrTooManyWorlds), errors.Is(err, world.ErrTooManyRows):
		r.status, r.code = http.StatusServiceUnavailable, wire.CodeFull
	case errors.Is(err, world.ErrWorldExists), errors.Is(err, world.ErrRealClock):
		r.status = http.StatusConflict
	case errors.Is(err, world.ErrNoFault):
		r.status, r.code = http.StatusNotFound, wire.CodeNotFound
	}
	message := strings.TrimPrefix(r.message, packagePrefix)
	return wire.Refused(r.status, r.code, strings.ReplaceAll(message, ": "+packagePrefix, ": "))
}

// types returns the schemas of the types whose JSON does not follow from their Go type.
func types() openapi.Types {
	const text, duration, timestamp = `{"type":"string"}`, `{"type":"string","examples":["250ms","90s"]}`,
		`{"type":"string","format":"date-time"}`
	return openapi.Types{
		reflect.TypeFor[time.Time]():          timestamp,
		reflect.TypeFor[jsontext.Timestamp](): timestamp,
		reflect.TypeFor[time.Duration]():      duration,
		reflect.TypeFor[fault.Duration]():     duration,
		reflect.TypeFor[shipping.Amount]():    `{"$ref":"#/components/schemas/Amount"}`,
		reflect.TypeFor[regulatory.Record]():  `{"$ref":"#/components/schemas/RegulatoryRequest"}`,
		reflect.TypeFor[regulatory.State]():   `{"$ref":"#/components/schemas/RequestStatus"}`,
		reflect.TypeFor[json.RawMessage]():    `{}`,
		reflect.TypeFor[[]byte]():             `{"type":"string","contentEncoding":"base64"}`,
		reflect.TypeFor[fault.Header](): `{"type":"object","additionalProperties":` +
			`{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}`,
		reflect.TypeFor[fault.Point]():      enum(fault.Points()),
		reflect.TypeFor[fault.RetryAfter](): enum(fault.RetryAfters()),
		reflect.TypeFor[journalRow](): []reflect.Type{reflect.TypeFor[journal.Entry](),
			reflect.TypeFor[journal.Finding]()},
	}
}

// enum returns the schema of a text with one of these values.
func enum[T ~string](values []T) string {
	var all []string
	for _, value := range values {
		all = append(all, `"`+string(value)+`"`)
	}
	return `{"type":"string","enum":[` + strings.Join(all, ",") + `]}`
}
