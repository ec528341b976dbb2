package evidence

import (
	"slices"
	"strings"
)

// List is the purchased documents that a record or a confirmation lists.
//
// Assumption: the specification does not show the list. It is read from "documents", "document_types" and
// "purchased_documents", as slugs or as objects with a slug.
type List struct {
	slugs []string
	// any reports that a document was listed, and unreadable that one has no slug that could be read.
	any, unreadable bool
}

// ListOf reads the list under data and under data.request.
func ListOf(data Value) List {
	var list List
	for _, level := range levels(data) {
		members := level.members()
		for _, name := range []string{"documents", "document_types", "purchased_documents"} {
			for _, entry := range members[name].entries() {
				list.add(entry)
			}
		}
	}
	return list
}

func (l *List) add(entry Value) {
	values := []Value{entry}
	if members := entry.members(); members != nil {
		values = []Value{members["document_type"], members["slug"], members["type"]}
	}
	slug := ""
	for _, value := range values {
		if value.is('"') && slug == "" {
			slug = strings.TrimSpace(value.text())
		}
	}
	l.any = l.any || slices.ContainsFunc(values, func(value Value) bool { return value != "" && value != "null" })
	if slug == "" {
		l.unreadable = true
		return
	}
	l.slugs = append(l.slugs, slug)
}

// Contradicts reports whether the list has a document that was not purchased.
func Contradicts[Slug ~string](l List, purchased []Slug) bool {
	return l.any && slices.ContainsFunc(l.slugs, func(slug string) bool { return !holds(purchased, slug) })
}

// Compare returns how the list relates to the documents of a purchase. Without documents to compare with,
// any listed document counts.
func Compare[Slug ~string](l List, purchased []Slug) Documents {
	found := 0
	for _, slug := range purchased {
		if holds(l.slugs, slug) {
			found++
		}
	}
	switch {
	case !l.any:
		return NoList
	case found == len(purchased):
		return These
	case found == 0 && !l.unreadable:
		return Others
	}
	return Some
}

func holds[One, Other ~string](slugs []One, wanted Other) bool {
	return slices.ContainsFunc(slugs, func(slug One) bool {
		return strings.EqualFold(strings.TrimSpace(string(slug)), strings.TrimSpace(string(wanted)))
	})
}
