package dialect

import (
	"cmp"
	_ "embed"
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/shipping-go/shipping/internal/jsonread"
	"github.com/shipping-go/shipping/internal/operations"
	"github.com/shipping-go/shipping/internal/spelling"
)

// Field is one open point with the choice of a dialect.
type Field struct {
	// Name is the name of the field, such as "list.max_per_page".
	Name string `json:"field"`
	// Open is the point that the specification leaves open.
	Open string `json:"open"`
	// Default is the behaviour of the reference server: the value, or a description.
	Default string `json:"default"`
	// Needed names what depends on the choice: a call, or a correct program.
	Needed string `json:"needed"`
	// Values are the choices, separated by commas. Range is the least and the largest number, as "200..299". Both are
	// "" if any text or number is valid. Contrary is the value of the dialect [Contrary].
	Values   string `json:"values,omitempty"`
	Range    string `json:"range,omitempty"`
	Contrary string `json:"contrary,omitempty"`
	// Used lists the parts of the project that follow the field. Observed lists the responses in which mockserver conform
	// observes it.
	Used     string `json:"used"`
	Observed string `json:"observed"`
	// Set is true if the dialect decides the point, and Value the text of the decision, as [Dialect.Set] reads it.
	Set   bool   `json:"set"`
	Value string `json:"value"`
}

// Fields returns every open point in order.
func (d *Dialect) Fields() []Field {
	var rows []Field
	points, usual := readPoints(), defaults().fields()
	for i, f := range d.fields() {
		p := points[f.name]
		rows = append(rows, Field{
			Name: f.name, Open: p["open"], Default: cmp.Or(p["default"], usual[i].String()), Needed: p["needed"], Values: p["values"],
			Range: p["range"], Contrary: p["contrary"], Used: p["used"], Observed: p["observed"],
			Set: !f.value.IsZero(), Value: f.String(),
		})
	}
	return rows
}

// Set sets the named field to a value in text:
//   - a name, a number, a duration such as "90s", or true;
//   - a list separated by commas; or
//   - pairs separated by commas: "queued=generating" for record.states, and for routes
//     "regulatory.retry=POST /v1/regulatory-documents/{request_id}/retries".
//
// [Dialect.Check] checks the value.
func (d *Dialect) Set(name, text string) error {
	f, err := d.field(name)
	if err != nil {
		return err
	}
	return f.set(text)
}

// Apply applies the parts of a text, left to right: "reference", "contrary", "strict", "standard-webhooks",
// FIELD=VALUE, or FIELD+=VALUE (see [Line]), separated by commas or line breaks. Any other part belongs to the
// value before it.
func (d *Dialect) Apply(text string) error {
	for _, setting := range settingsOf(text) {
		decision, _, commented := strings.Cut(strings.ReplaceAll(setting, "\t", " "), " #")
		err := d.apply(strings.TrimSpace(decision))
		switch {
		case err != nil && commented:
			return fmt.Errorf("%w; write the comment on a separate line", err)
		case commented:
			return fmt.Errorf("%q: write the comment on a separate line", setting)
		case err != nil:
			return err
		}
	}
	return nil
}

// apply applies one part of a text.
func (d *Dialect) apply(setting string) error {
	presets := presets()
	name, value, isField := strings.Cut(setting, "=")
	switch {
	case presets[setting] != nil:
		d.Overlay(presets[setting]())
		return nil
	case !isField:
		name, value, several := strings.Cut(strings.Replace(setting, ":", " ", 1), " ")
		if _, err := d.field(name); err == nil {
			return fmt.Errorf("%q has no =: write %q", setting, Line{name, strings.TrimLeft(value, " :->")})
		}
		if several {
			return fmt.Errorf("%q has no =: write FIELD = VALUE, such as \"offer.amount = total\"", setting)
		}
		return fmt.Errorf("unknown dialect %q%s", setting, spelling.Suggestion(setting, slices.Sorted(maps.Keys(presets))))
	}
	name, adds := strings.CutSuffix(strings.TrimSpace(name), "+")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	change := d.Set
	if adds {
		change = d.add
	}
	bare := strings.Trim(strings.ReplaceAll(value, `"`, ""), "'")
	right := strings.TrimLeft(bare, "= ")
	if err := change(name, right); err != nil {
		return err
	}
	switch {
	case bare != value:
		return fmt.Errorf("%s is in quotes: write %q", name, Line{name, right})
	case right != value:
		return fmt.Errorf("%s is %q: write %q", name, value, Line{name, right})
	}
	return nil
}

// presets returns the dialects that have a name.
func presets() map[string]func() *Dialect {
	return map[string]func() *Dialect{
		"reference": Reference, "contrary": Contrary, "strict": Strict, "standard-webhooks": StandardWebhooks,
	}
}

// settingsOf returns the parts of a text that [Dialect.Apply] applies one by one.
func settingsOf(text string) (settings []string) {
	presets := presets()
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' }) {
		part = strings.TrimSpace(part)
		switch {
		case part == "":
		case fieldOf(part) || presets[part] != nil || len(settings) == 0 || presets[settings[len(settings)-1]] != nil:
			settings = append(settings, part)
		default:
			settings[len(settings)-1] += "," + part
		}
	}
	return settings
}

// fieldOf reports whether a part of a text begins with the name of a field, which has a dot. The name of an operation
// has a dot, too, but belongs to routes.
func fieldOf(part string) bool {
	name, _, isField := strings.Cut(part, "=")
	isOperation := func(o operations.Operation) bool { return o.Name == strings.TrimSpace(name) }
	return isField && strings.Contains(name, ".") && !slices.ContainsFunc(operations.All(), isOperation)
}

