package shipping

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Do performs any other operation of the service with the same care: authentication, bounded bodies,
// typed errors, tolerant envelope. path is relative to the base address, such as "/v1/shipments"; in
// is sent as JSON unless nil; the envelope's data is decoded into out unless nil, with the exact member
// names of [RawJSON.Decode]. Where HTTP says that an answer has no body (HEAD, 204, 205), out is left alone.
//
// GET and HEAD are retried like the client's own reads; other methods only on evidence that nothing was
// sent. The purchase route is never retried: prefer [RegulatoryService.Purchase], which also finds out
// what became of a lost response.
func (c *Client) Do(ctx context.Context, method, path string, query url.Values, in, out any, call ...CallOption) error {
	if c == nil || c.core == nil {
		return ErrNoClient
	}
	operation := Operation{Name: "do", Method: strings.ToUpper(method), Retry: RetryUnsent}
	if err := checkDo(operation.Method, path); err != nil {
		return err
	}
	switch operation.Method {
	case http.MethodGet, http.MethodHead:
		operation.Retry = RetrySafe
	}
	for _, documented := range c.core.operations {
		if documented.Charges && documented.Method == operation.Method && sameRoute(path, documented.Route) {
			operation.Retry, operation.Charges = RetryNever, true
		}
	}
	operation.Route = escapeSegments(path)
	settings, err := newCallSettings(call)
	if err != nil {
		return err
	}
	for name, values := range query {
		if settings.query == nil {
			settings.query = url.Values{}
		}
		settings.query[name] = append(settings.query[name], values...)
	}
	data, response, err := fetchOperation[RawJSON](ctx, c.core, operation, request{operation: operation.Name, body: in, mayBeEmpty: true}, &settings)
	if err != nil || out == nil {
		return err
	}
	if err := data.Decode(out); err != nil {
		return c.core.redacted(&Error{
			Operation: operation.Name, StatusCode: response.StatusCode, Data: data, Attempts: response.Attempts,
			Cause: err, kind: ErrUnexpectedBody,
		})
	}
	return nil
}

// sameRoute sees through escapes and slashes that a server would not tell apart.
func sameRoute(requested, route string) bool {
	plain, err := url.PathUnescape(requested)
	return err == nil && path.Clean(plain) == route
}

func checkDo(method, path string) error {
	const operation = "do"
	switch {
	case method == "" || strings.ContainsAny(method, " \t\r\n/"):
		return invalidRequest(operation, "method", "is not an HTTP method")
	case !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//"):
		return invalidRequest(operation, "path", `must start with one slash, such as "/v1/shipments": the key is sent to the base address only`)
	case strings.ContainsAny(path, "?#"):
		return invalidRequest(operation, "path", "holds a query or fragment: pass the query as url.Values, and escape path elements with url.PathEscape")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if plain, err := url.PathUnescape(segment); err != nil || plain == "." || plain == ".." {
			return invalidRequest(operation, "path", `has an element that is ".", ".." or badly escaped`)
		}
	}
	return nil
}

// escapeSegments keeps escapes that are there and adds those that are missing.
func escapeSegments(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = url.PathEscape(plain)
		}
	}
	return strings.Join(segments, "/")
}
