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
	// any reports that a document was listed, and unreadable that one has no slug.
	any, unreadable bool
}

// listedDocuments reads the list under data and under data.request.
func listedDocuments(data RawJSON) documentList {
	var list documentList
	members := data.members()
	for _, members := range []map[string]RawJSON{members, members["request"].members()} {
		for _, name := range []string{"documents", "document_types", "purchased_documents"} {
			var entries []RawJSON
			if members[name].Decode(&entries) != nil {
				continue
			}
			for _, entry := range entries {
				list.add(entry)
			}
		}
	}
	return list
}

func (l *documentList) add(entry RawJSON) {
	slug := ""
	if jsonKind(json.RawMessage(entry)) == "string" {
		slug = entry.Text()
	}
	members := entry.members()
	for _, name := range []string{"document_type", "slug", "type"} {
		if slug == "" {
			slug = members[name].Text()
		}
	}
	if slug == "" {
		l.unreadable = true
		return
	}
	l.any = true
	l.slugs = append(l.slugs, DocumentType(slug))
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

// showsCharge reports whether the record shows that the wallet was charged (assumption: the fields that
// show it).
func (r *RegulatoryRequest) showsCharge() bool {
	return r.TransactionID != "" || r.ChargedAmount.Sign() > 0
}
