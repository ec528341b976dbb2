package admin

import (
	"encoding/json"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/country"
	"github.com/shipping-go/shipping/mockserver/internal/explain"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// regulatoryRequestRow is a regulatory request in GET /_mock/regulatory-requests.
type regulatoryRequestRow struct {
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

func (s *Admin) listRegulatoryRequests(c *control) wire.Reply {
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
	rows := make([]regulatoryRequestRow, len(records))
	for i, r := range records {
		rows[i] = regulatoryRequestRow{
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

func (s *Admin) getRegulatoryRequest(c *control) wire.Reply {
	w := c.world
	w.Lock()
	record, err := w.Desk.Get(c.PathValue("request_id"))
	w.Unlock()
	if err != nil {
		return api.DeskRefused(w, c.Exchange, err)
	}
	return wire.Succeed("The request", struct {
		Record  json.RawMessage   `json:"record"`
		History []regulatory.Step `json:"history"`
	}{record.JSON(), record.History()})
}

const PDFPath = "regulatory-requests/{request_id}/documents/{document_type}/pdf"

func (s *Admin) getDocumentPDF(c *control) wire.Reply { return api.DocumentPDF(c.world, c.Exchange) }

// consignmentRow is a shipment in GET /_mock/consignments.
type consignmentRow struct {
	ShipmentID  string   `json:"shipment_id"`
	Status      string   `json:"status"`
	Origin      string   `json:"origin"`      // country
	Destination string   `json:"destination"` // country
	Items       []string `json:"items"`       // descriptions
}

func (s *Admin) listConsignments(c *control) wire.Reply {
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
	return wire.Succeed(spelling.Counted(len(rows), "shipment", "shipments"), struct {
		Shipments []consignmentRow `json:"shipments"`
		Invoices  []string         `json:"invoices"`
		Curl      string           `json:"curl,omitempty"` // command that analyzes the first shipment
	}{rows, append([]string{}, w.Invoices()...), explain.AnalyzeCommand(w, s.Operations)})
}

func (s *Admin) listCountries(*control) wire.Reply {
	return wire.Succeed("Countries", json.RawMessage(country.JSON()))
}

func (s *Admin) submitEvidence(c *control) wire.Reply {
	if refusal := c.world.Decoding().DecodeControl(c.Exchange, &struct{}{}); refusal != nil {
		return *refusal
	}
	w := c.world
	w.Lock()
	defer w.Unlock()
	record, err := w.Desk.SubmitEvidence(c.PathValue("request_id"), c.PathValue("document_type"))
	return api.AnswerRecord(w, c.Exchange, "Evidence submitted, document generation started", record, err)
}

func (s *Admin) listSpecialInputs(*control) wire.Reply {
	return wire.Succeed("Analyze one of these to cause its effect", regulatory.Magics())
}
