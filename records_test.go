package shipping

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/jsonread"
)

// What follows reads a response as the client does, but slowly and by other means: [jsonread.Unmarshal] reads it,
// after every value was rewritten in the notation of its field's type. The tests of decoding compare the two.

// exactEnvelope is the envelope for encoding/json. A type in it that has methods of the client is replaced.
type exactEnvelope[T any] struct {
	Status  *bool  `json:"status"`
	Message string `json:"message"`
	Data    T      `json:"data"`
}

type exactWebhookList struct {
	Webhooks   []exactWebhook `json:"webhooks"`
	Pagination Pagination     `json:"pagination"`
}

type exactWebhook Webhook // without UnmarshalJSON

func (w *exactWebhook) UnmarshalJSON(data []byte) error {
	type plain exactWebhook
	wire := struct {
		*plain
		Events []EventKind `json:"events"`
	}{plain: (*plain)(w)}
	err := jsonread.Unmarshal(data, &wire)
	if w.Event == nil {
		w.Event = wire.Events
	}
	return err
}

// exactRequest is [requestData].
type exactRequest struct {
	_      jsonread.Once
	raw    RawJSON
	record RegulatoryRequest
}

func (r *exactRequest) UnmarshalJSON(data []byte) error {
	r.raw = RawJSON(strings.TrimSpace(string(data)))
	record, wrapped := exactRecord(r.raw)
	if jsonKind(json.RawMessage(wrapped)) == "object" && record.RequestID == "" {
		inner, _ := exactRecord(wrapped)
		setDefault(&inner.TransactionID, record.TransactionID)
		if inner.ChargedAmount == (Amount{}) && record.ChargedAmount != (Amount{}) {
			inner.ChargedAmount = record.ChargedAmount
			setDefault(&inner.Currency, record.Currency)
		}
		record = inner
	}
	r.record = record
	return nil
}

type exactAvailable AvailableDocument

func (d *exactAvailable) UnmarshalJSON(data []byte) error {
	if jsonKind(data) == "string" {
		return json.Unmarshal(data, &d.DocumentType)
	}
	type plain exactAvailable
	wire := struct {
		*plain
		Type  DocumentType `json:"type"`
		Slug  DocumentType `json:"slug"`
		Price Amount       `json:"price"`
	}{plain: (*plain)(d)}
	err := jsonread.Unmarshal(data, &wire)
	setDefault(&d.DocumentType, wire.Slug)
	setDefault(&d.DocumentType, wire.Type)
	switch {
	case d.Amount == (Amount{}):
		d.Amount = wire.Price
	case wire.Price != (Amount{}) && wire.Price != d.Amount:
		d.Amount = Amount{state: amountUnreadable}
	}
	return err
}

func exactRecord(raw RawJSON) (record RegulatoryRequest, wrapped RawJSON) {
	var wire struct {
		RegulatoryRequest
		AvailableDocuments []exactAvailable `json:"available_documents"` // in place of the embedded one
		Items              []LineItem       `json:"items"`
		Request            RawJSON          `json:"request"`
	}
	text := jsonread.Text([]byte(raw), &wire)
	_ = json.Unmarshal(straightened(text, reflect.TypeOf(wire)), &wire)
	record = wire.RegulatoryRequest
	if wire.AvailableDocuments != nil {
		record.AvailableDocuments = []AvailableDocument{}
	}
	for _, document := range wire.AvailableDocuments {
		record.AvailableDocuments = append(record.AvailableDocuments, AvailableDocument(document))
	}
	if record.LineItems == nil {
		record.LineItems = wire.Items
	}
	record.Raw = raw
	return record, wire.Request
}

// exactly reads a response into an exactEnvelope.
func exactly[T any](body []byte) (answer exactEnvelope[T], err error) {
	text := jsonread.Text(body, &answer)
	if !json.Valid(text) {
		return answer, errNoJSON
	}
	err = json.Unmarshal(straightened(text, reflect.TypeOf(answer)), &answer)
	return answer, err
}

var null = json.RawMessage("null")

// straightened returns a value in the notation of a type; null if it cannot be read as one.
func straightened(raw json.RawMessage, t reflect.Type) json.RawMessage {
	kind := jsonKind(raw)
	switch {
	case t == reflect.TypeFor[RawJSON]() || t == reflect.TypeFor[exactRequest]() || t == reflect.TypeFor[Amount]():
		return raw
	case kind == "null":
		return null
	case t == reflect.TypeFor[time.Time]():
		return straightTime(kind, strings.TrimSpace(RawJSON(raw).Text()))
	}
	text := strings.TrimSpace(RawJSON(raw).Text())
	switch t.Kind() {
	case reflect.Pointer:
		return straightened(raw, t.Elem())
	case reflect.Struct:
		return straightObject(raw, t)
	case reflect.Slice:
		if kind == "string" && t.Elem().Kind() == reflect.String {
			return straightItems([]json.RawMessage{raw}, t.Elem())
		}
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return null
		}
		return straightItems(items, t.Elem())
	case reflect.Map:
		if kind != "object" {
			return null
		}
	case reflect.String:
		switch kind {
		case "number", "boolean":
			return encode(string(raw))
		case "object", "array":
			return null
		}
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true", "1", "yes":
			return json.RawMessage("true")
		case "false", "0", "no", "":
			return json.RawMessage("false")
		}
		return null
	case reflect.Int, reflect.Int64:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return encode(n)
		}
		exact, err := ParseAmount(text)
		if err != nil || !exact.Equal(exact.Round(0)) {
			return null
		}
		return json.RawMessage(exact.String())
	case reflect.Float64:
		n, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return null
		}
		return encode(n)
	}
	return raw
}