// Overlay sets every field that over sets. Routes and states are joined.
func (d *Dialect) Overlay(over *Dialect) {
	if over == nil {
		return
	}
	from := over.fields()
	for i, f := range d.fields() {
		value := from[i].value
		if value.IsZero() {
			continue
		}
		switch target := f.value.Addr().Interface().(type) {
		case *map[string]string:
			joined := map[string]string{}
			maps.Copy(joined, *target)
			maps.Copy(joined, value.Interface().(map[string]string))
			*target = joined
		case *[]string:
			*target = slices.Clone(value.Interface().([]string))
		default:
			f.value.Set(value)
		}
	}
	d.Version = max(d.Version, over.Version)
}

//go:embed points.json
var pointsFile string

// point describes an open point by the members of its object in points.json.
type point map[string]string

// once holds values that are computed once, because every client checks its dialect. It has no initial value, so that a
// program without a dialect does not link it and points.json.
var once struct {
	points, places sync.Once
	byName         map[string]point
	inOrder        []place
}

// readPoints returns the open points by the names of their fields.
func readPoints() map[string]point {
	once.points.Do(func() {
		once.byName = map[string]point{}
		for _, row := range jsonread.Parse(pointsFile).Members {
			p := point{}
			for _, m := range row.Value.Members {
				p[m.Name] = m.Value.Text
			}
			once.byName[row.Name] = p
		}
	})
	return once.byName
}

// field is a field of a dialect.
type field struct {
	name  string
	value reflect.Value
}

// fields returns the open points of a dialect.
func (d *Dialect) fields() []field {
	v := reflect.ValueOf(d).Elem()
	once.places.Do(func() { once.inOrder = appendPlaces(nil, place{}, v.Type()) })
	found := make([]field, len(once.inOrder))
	for i, p := range once.inOrder {
		found[i] = field{p.name, v.FieldByIndex(p.index)}
	}
	return found
}

// place is the name of an open point, and the index of its field in a Dialect.
type place struct {
	name  string
	index []int
}

func appendPlaces(found []place, parent place, of reflect.Type) []place {
	for f := range of.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		at := place{parent.name + name, slices.Concat(parent.index, f.Index)}
		switch {
		case f.Type.Kind() == reflect.Struct:
			found = appendPlaces(found, place{at.name + ".", at.index}, f.Type)
		case name != "version":
			found = append(found, at)
		}
	}
	return found
}

// field returns the field of a name.
func (d *Dialect) field(name string) (field, error) {
	var names []string
	for _, f := range d.fields() {
		if f.name == name {
			return f, nil
		}
		names = append(names, f.name)
	}
	meant := spelling.Meant(name, names)
	if slices.Contains(specified, name) {
		meant = ": the specification defines " + name + ", so no line can declare another name: remove the line"
	}
	return field{}, fmt.Errorf("unknown field %q%s", name, meant)
}

// preset returns a dialect of points.json: each point has its value under this member, such as "strict". Tests set all.
func preset(member string) *Dialect {
	d, points := &Dialect{Version: Version}, readPoints()
	for _, f := range d.fields() {
		if text := points[f.name][member]; text != "" {
			_ = f.set(text)
		}
	}
	return d
}

// set sets the field to a value in text.
func (f field) set(text string) error {
	if form, err := f.setText(text); err != nil {
		return fmt.Errorf("%s cannot be %q: write %s", f.name, text, form)
	}
	return nil
}

// setText sets the field to a value in text, and returns the form of valid values.
func (f field) setText(text string) (form string, err error) {
	form = "a text"
	switch target := f.value.Addr().Interface().(type) {
	case *string:
		*target = text
	case *bool:
		form = "true or false"
		*target, err = strconv.ParseBool(text)
	case *[]string:
		*target = strings.FieldsFunc(strings.ReplaceAll(text, ", ", ","), func(r rune) bool { return r == ',' })
	case *map[string]string:
		example := map[bool]string{false: "queued=generating",
			true: "regulatory.retry=POST /v1/regulatory-documents/{request_id}/retries"}[f.name == "routes"]
		form = "pairs such as " + example + ", separated by commas"
		*target, err = pairs(text)
	case encoding.TextUnmarshaler:
		form = `a duration such as "90s"`
		err = target.UnmarshalText([]byte(text))
	case *float64:
		form = "a number"
		*target, err = strconv.ParseFloat(text, 64)
	default:
		form = "a whole number"
		var n int64
		n, err = strconv.ParseInt(text, 10, f.value.Type().Bits())
		f.value.SetInt(n)
	}
	return form, err
}

func pairs(text string) (map[string]string, error) {
	found := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok {
			return nil, strconv.ErrSyntax
		}
		found[name] = value
	}
	return found, nil
}

// String returns the text that set reads.
func (f field) String() string {
	switch value := f.value.Interface().(type) {
	case []string:
		return strings.Join(value, ",")
	case map[string]string:
		var texts []string
		for _, name := range slices.Sorted(maps.Keys(value)) {
			texts = append(texts, name+"="+value[name])
		}
		return strings.Join(texts, ",")
	}
	if f.value.IsZero() {
		return ""
	}
	return fmt.Sprint(f.value.Interface())
}

// assumedRoutes are the routes of the reference server for operations without a documented path.
func assumedRoutes() map[string]string {
	routes := map[string]string{}
	for _, o := range operations.All() {
		if o.Provisional {
			routes[o.Name] = o.Method + " " + o.Route
		}
	}
	return routes
}
