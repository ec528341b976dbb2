package contract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver"
)

// judge is a transport that checks every exchange against the document.
type judge struct {
	t        *testing.T
	document *openapi3.T
	router   routers.Router
	sockets  *http.Transport

	mu      sync.Mutex
	seen    map[exchange]int
	refused error // why the document does not allow the latest request; nil: allowed
}

// exchange is an operation together with the status that it was answered with.
type exchange struct {
	operation string
	status    int
}

// newJudge returns a judge for a document in closed form.
func newJudge(t *testing.T, document *openapi3.T) *judge {
	t.Helper()
	router := shippingtest.Must(gorillamux.NewRouter(document))(t)
	j := &judge{t: t, document: document, router: router, sockets: &http.Transport{}, seen: map[exchange]int{}}
	t.Cleanup(j.sockets.CloseIdleConnections)
	return j
}

// start returns a server on a real socket whose time the test moves.
func start(t *testing.T, opts ...mockserver.Option) *mockserver.Server {
	t.Helper()
	srv := mockserver.New(opts...)
	t.Cleanup(srv.Close)
	shippingtest.NoError(t, srv.Err())
	return srv
}

// RoundTrip implements [http.RoundTripper].
func (j *judge) RoundTrip(req *http.Request) (*http.Response, error) {
	var sent []byte
	if req.Body != nil {
		var err error
		if sent, err = io.ReadAll(req.Body); err != nil {
			return nil, err
		}
		req.Body.Close()
	}
	req = req.Clone(req.Context())
	req.Body = io.NopCloser(bytes.NewReader(sent))
	resp, err := j.sockets.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	received, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(received))
	j.judge(req, sent, resp, received)
	return resp, nil
}

func (j *judge) judge(req *http.Request, sent []byte, resp *http.Response, received []byte) {
	req = req.Clone(context.WithoutCancel(req.Context()))
	req.Body = io.NopCloser(bytes.NewReader(sent))
	if len(sent) == 0 {
		req.Body = http.NoBody
	}
	in, err := j.input(req)
	if err == nil {
		err = openapi3filter.ValidateRequest(req.Context(), in)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.refused = err
	if in == nil {
		if err := validate(j.document.Components.Schemas["Refusal"].Value, received); err != nil { // no operation
			j.t.Errorf("%s %s answered %d with %s: %v", req.Method, req.URL.Path, resp.StatusCode, received, err)
		}
		return
	}
	j.seen[exchange{in.Route.Operation.OperationID, resp.StatusCode}]++
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	out.Options.WithCustomSchemaErrorFunc(brief)
	out.SetBodyBytes(received)
	if err := openapi3filter.ValidateResponse(req.Context(), out); err != nil {
		j.t.Errorf("%s %s answered %d: %v", req.Method, req.URL.Path, resp.StatusCode, err)
	}
}

// brief describes a difference from the document without the whole response.
func brief(err *openapi3.SchemaError) string {
	return "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
}

// input finds the operation. A path with another method is judged as the path's own operation, since
// that is where the document has the answer; a path that is not in the document has none.
func (j *judge) input(req *http.Request) (*openapi3filter.RequestValidationInput, error) {
	route, params, notFound := j.router.FindRoute(req)
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut} {
		if !errors.Is(notFound, routers.ErrMethodNotAllowed) {
			break
		}
		other := req.Clone(req.Context())
		other.Method = method
		if r, p, err := j.router.FindRoute(other); err == nil {
			return &openapi3filter.RequestValidationInput{Request: other, PathParams: p, Route: r}, notFound
		}
	}
	if notFound != nil {
		return nil, notFound
	}
	return &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{MultiError: true, AuthenticationFunc: bearer, SkipSettingDefaults: true},
	}, nil
}

// bearer is what the document asks for as security.
func bearer(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.SecurityScheme.Type != "http" || in.SecurityScheme.Scheme != "bearer" {
		return fmt.Errorf("the document asks for %s %s", in.SecurityScheme.Type, in.SecurityScheme.Scheme)
	}
	if header := in.RequestValidationInput.Request.Header.Get("Authorization"); len(header) < len("Bearer x") ||
		header[:7] != "Bearer " {
		return errors.New("no bearer token")
	}
	return nil
}

// latest returns why the document does not allow the latest request, or nil.
func (j *judge) latest() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refused
}

// missing returns which of the wanted exchanges have not been seen.
func (j *judge) missing(wanted []exchange) []exchange {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []exchange
	for _, e := range wanted {
		if j.seen[e] == 0 {
			out = append(out, e)
		}
	}
	return out
}
