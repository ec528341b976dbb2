package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/country"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/jsontext"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Regulatory requests, consignments, the clock, and calls made by the control surface.

// requestRow is a regulatory request in GET /_mock/regulatory-requests.
type requestRow struct {
	RequestID  string               `json:"request_id"`
	Status     regulatory.State     `json:"status"`
	Source     regulatory.Flow      `json:"source"`
	ShipmentID string               `json:"shipment_id,omitempty"`
	FileURL    string               `json:"file_url,omitempty"`
	Offered    int                  `json:"offered"` // documents that can be purchased
	Purchased  int                  `json:"purchased"`
	Generated  int                  `json:"generated"`
	Charged    shipping.Amount      `json:"charged_amount,omitzero"`
	Currency   string               `json:"currency"`
	CreatedAt  regulatory.Timestamp `json:"created_at"`
	UpdatedAt  regulatory.Timestamp `json:"updated_at"`
}

func (s *Admin) adminRequests(c *control) wire.Reply {
	w := c.world
	p, refusal := controlPage(c.Query())
	if refusal != nil {
		return *refusal
	}
	w.Lock()
	total := w.Desk.Len()
	var records []*regulatory.Record
	if p.Page <= p.PageCount(total) { // otherwise the product below could overflow
		records = w.Desk.Newest((p.Page-1)*p.PerPage, p.PerPage)
	}
	w.Unlock()
	rows := make([]requestRow, len(records))
	for i, r := range records {
		rows[i] = requestRow{
			RequestID: r.RequestID, Status: r.Status, Source: r.Source, ShipmentID: r.ShipmentID, FileURL: r.FileURL,
			Offered: len(r.AvailableDocuments), Purchased: len(r.Documents), Charged: r.ChargedAmount, Currency: r.Currency,
			CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
		}
		for _, doc := range r.Documents {
			if doc.Status == regulatory.DocumentGenerated {
				rows[i].Generated++
			}
		}
	}
	return paged(p, total, spelling.Counted(total, "regulatory request", "regulatory requests"), rows)
}

func (s *Admin) adminRequest(c *control) wire.Reply {
	w := c.world
	w.Lock()
	record, err := w.Desk.Get(c.PathValue("request_id"))
	w.Unlock()
	if err != nil {
		return api.DeskRefused(w, err)
	}
	return wire.SucceedWith(nil, "The request", struct {
		Record  json.RawMessage   `json:"record"`
		History []regulatory.Step `json:"history"`
	}{record.JSON(), record.History()})
}

const PDFPath = "regulatory-requests/{request_id}/documents/{document_type}/pdf"

func (s *Admin) adminPDF(c *control) wire.Reply { return api.DocumentPDF(c.world, c.Call) }

// consignmentRow is a shipment in GET /_mock/consignments.
type consignmentRow struct {
	ShipmentID  string   `json:"shipment_id"`
	Status      string   `json:"status"`
	Origin      string   `json:"origin"`      // country
	Destination string   `json:"destination"` // country
	Items       []string `json:"items"`       // descriptions
}

func (s *Admin) adminConsignments(c *control) wire.Reply {
	w := c.world
	w.Lock()
	rows := make([]consignmentRow, len(w.Account.ShipmentIDs))
	for i, id := range w.Account.ShipmentIDs {
		shipment := w.Account.Shipments[id]
		rows[i] = consignmentRow{
			ShipmentID: id, Status: shipment.Status,
			Origin: shipment.AddressFrom.Country, Destination: shipment.AddressTo.Country, Items: []string{},
		}
		for _, item := range shipment.Parcel.Items {
			rows[i].Items = append(rows[i].Items, item.Description)
		}
	}
	w.Unlock()
	return wire.SucceedWith(nil, spelling.Counted(len(rows), "shipment", "shipments"), struct {
		Shipments []consignmentRow `json:"shipments"`
		Invoices  []string         `json:"invoices"`
		Curl      string           `json:"curl,omitempty"` // command that analyzes the first shipment
	}{rows, append([]string{}, w.Invoices()...), explain.AnalyzeCommand(w, s.Operations)})
}

func (s *Admin) adminCountries(*control) wire.Reply {
	return wire.Succeed(nil, "Countries", country.JSON())
}

// maxPending is the maximum number of pending timers in GET /_mock/clock.
const maxPending = 100

func (s *Admin) adminClock(c *control) wire.Reply {
	w := c.world
	waiting := []firedView{}
	for _, f := range w.Clock.Pending(maxPending) {
		waiting = append(waiting, viewFired(f))
	}
	total := w.Waiting()
	return wire.SucceedWith(nil, spelling.Counted(total, "pending timer", "pending timers"), struct {
		Now     jsontext.Timestamp `json:"now"`
		Clock   string             `json:"clock"`
		Total   int                `json:"total"`
		Pending []firedView        `json:"pending"` // in order of time, at most 100
	}{jsontext.Timestamp(w.Clock.Now()), clockKind(w), total, waiting})
}

// callOrder is the body of POST /_mock/requests.
type callOrder struct {
	Method string          `json:"method"`
	Target string          `json:"target"` // path and query
	Body   json.RawMessage `json:"body"`
}

// callMade is the data of the response.
type callMade struct {
	RequestID string `json:"request_id,omitempty"`
	Status    int    `json:"status,omitempty"` // absent if there was no response
	Error     string `json:"error,omitempty"`  // why there was none
	Body      string `json:"body,omitempty"`   // the first part of the body
}

// maxMadeBody is the maximum length of a body in the response to POST /_mock/requests.
const maxMadeBody = 64 << 10

// adminMakeCall calls the service with the world's key over a real connection in memory, so that the call is
// authenticated, struck by faults and journaled like any other, and the client of the control surface does not need
// the key.
func (s *Admin) adminMakeCall(c *control) wire.Reply {
	var order callOrder
	if refusal := c.world.Decoding().DecodeControl(c.Call, &order); refusal != nil {
		return *refusal
	}
	req, refusal := s.newCall(c, order)
	if refusal != nil {
		return *refusal
	}
	made := s.makeCall(req)
	message := "Sent; no response"
	if made.Status > 0 {
		message = fmt.Sprintf("Sent; status %d", made.Status)
	}
	return wire.SucceedWith(nil, message, made)
}

// newCall returns the request for an order.
func (s *Admin) newCall(c *control, order callOrder) (*http.Request, *wire.Reply) {
	if !strings.HasPrefix(order.Target, "/") || IsPath(order.Target) {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, `target is the path and query of the service: send {"method":"GET","target":"/v1/rates?perPage=2"}`)
		return nil, &p
	}
	req, err := http.NewRequestWithContext(c.Context(), order.Method, wire.InMemoryURL+order.Target, bytes.NewReader(order.Body))
	if err != nil {
		p := wire.Refused(http.StatusBadRequest, wire.CodeInvalid, fmt.Sprintf("the request cannot be sent: %v", err))
		return nil, &p
	}
	req.Header.Set("Authorization", "Bearer "+c.world.SecretKey)
	if len(order.Body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// makeCall sends a request in memory.
func (s *Admin) makeCall(req *http.Request) *callMade {
	made := &callMade{}
	resp, err := s.Transport().RoundTrip(req)
	if err != nil {
		made.Error = "no response: " + err.Error()
		return made
	}
	defer resp.Body.Close()
	made.RequestID, made.Status = resp.Header.Get("X-Request-Id"), resp.StatusCode
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxMadeBody))
	if err != nil {
		made.Error = "the response was cut off: " + err.Error()
	}
	made.Body = wire.Redact(string(body))
	return made
}
