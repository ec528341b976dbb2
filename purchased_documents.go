package shipping

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/internal/evidence"
)

// documentList is the purchased documents that a record or a confirmation lists.
//
// Assumption: the specification does not show the list. It is read from "documents", "document_types" and
// "purchased_documents", as slugs or as objects with a slug.
type documentList struct {
	slugs []DocumentType
	// any reports that a document was listed, and unreadable that one has no slug that could be read.
	any, unreadable bool
}

// listedDocuments reads the list under data and under data.request.
func listedDocuments(data RawJSON) documentList {
	var list documentList
	members := data.members()
	for _, members := range []map[string]RawJSON{members, members["request"].members()} {
		for _, name := range []string{"documents", "document_types", "purchased_documents"} {
			for _, entry := range entriesOf(members[name]) {
				list.add(entry)
			}
		}
	}
	return list
}

// entriesOf returns the entries of a JSON array, and a single string or object as one entry.
func entriesOf(value RawJSON) []RawJSON {
	switch jsonKind(json.RawMessage(value)) {
	case "string", "object":
		return []RawJSON{value}
	}
	var entries []RawJSON
	if value.Decode(&entries) != nil {
		return nil
	}
	return entries
}

func (l *documentList) add(entry RawJSON) {
	values := []RawJSON{entry}
	if members := entry.members(); members != nil {
		values = []RawJSON{members["document_type"], members["slug"], members["type"]}
	}
	slug := ""
	for _, value := range values {
		if slug = slugText(value); slug != "" {
			break
		}
	}
	l.any = l.any || slug != "" || slices.ContainsFunc(values, func(value RawJSON) bool { return !value.IsNull() })
	if slug == "" {
		l.unreadable = true
		return
	}
	l.slugs = append(l.slugs, DocumentType(slug))
}

// slugText returns the text of a JSON string; "" for any other value, which is not a slug.
func slugText(value RawJSON) string {
	if jsonKind(json.RawMessage(value)) != "string" {
		return ""
	}
	return strings.TrimSpace(value.Text())
}

// within reports whether every listed document is one of those wanted.
func (l documentList) within(wanted []DocumentType) bool {
	return !slices.ContainsFunc(l.slugs, func(slug DocumentType) bool { return !holds(wanted, slug) })
}

// compare returns how the list relates to the documents of a purchase. Without documents to compare with,
// any listed document counts.
func (l documentList) compare(wanted []DocumentType) evidence.Documents {
	found := 0
	for _, slug := range wanted {
		if holds(l.slugs, slug) {
			found++
		}
	}
	switch {
	case !l.any:
		return evidence.NoList
	case found == len(wanted):
		return evidence.These
	case found == 0 && !l.unreadable:
		return evidence.Others
	}
	return evidence.Some
}

func holds(slugs []DocumentType, wanted DocumentType) bool {
	return slices.ContainsFunc(slugs, func(slug DocumentType) bool {
		return strings.EqualFold(strings.TrimSpace(string(slug)), string(wanted))
	})
}
