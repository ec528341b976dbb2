package admin

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/fault"
	"github.com/shipping-go/shipping/mockserver/internal/openapi"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/journal"
)

// Controls returns the rows of the control surface for the OpenAPI document.
func Controls() []openapi.Control {
	var all []openapi.Control
	for _, r := range Routes() {
		all = append(all, r.Control)
	}
	return all
}

// Types returns the schemas of the types whose JSON does not follow from their Go type.
func Types() openapi.Types {
	const text, duration, timestamp = `{"type":"string"}`, `{"type":"string","examples":["250ms","90s"]}`, `{"type":"string","format":"date-time"}`
	return openapi.Types{
		reflect.TypeFor[time.Time]():            timestamp,
		reflect.TypeFor[regulatory.Timestamp](): timestamp,
		reflect.TypeFor[time.Duration]():        duration,
		reflect.TypeFor[fault.Duration]():       duration,
		reflect.TypeFor[shipping.Amount]():      `{"$ref":"#/components/schemas/Amount"}`,
		reflect.TypeFor[regulatory.Record]():    `{"$ref":"#/components/schemas/RegulatoryRequest"}`,
		reflect.TypeFor[regulatory.State]():     `{"$ref":"#/components/schemas/RequestStatus"}`,
		reflect.TypeFor[json.RawMessage]():      `{}`,
		reflect.TypeFor[[]byte]():               `{"type":"string","contentEncoding":"base64"}`,
		reflect.TypeFor[fault.Header]():         `{"type":"object","additionalProperties":{"oneOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}`,
		reflect.TypeFor[fault.Point]():          enum(fault.Points()),
		reflect.TypeFor[fault.RetryAfter]():     enum(fault.RetryAfters()),
		reflect.TypeFor[journalRow]():           []reflect.Type{reflect.TypeFor[journal.Entry](), reflect.TypeFor[journal.Finding]()},
	}
}

// enum returns the schema of a text that has one of some values.
func enum[T ~string](values []T) string {
	var all []string
	for _, value := range values {
		all = append(all, `"`+string(value)+`"`)
	}
	return `{"type":"string","enum":[` + strings.Join(all, ",") + `]}`
}