func straightItems(items []json.RawMessage, t reflect.Type) json.RawMessage {
	for i := range items {
		items[i] = straightened(items[i], t)
	}
	return slices.Concat([]byte("["), bytes.Join(asBytes(items), []byte(",")), []byte("]"))
}

func straightObject(raw json.RawMessage, t reflect.Type) json.RawMessage {
	if t == reflect.TypeFor[exactAvailable]() && jsonKind(raw) == "string" {
		return raw
	}
	switch t { // types that read themselves: their other names too
	case reflect.TypeFor[exactWebhook]():
		raw = jsonread.Text(raw, &struct {
			plainWebhook
			Events []EventKind `json:"events"`
		}{})
	case reflect.TypeFor[exactAvailable]():
		raw = jsonread.Text(raw, &struct {
			plainAvailable
			Type  DocumentType `json:"type"`
			Slug  DocumentType `json:"slug"`
			Price Amount       `json:"price"`
		}{})
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return null
	}
	fields := memberTypes(t)
	var straight []json.RawMessage // not written by encoding/json, which would change raw values
	for name, member := range members {
		if field, known := fields[name]; known {
			member = straightened(member, field)
		}
		straight = append(straight, slices.Concat(encode(name), []byte(":"), member))
	}
	return slices.Concat([]byte("{"), bytes.Join(asBytes(straight), []byte(",")), []byte("}"))
}

func asBytes(values []json.RawMessage) [][]byte {
	var all [][]byte
	for _, value := range values {
		all = append(all, value)
	}
	return all
}

type (
	plainWebhook   Webhook
	plainAvailable AvailableDocument
)

// memberTypes returns the types of a struct's members, those under other names included.
func memberTypes(t reflect.Type) map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for field := range t.Fields() {
		if field.Anonymous {
			for name, member := range memberTypes(field.Type) {
				types[name] = member
			}
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		for _, name := range append(strings.Split(field.Tag.Get("alias"), ","), name) {
			if name != "" && name != "-" {
				types[name] = field.Type
			}
		}
	}
	if shadow, shadowed := t.FieldByName("AvailableDocuments"); shadowed {
		types["available_documents"] = shadow.Type
	}
	return types
}

// straightTime writes a timestamp as RFC 3339 does.
func straightTime(kind, text string) json.RawMessage {
	if kind == "string" {
		layout := regexp.MustCompile(`^(\d{4})(-?)(\d\d)(-?)(\d\d)(?:[Tt ](\d\d?)(:?)(\d\d)(?:(:?)(\d\d)(?:[.,](\d+))?)?(Z|z|[+-]\d\d:?(?:\d\d)?)?)?$`)
		if p := layout.FindStringSubmatch(text); p != nil && p[2] == p[4] && (p[10] == "" || p[7] == p[9]) && (p[6] != "" || p[2] != "") && (len(p[6]) != 1 || p[7] != "") {
			if len(p[6]) == 1 { // time.Parse takes an hour of one digit in front of a colon
				p[6] = "0" + p[6]
			}
			zone := strings.ToUpper(p[12])
			if len(zone) > 1 {
				zone = zone[:3] + ":" + (strings.TrimPrefix(zone[3:], ":") + "00")[:2]
			}
			part := func(i int) string { return (p[i] + "00")[:2] }
			straight := p[1] + "-" + p[3] + "-" + p[5] + "T" + part(6) + ":" + part(8) + ":" + part(10) + "." + p[11] + "0"
			if zone == "" {
				zone = "Z"
			}
			var at time.Time
			if at.UnmarshalText([]byte(straight+zone)) != nil {
				return null
			}
			return encode(at)
		}
	}
	for _, layout := range []string{time.RFC1123, time.RFC1123Z} {
		if at, err := time.Parse(layout, text); err == nil {
			return encode(at.UTC())
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
		at := time.Unix(n, 0)
		if n >= 100_000_000_000 {
			at = time.UnixMilli(n)
		}
		if at.Year() <= 9999 {
			return encode(at.UTC())
		}
	}
	return null
}

// encode is json.Marshal for values that cannot fail.
func encode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return null
	}
	return raw
}

// jsonKind returns the type of a JSON value.
func jsonKind(raw json.RawMessage) string {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			return "object"
		case '[':
			return "array"
		case '"':
			return "string"
		case 't', 'f':
			return "boolean"
		case 'n':
			return "null"
		}
		return "number"
	}
	return "null"
}
