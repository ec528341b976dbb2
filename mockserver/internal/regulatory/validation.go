package regulatory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
)

// incoterms lists the rules of Incoterms 2020.
const incoterms = "EXW FCA FAS FOB CFR CIF CPT CIP DAP DPU DDP"

// checkItems returns all problems of the items of a consignment.
func checkItems(items []LineItem) []Problem {
	if len(items) == 0 {
		return []Problem{{Field: "line_items", Reason: "must hold at least one item"}}
	}
	var problems []Problem
	seen := make(map[string]int)
	for i, item := range items {
		first, repeated := seen[item.ItemID]
		if item.ItemID != "" {
			seen[item.ItemID] = i
		}
		for _, rule := range []struct {
			broken        bool
			field, reason string
		}{
			{repeated, "item_id", fmt.Sprintf("must not be that of line_items[%d]; leave it out for a new item", first)},
			{item.ItemID != "" && !isID(item.ItemID, "IT-"), "item_id", "must be IT- and letters and digits; leave it out for a new item"},
			{strings.TrimSpace(item.Description) == "", "description", "must describe the item"},
			{item.HSCode != "" && hsDigits(item.HSCode) == "", "hs_code", "must be 2 to 12 digits, or left out if unknown"},
			{item.Quantity < 1, "quantity", "must be at least 1, as a whole number"},
			{!item.UnitPrice.Known() || item.UnitPrice.Sign() < 0, "unit_price", "must be a number that is not negative, of at most 18 digits"},
			{!isUpper(item.Currency, 3), "currency", "must be a three-letter code such as USD"},
			{isUnreadable(item.Weight) || item.Weight.Sign() < 0, "weight", "must be a number of kilograms that is not negative, of at most 18 digits"},
			{item.OriginCountry != "" && !isUpper(item.OriginCountry, 2), "origin_country", "must be a two-letter code such as CN, or left out"},
		} {
			if rule.broken {
				problems = append(problems, Problem{Field: fmt.Sprintf("line_items[%d].%s", i, rule.field), Reason: rule.reason})
			}
		}
	}
	return problems
}

// checkAddress checks the country, on which documents depend. The other fields are free text.
func checkAddress(end string, address *Address) []Problem {
	if address == nil || isUpper(address.Country, 2) {
		return nil
	}
	return []Problem{{Field: end + ".country", Reason: "must be a two-letter code such as US"}}
}

func checkShipping(s Shipping) []Problem {
	var problems []Problem
	if s.Incoterm != "" && !slices.Contains(strings.Fields(incoterms), s.Incoterm) {
		problems = append(problems, Problem{Field: "incoterm", Reason: "must be one of " + incoterms})
	}
	if s.EstimatedArrival != "" && !isTime(s.EstimatedArrival) {
		problems = append(problems, Problem{Field: "estimated_arrival", Reason: "must be a date such as 2026-01-31 or a time such as 2026-01-31T09:30:00.000Z"})
	}
	return problems
}

func isUnreadable(number shipping.Amount) bool {
	_, err := number.MarshalJSON()
	return err != nil
}

func isTime(text string) bool {
	_, dateErr := time.Parse(time.DateOnly, text)
	_, timeErr := time.Parse(time.RFC3339, text)
	return dateErr == nil || timeErr == nil
}

func isUpper(text string, letters int) bool {
	return len(text) == letters && !strings.ContainsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// isID reports whether a text is a prefix and, after it, letters and digits.
func isID(text, prefix string) bool {
	rest, found := strings.CutPrefix(text, prefix)
	return found && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// hsDigits returns an HS code without dots, spaces and hyphens, or ""
// if the text is not an HS code.
func hsDigits(code string) string {
	digits := strings.Map(func(r rune) rune {
		if r == '.' || r == ' ' || r == '-' {
			return -1
		}
		return r
	}, code)
	if len(digits) < 2 || len(digits) > 12 || strings.Trim(digits, "0123456789") != "" {
		return ""
	}
	return digits
}

// Quantity is a number of pieces. In JSON it is a whole number in any notation: 2, 2.0 and 2e0 are equal.
type Quantity int

// UnmarshalJSON implements [json.Unmarshaler]. A value that is not a whole number is not an error, so that the rest of
// the body is read; it becomes 0, which is refused together with the other problems.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	*q = 0
	if text[0] == '"' {
		return nil
	}
	number, err := shipping.ParseAmount(string(text))
	if err != nil {
		return nil
	}
	n, err := strconv.Atoi(number.String()) // without decimals if it is whole
	if err != nil {
		return nil
	}
	*q = Quantity(n)
	return nil
}
