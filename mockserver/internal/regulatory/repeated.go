package regulatory

import "slices"

// Repeated is a purchase of documents that were charged before, in another request of the same shipment or invoice.
type Repeated struct {
	Source           string // the shipment id or the URL of the invoice
	DocumentTypes    []string
	First, RequestID string // the earlier request, and the later one
}

// Repeated returns the purchases of documents that were charged before, oldest request first.
func (d *Service) Repeated() (all []Repeated) {
	type document struct{ source, documentType string }
	charged := map[document]string{} // the request
	for _, r := range d.Records() {
		if r.TransactionID == "" {
			continue
		}
		found := Repeated{Source: r.ShipmentID + r.FileURL, RequestID: r.RequestID}
		for _, documentType := range r.purchased {
			this := document{found.Source, documentType}
			if first, before := charged[this]; before {
				found.First = first
				found.DocumentTypes = append(found.DocumentTypes, documentType)
			} else {
				charged[this] = r.RequestID
			}
		}
		if len(found.DocumentTypes) > 0 {
			slices.Sort(found.DocumentTypes)
			all = append(all, found)
		}
	}
	return all
}
