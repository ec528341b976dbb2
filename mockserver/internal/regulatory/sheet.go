package regulatory

import (
	"fmt"
	"time"
)

// Sheet returns the lines of a generated document. It is refused with [CodeNotFound] if the request
// has not purchased that document, and with [CodeNotGenerated] before the document is generated.
//
// Specification: "an unauthenticated operation generates a regulatory document PDF".
//
// Assumption: the content of the page, and that a generated document is available even if the
// request has not ended, or failed for another document.
func (d *Service) Sheet(requestID, slug string) ([]string, error) {
	record, err := d.Get(requestID)
	if err != nil {
		return nil, err
	}
	doc, err := record.purchasedDocument(slug)
	if err != nil {
		return nil, err
	}
	if doc.Status != DocumentGenerated {
		return nil, refuse(CodeNotGenerated, "assumption: a PDF is available once its document is generated",
			"%s of request %s is %s: read the request until it is generated", slug, requestID, doc.Status).of(record)
	}
	lines := []string{
		doc.Name + " (" + slug + ")",
		"Request " + record.RequestID + " for " + record.ShipmentID + record.FileURL,
		"Generated on " + doc.GeneratedAt.UTC().Format(time.DateOnly),
		"Specimen of a test server. It is not a legal document.",
		"",
	}
	for _, item := range record.LineItems {
		lines = append(lines, fmt.Sprintf("%d x %s, HS code %s, origin %s, %s %s each",
			item.Quantity, item.Description, item.HSCode, item.OriginCountry, item.UnitPrice, item.Currency))
	}
	return lines, nil
}
