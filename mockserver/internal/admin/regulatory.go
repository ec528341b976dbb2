package admin

import (
	"slices"

	"github.com/shipping-go/shipping/internal/spelling"
	"github.com/shipping-go/shipping/mockserver/internal/api"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
)

func regulatoryRoutes() []Route {
	return []Route{
		route("GET", "regulatory-requests", "listRegulatoryRequests",
			"List the regulatory requests, newest first, as the service stores them", "", (*Admin).listRegulatoryRequests),
		route("GET", "regulatory-requests/{request_id}", "getRegulatoryRequest", "Get a regulatory request", "",
			(*Admin).getRegulatoryRequest),
		route("POST", "regulatory-requests/{request_id}/evidence/{document_type}", "submitEvidence",
			"Submit the evidence for a manual document", "", (*Admin).submitEvidence),
	}
}

type regulatoryQuery struct {
	paging
	Contains string `query:"contains" doc:"Only requests with this text in an id, the wallet, the URL or the status." example:"draft"`
}

func (s *Admin) listRegulatoryRequests(c *control, query regulatoryQuery,
	_ none) (string, []*regulatory.Record, error) {
	w := c.world
	w.Lock()
	all := w.Regulatory.Records()
	w.Unlock()
	slices.Reverse(all)
	all = containing(all, query.Contains, func(r *regulatory.Record) []string {
		return []string{r.RequestID, r.ShipmentID, r.FileURL, r.Wallet, r.TransactionID, string(r.Status)}
	})
	message := spelling.Counted(len(all), "regulatory request", "regulatory requests")
	return message, pageOf(c, query.paging, all), nil
}

type regulatoryParameter struct {
	ID string `path:"request_id" doc:"Identifier of the regulatory request." example:"RD-A1B2C3D4E5F6G7H8"`
}

func (s *Admin) getRegulatoryRequest(c *control, request regulatoryParameter,
	_ none) (string, *regulatory.Record, error) {
	w := c.world
	w.Lock()
	defer w.Unlock()
	record, err := w.Regulatory.Get(request.ID)
	p := api.AnswerRecord(w, c.Exchange, "The request", record, err)
	c.raw = &p
	return "", nil, nil
}

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
