package world

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"
)

// valueRange is the range of an assumption, in addition to 0, which is the default.
type valueRange struct {
	field    string
	min, max float64
}

// longestTime is the longest duration of an assumption.
const longestTime = 365 * 24 * time.Hour

// valueRanges returns the ranges of all assumptions that are numbers or durations.
func valueRanges() []valueRange {
	return []valueRange{
		{"RuleFailureStatus", 400, 599},
		{"FundsStatus", 400, 499},
		{"AnalyzeStatus", 200, 299},
		{"PurchaseStatus", 200, 299},
		{"MaxBody", 1, 1 << 30},
		{"PerPageCap", 1, 1_000_000},
		{"Purchasing", 1, float64(longestTime)},
		{"UnknownState", 1, float64(longestTime)},
		{"GenerationScale", -1_000_000, 1_000_000},
		{"EvidenceAfter", 1, float64(longestTime)},
		{"DeliveryAttempts", 1, 1000},
		{"DeliveryBackoff", 1, float64(longestTime)},
		{"DeliveryTimeout", 1, float64(longestTime)},
	}
}

// Check returns an error for each assumption that is out of its range. Options, flags, requests, scenarios and state
// files are all checked by it.
func (a *Assumptions) Check() error {
	var problems []error
	for _, r := range valueRanges() {
		field := reflect.ValueOf(a).Elem().FieldByName(r.field)
		value := number(field)
		if value != 0 && !(value >= r.min && value <= r.max) { // NaN is in no range
			problems = append(problems, fmt.Errorf("mockserver: assumption %s is %v: it must be from %s to %s, or 0 for the default",
				r.field, field, r.text(field, r.min), r.text(field, r.max)))
		}
	}
	return errors.Join(problems...)
}

// number returns the value of a field; NaN if it is not a number.
func number(field reflect.Value) float64 {
	switch {
	case field.CanInt():
		return float64(field.Int())
	case field.CanFloat():
		return field.Float()
	}
	return math.NaN()
}

// text returns an end of the range in the form of the field.
func (r valueRange) text(field reflect.Value, end float64) string {
	if field.Type() == reflect.TypeFor[time.Duration]() {
		return time.Duration(end).String()
	}
	return fmt.Sprintf("%.0f", end)
}
