package dialect

import (
	"errors"
	"fmt"
	"net/textproto"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/status"
)

// specified are the members of a regulatory request and its documents that the specification defines.
var specified = []string{"request_id", "status", "source", "available_documents"}

// Check returns an error for each value that is impossible, or contradicts another one.
func (d *Dialect) Check() error {
	var problems []error
	if d.Version < 0 || d.Version > Version {
		problems = append(problems, fmt.Errorf("version is %d; this program reads %d: write that, or update the program",
			d.Version, Version))
	}
	points, open := readPoints(), d.fields()
	for _, f := range open {
		if f.value.IsZero() {
			continue
		}
		if err := points[f.name].check(f); err != nil {
			problems = append(problems, fmt.Errorf("%s %w", f.name, err))
		}
	}
	resolved := d.Resolved().fields()
	problems = append(problems, conflicts(named(resolved, "record.", points))...)
	problems = append(problems, conflicts(named(resolved, "offer.", points))...)
	problems = append(problems, d.headerConflicts(resolved, points)...)
	if _, err := operations.WithRoutes(d.Routes); err != nil {
		problems = append(problems, fmt.Errorf("routes %w", err))
	}
	return errors.Join(problems...)
}

// check checks the value of a field alone.
func (p point) check(f field) error {
	switch value := f.value.Interface().(type) {
	case string:
		return p.checkText(f.name, value)
	case []string:
		for _, text := range value {
			if err := p.checkText(f.name, text); err != nil {
				return err
			}
		}
	case map[string]string:
		for name, means := range value {
			if status.Of(name).State != status.Other {
				return fmt.Errorf("contains %q, which the specification defines: remove it", name)
			}
			if err := p.checkText(f.name, means); err != nil {
				return err
			}
		}
	case Duration:
		if value < 0 || time.Duration(value) > 8760*time.Hour {
			return fmt.Errorf("is %s: it must be from 0 to a year", value)
		}
	default:
		return p.checkRange(f.value)
	}
	return nil
}

func (p point) checkText(field, text string) error {
	if values, isChoice := p["values"]; isChoice && !slices.Contains(strings.Split(values, ","), text) {
		return fmt.Errorf("is %q: it must be one of %s", text, strings.ReplaceAll(values, ",", ", "))
	}
	isPath := p["kind"] == "member" || p["kind"] == "path"
	if dotted := strings.NewReplacer("[", ".", "]", "").Replace(text); isPath && text != dotted && text != "[0]" {
		return fmt.Errorf("is %q: write an element of a list with a dot, such as %q", text, dotted)
	}
	switch p["kind"] {
	case "member":
		return checkMember(field, text)
	case "currency":
		if text != "wallet" && len(text) != 3 {
			return fmt.Errorf("is %q: it must be a code of three letters, or \"wallet\"", text)
		}
	case "signed":
		rest := strings.NewReplacer("{body}", "", "{id}", "", "{timestamp}", "").Replace(text)
		if strings.Count(text, "{body}") != 1 || strings.ContainsAny(rest, "{}") {
			return fmt.Errorf("is %q: it must have {body} once, and may have {id} and {timestamp}", text)
		}
	case "header", "path":
		if strings.ContainsAny(text, " \t\r\n:") {
			return fmt.Errorf("is %q, which is not a name", text)
		}
		if p["kind"] == "header" && slices.Contains(headersOfHTTP, textproto.CanonicalMIMEHeaderKey(text)) {
			return fmt.Errorf("is %q, which HTTP sets itself: no notification can have it", text)
		}
	}
	return nil
}

// headersOfHTTP are headers that a notification cannot use for its own purposes.
var headersOfHTTP = []string{"Connection", "Content-Length", "Content-Type", "Host", "Trailer", "Transfer-Encoding"}

// headerConflicts returns an error if no receiver can verify the notifications: the signature covers an identifier that
// is not sent, or one header has two purposes. The identifiers of the delivery and the event may share a header.
func (d *Dialect) headerConflicts(open []field, points map[string]point) (problems []error) {
	signed := d.Notification.Signature.Signed
	if strings.Contains(signed, "{id}") && d.Notification.DeliveryID == "-" {
		problems = append(problems, fmt.Errorf("notification.signature.signed is %q, and notification.delivery_id \"-\": "+
			"a receiver needs the id that is signed", signed))
	}
	fieldOf := map[string]string{} // by header
	for _, f := range open {
		name, isText := f.value.Interface().(string)
		name = textproto.CanonicalMIMEHeaderKey(name)
		untimed := f.name == "notification.signature.timestamp_header" && !strings.Contains(signed, "{timestamp}")
		isHeader := isText && points[f.name]["kind"] == "header" && strings.HasPrefix(f.name, "notification.")
		if !isHeader || name == "-" || untimed {
			continue
		}
		other, taken := fieldOf[name]
		if taken && (other != "notification.delivery_id" || f.name != "notification.event_id") {
			problems = append(problems, fmt.Errorf("%s and %s are both %q: rename one", other, f.name, name))
		}
		fieldOf[name] = f.name
	}
	return problems
}

func checkMember(field, text string) error {
	switch {
	case text == "-":
		return nil
	case field == "record.at" && strings.Contains(text, "."):
		return fmt.Errorf("is %q: write the name of a member of data, or [0] for a list of one record", text)
	case strings.Count(text, ".") > 1:
		return fmt.Errorf("is %q: a path has at most two names", text)
	case slices.Contains(strings.Split(text, "."), ""):
		return fmt.Errorf("is %q, which has an empty name", text)
	case slices.Contains(specified, text):
		return fmt.Errorf("is %q, which the specification defines", text)
	}
	return nil
}

func (p point) checkRange(value reflect.Value) error {
	least, most, ranged := strings.Cut(p["range"], "..")
	if !ranged {
		return nil
	}
	n := value.Convert(reflect.TypeFor[float64]()).Float()
	low, _ := strconv.ParseFloat(least, 64) // the ranges are valid
	high, _ := strconv.ParseFloat(most, 64)
	if !(n >= low && n <= high) { // NaN is in no range
		return fmt.Errorf("is %v: a number from %s to %s", value, least, most)
	}
	return nil
}

// naming is a field, and a name of a member that it sets.
type naming struct{ field, name string }

// named returns the names of members that a group of fields sets.
func named(fields []field, group string, points map[string]point) (names []naming) {
	for _, f := range fields {
		p := points[f.name]
		if !strings.HasPrefix(f.name, group) || p["kind"] != "member" || f.name == "record.at" {
			continue
		}
		for name := range strings.SplitSeq(f.String(), ",") {
			names = append(names, naming{f.name, name})
		}
	}
	return names
}

// conflicts returns an error for two fields with one name, and for a name that is both a value and an object.
func conflicts(names []naming) (problems []error) {
	for i, one := range names {
		for _, other := range names[i+1:] {
			switch {
			case one.name == "-", one.name == "":
			case one.name == other.name:
				problems = append(problems, fmt.Errorf("%s and %s are both %q: rename one", one.field,
					other.field, one.name))
			case strings.HasPrefix(one.name, other.name+"."), strings.HasPrefix(other.name, one.name+"."):
				problems = append(problems, fmt.Errorf("%s is %q, and %s %q: a member cannot be a value and an object; "+
					"rename it, or write \"-\" if it is not sent", one.field, one.name, other.field, other.name))
			}
		}
	}
	return problems
}
