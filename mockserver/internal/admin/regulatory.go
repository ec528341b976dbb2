package admin

import (
	"encoding/json"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/spelling"
)

func regulatoryRoutes() []Route {
	return []Route{
		route("GET", "regulatory-requests", "listRegulatoryRequests", "List the regulatory requests, newest first, summarized", "", (*Admin).listRegulatoryRequests),
		route("GET", "regulatory-requests/{request_id}", "getRegulatoryRequest", "Get a regulatory request and its history", "", (*Admin).getRegulatoryRequest),
		route("POST", "regulatory-requests/{request_id}/evidence/{document_type}", "submitEvidence", "Submit the evidence for a manual document", "", (*Admin).submitEvidence),
	}
}

// regulatoryRow is a regulatory request in short.
type regulatoryRow struct {
	RequestID  string               `json:"request_id"`
	Status     regulatory.State     `json:"status"`
	Source     regulatory.Flow      `json:"source"`
	ShipmentID string               `json:"shipment_id,omitempty"`
	FileURL    string               `json:"file_url,omitempty"`
	Offered    int                  `json:"offered" doc:"Number of documents that can be purchased."`
	Purchased  int                  `json:"purchased" doc:"Number of documents that were purchased."`
	Generated  int                  `json:"generated" doc:"Number of documents that were generated."`
	Charged    shipping.Amount      `json:"charged_amount,omitzero"`
	Currency   string               `json:"currency"`
	CreatedAt  regulatory.Timestamp `json:"created_at"`
	UpdatedAt  regulatory.Timestamp `json:"updated_at"`
}

func (s *Admin) listRegulatoryRequests(c *control, query paging, _ none) (string, []regulatoryRow, error) {
	w := c.world
	w.Lock()
	total := w.Regulatory.Len()
	c.setPage(query, total)
	var records []*regulatory.Record
	if c.page.Page <= c.page.PageCount(total) { // otherwise the product below could overflow
		records = w.Regulatory.Newest((c.page.Page-1)*c.page.PerPage, c.page.PerPage)
	}
	w.Unlock()
	summaries := []regulatoryRow{}
	for _, record := range records {
		summaries = append(summaries, viewRegulatoryRequest(record))
	}
	return spelling.Counted(total, "regulatory request", "regulatory requests"), summaries, nil
}

func viewRegulatoryRequest(r *regulatory.Record) regulatoryRow {
	row := regulatoryRow{
		RequestID: r.RequestID, Status: r.Status, Source: r.Source, ShipmentID: r.ShipmentID, FileURL: r.FileURL,
		Offered: len(r.AvailableDocuments), Purchased: len(r.Documents), Charged: r.ChargedAmount, Currency: r.Currency,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	for _, doc := range r.Documents {
		if doc.Status == regulatory.DocumentGenerated {
			row.Generated++
		}
	}
	return row
}

// regulatoryParameter selects a regulatory request.
type regulatoryParameter struct {
	ID string `path:"request_id" doc:"Identifier of the regulatory request." example:"RD-A1B2C3D4E5F6G7H8"`
}

// regulatoryHistory is a regulatory request and its history.
type regulatoryHistory struct {
	Record  json.RawMessage   `json:"record" doc:"As the service has it."`
	History []regulatory.Step `json:"history" doc:"Oldest first."`
}

func (s *Admin) getRegulatoryRequest(c *control, request regulatoryParameter, _ none) (string, regulatoryHistory, error) {
	w := c.world
	w.Lock()
	record, err := w.Regulatory.Get(request.ID)
	w.Unlock()
	if err != nil {
		p := api.RegulatoryRefused(w, c.Exchange, err)
		c.raw = &p
		return "", regulatoryHistory{}, nil
	}
	return "The request", regulatoryHistory{record.JSON(), record.History()}, nil
}

// evidenceParameters select a document.
type evidenceParameters struct {
	regulatoryParameter
	Document string `path:"document_type" doc:"Type of the document." example:"MSDS"`
}

func (s *Admin) submitEvidence(c *control, document evidenceParameters, _ none) (string, *regulatory.Record, error) {
	w := c.world
	w.Lock()
	defer w.Unlock()
	record, err := w.Regulatory.SubmitEvidence(document.ID, document.Document)
	p := api.AnswerRecord(w, c.Exchange, "Evidence submitted, document generation started", record, err)
	c.raw = &p
	return "", nil, nil
}
