package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"

	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// serviceRequest is the body of POST /_mock/requests.
type serviceRequest struct {
	Method string          `json:"method"`
	Target string          `json:"target"` // path and query
	Body   json.RawMessage `json:"body"`
}

// serviceResponse is the data of the response.
type serviceResponse struct {
	RequestID string `json:"request_id,omitempty"`
	Status    int    `json:"status,omitempty"` // absent without a response
	Error     string `json:"error,omitempty"`  // why there was none
	Body      string `json:"body,omitempty"`   // the first part of the body
}

// maxServiceBody is the maximum length of a body in the response to POST /_mock/requests.
const maxServiceBody = 64 << 10

// sendRequest calls the service with the world's key over a real connection in memory, so that the call is
// authenticated, struck by faults and journaled like any other, and the client of the control surface does not need
// the key.
func (s *Admin) sendRequest(c *control) wire.Reply {
	var order serviceRequest
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &order); refusal != nil {
		return *refusal
	}
	req, refusal := s.newServiceRequest(c, order)
	if refusal != nil {
		return *refusal
	}
	made := s.roundTrip(req)
	message := "Sent; no response"
	if made.Status > 0 {
		message = fmt.Sprintf("Sent; status %d", made.Status)
	}
	return wire.Succeed(message, made)
}

// newServiceRequest returns the request for an order.
func (s *Admin) newServiceRequest(c *control, order serviceRequest) (*http.Request, *wire.Reply) {
	req, err := http.NewRequestWithContext(c.Context(), order.Method, wire.InMemoryURL+order.Target, bytes.NewReader(order.Body))
	if err != nil {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("the request cannot be sent: %v", err))
		return nil, &p
	}
	if !strings.HasPrefix(order.Target, "/") || strings.HasPrefix(path.Clean(req.URL.Path)+"/", wire.ControlPrefix) {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `target is the path and query of the service: send {"method":"GET","target":"/v1/rates?perPage=2"}`)
		return nil, &p
	}
	req.Header.Set("Authorization", "Bearer "+c.world.SecretKey)
	if len(order.Body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// roundTrip sends a request in memory.
func (s *Admin) roundTrip(req *http.Request) *serviceResponse {
	made := &serviceResponse{}
	resp, err := s.Transport().RoundTrip(req)
	if err != nil {
		made.Error = "no response: " + err.Error()
		return made
	}
	defer resp.Body.Close()
	made.RequestID, made.Status = resp.Header.Get("X-Request-Id"), resp.StatusCode
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxServiceBody))
	if err != nil {
		made.Error = "the response was cut off: " + err.Error()
	}
	made.Body = wire.Redact(string(body))
	return made
}
