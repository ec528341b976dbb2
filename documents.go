package shipping

import "slices"

// DocumentType is the slug of a regulatory document.
//
// Specification: "Supported document type slugs (exact values)".
type DocumentType string

// The supported document types.
const (
	DocumentAMS            DocumentType = "AMS"
	DocumentCustoms        DocumentType = "CUSTOMS"
	DocumentFDA            DocumentType = "FDA"
	DocumentDropBall       DocumentType = "DROP-BALL"
	DocumentFishWildlife   DocumentType = "FISH-WILDLIFE"
	DocumentFootwear       DocumentType = "FOOTWEAR"
	DocumentFumigation     DocumentType = "FUMIGATION"
	DocumentLithiumBattery DocumentType = "LITHIUM-BATTERY"
	DocumentMSDS           DocumentType = "MSDS"
	DocumentMuseum         DocumentType = "MUSEUM"
	DocumentOther          DocumentType = "OTHER"
	DocumentQuarantine     DocumentType = "QUARANTINE"
	DocumentSteel          DocumentType = "STEEL"
	DocumentTextile        DocumentType = "TEXTILE"
	DocumentWatch          DocumentType = "WATCH"
)

// DocumentTypes returns the supported types in the specification's order. The slice is the caller's.
func DocumentTypes() []DocumentType {
	return []DocumentType{
		DocumentAMS, DocumentCustoms, DocumentFDA, DocumentDropBall, DocumentFishWildlife,
		DocumentFootwear, DocumentFumigation, DocumentLithiumBattery, DocumentMSDS, DocumentMuseum,
		DocumentOther, DocumentQuarantine, DocumentSteel, DocumentTextile, DocumentWatch,
	}
}

// Known reports whether the specification lists the type.
func (t DocumentType) Known() bool { return slices.Contains(DocumentTypes(), t) }
