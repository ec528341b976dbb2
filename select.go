package shipping

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/shipping-go/shipping/dialect"
	"github.com/shipping-go/shipping/internal/cost"
	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/spelling"
)

// SelectAll selects every document that the draft offers, including manual ones. A request with a manual document stays
// in processing until a third party has submitted evidence. A draft without a list of offers is an error; an empty list
// is not.
func SelectAll(draft *RegulatoryRequest) ([]DocumentType, error) {
	return selectDocuments(draft, func(AvailableDocument) bool { return true }), draft.withoutOffers()
}

// withoutOffers returns an error if the draft does not show the list of its offers, or none of them shows its type.
func (r *RegulatoryRequest) withoutOffers() error {
	const name = "available_documents"
	isList := func(member string, v jsonread.Value) bool { return v.Kind == '[' || v.Kind == 0 && member == name }
	hasType := func(offer AvailableDocument) bool { return offer.DocumentType != "" }
	switch {
	case r == nil, slices.ContainsFunc(r.AvailableDocuments, hasType):
		return nil
	case len(r.AvailableDocuments) > 0 && cost.Read(r.shown().Data, r.Dialect, "").None():
		return errors.New("shipping: the offers of the draft have no readable document_type: " +
			cmp.Or(r.declareName("offer.document_type", isType), r.declareName("offer.document_type", mayBeType),
				"set offer.document_type of the dialect"))
	}
	lists := r.shown().Data.Paths(isList)
	if slices.Contains(lists, name) {
		return nil
	}
	return fmt.Errorf("shipping: the draft shows no list %s, only %s: no line of the dialect declares another name, "+
		"because the specification defines this one: ask the service for it", name,
		cmp.Or(oneLine(strings.Join(lists, ", "), maxErrorMessage), "members that are no lists"))
}

func isType(text string) bool { return DocumentType(text).Known() }

// mayBeType reports whether a text can be a type that the specification does not list.
func mayBeType(text string) bool { return mayBeMode(text) && !isUsualMode(text) }

// SelectAutomated selects the documents that the service generates on its own: those whose Mode, ignoring case, is
// the dialect's offer.automated or, if that is not set, "automated" (assumption). It returns an error if:
//   - no document on offer shows a Mode; or
//   - none is automated, and a Mode may mean it: any but "manual" or, with offer.automated set, one that begins
//     with "auto".
func SelectAutomated(draft *RegulatoryRequest) ([]DocumentType, error) {
	if draft == nil {
		return nil, nil
	}
	if err := draft.withoutOffers(); err != nil {
		return nil, err
	}
	hasMode := func(offer AvailableDocument) bool { return offer.Mode != "" }
	if len(draft.AvailableDocuments) > 0 && !slices.ContainsFunc(draft.AvailableDocuments, hasMode) {
		advice := draft.declareName("offer.mode", isUsualMode)
		if names := draft.declareName("offer.mode", mayBeMode); advice == "" && names != "" {
			advice = "if it shows which documents are automated, " + names
		}
		return nil, errors.New("shipping: no offer has a readable mode: " + cmp.Or(advice, "use SelectOnly or "+
			"your own function"))
	}
	declared := cmp.Or(draft.Dialect, new(dialect.Dialect)).Offer.Automated
	automated := cmp.Or(declared, "automated")
	isAutomated := func(offer AvailableDocument) bool { return strings.EqualFold(offer.Mode, automated) }
	isOther := func(offer AvailableDocument) bool {
		switch mode := strings.ToLower(offer.Mode); {
		case mode == "" || mode == "manual" || isAutomated(offer):
			return false
		case declared != "": // the service has its own modes, even for manual documents
			return strings.HasPrefix(mode, "auto")
		}
		return true
	}
	var others []string
	for _, offer := range draft.AvailableDocuments {
		if isOther(offer) && !slices.Contains(others, offer.Mode) {
			others = append(others, offer.Mode)
		}
	}
	if len(others) > 0 && !slices.ContainsFunc(draft.AvailableDocuments, isAutomated) {
		which := "it"
		if len(others) > 1 {
			which = "one of them"
		}
		return nil, fmt.Errorf("shipping: the draft shows the mode %s: if %s means automated, %s",
			spelling.Quote(strings.Join(others, ", ")), which,
			cmp.Or(draft.declareLine("offer.automated", others...), "set offer.automated of the dialect to it"))
	}
	return selectDocuments(draft, isAutomated), nil
}

// SelectOnly returns a function that selects the documents of these types. A type that the draft does not offer is
// an error, and nothing is purchased. Without types, or with one that neither the specification lists nor the draft
// offers, the error is a [*ValidationError], returned before the analysis unless [PurchaseOptions] allow unknown
// types.
func SelectOnly(types ...DocumentType) func(draft *RegulatoryRequest) ([]DocumentType, error) {
	return selectOnly(types).from
}

// selectOnly are the arguments of [SelectOnly].
type selectOnly []DocumentType

func (o selectOnly) from(draft *RegulatoryRequest) ([]DocumentType, error) {
	if len(o) == 0 {
		return nil, invalidOption("SelectOnly", "got no document types, and would purchase nothing: name them, such as "+
			"\"CUSTOMS\"")
	}
	if err := draft.withoutOffers(); err != nil {
		return nil, err
	}
	selected := selectDocuments(draft,
		func(offer AvailableDocument) bool { return slices.Contains(o, offer.DocumentType) })
	for _, slug := range o {
		if !slug.Known() && !slices.Contains(selected, slug) {
			return nil, invalidOption("SelectOnly", fmt.Sprintf("names %q, which the specification does not list (see "+
				"DocumentTypes())%s", slug, slug.didYouMean()))
		}
	}
	for _, slug := range o {
		if draft != nil && !slices.Contains(selected, slug) {
			offered, _ := SelectAll(draft)
			return nil, fmt.Errorf("shipping: SelectOnly: the draft does not offer %s: select from the documents that "+
				"it offers (%s)", slug, oneLine(cmp.Or(strings.Join(slugsOf(offered), ", "), "none"), maxErrorMessage))
		}
	}
	return selected, nil
}

// isSelectOnly reports whether SelectOnly has returned the function, so that it can be called without a draft.
func isSelectOnly(choose func(*RegulatoryRequest) ([]DocumentType, error)) bool {
	return reflect.ValueOf(choose).Pointer() == reflect.ValueOf(selectOnly(nil).from).Pointer()
}

// selectDocuments returns each type once, even if the draft offers it twice.
func selectDocuments(draft *RegulatoryRequest, wanted func(AvailableDocument) bool) (selected []DocumentType) {
	if draft == nil {
		return nil
	}
	seen := make(map[DocumentType]bool, len(draft.AvailableDocuments))
	for _, offer := range draft.AvailableDocuments {
		if slug := offer.DocumentType; wanted(offer) && !seen[slug] {
			seen[slug] = true
			selected = append(selected, slug)
		}
	}
	return selected
}
