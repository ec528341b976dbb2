package dialect

import (
	"cmp"
	"maps"
	"reflect"
	"strings"
	"time"
)

// Measure sets the field of a name to a value that a service has shown, in text, and notes the value, the day and how
// it was measured.
func (d *Dialect) Measure(name, value, how string) error {
	f, err := d.field(name)
	if err != nil {
		return err
	}
	if value != "" {
		err = f.set(value)
	}
	d.note(f, time.Now().UTC().Format(time.DateOnly)+": "+how)
	return err
}

// note sets the entry of a field in Measured. It begins with the value, so that a value that a person changes later is
// by hand.
func (d *Dialect) note(f field, how string) {
	d.Measured = mergedTexts(d.Measured, map[string]string{f.name: f.noted() + how})
}

// noted is the beginning of the entry of a field that was measured.
func (f field) noted() string { return cmp.Or(f.String(), "nothing") + " on " }

// byHand reports whether a person has decided a field.
func (d *Dialect) byHand(f field) bool {
	entry := d.Measured[f.name]
	return (entry != "" || !f.value.IsZero()) && !strings.HasPrefix(entry, f.noted())
}

// Difference is a field that was measured, and that another dialect decides otherwise or not at all.
type Difference struct {
	Field string `json:"field"`
	// Decided is the value in the other dialect, and Measured the one of the service, as [Dialect.Set] reads them.
	Decided  string `json:"decided"`
	Measured string `json:"measured"`
	// ByHand is true if a person has decided the field, and New if the other dialect does not decide it.
	ByHand bool `json:"by_hand,omitempty"`
	New    bool `json:"new,omitempty"`
}

// Compare returns the measured fields that d does not decide in the same way. A status that was not seen is not a
// difference, because it can have ended between two requests.
func (d *Dialect) Compare(measured *Dialect) (found []Difference) {
	from := measured.fields()
	for i, f := range d.fields() {
		_, isMeasured := measured.Measured[f.name]
		isNew := f.value.IsZero() && d.Measured[f.name] == ""
		if isMeasured && (isNew || !f.covers(from[i])) {
			shown := from[i].String()
			if from[i].value.Kind() == reflect.Bool {
				shown = cmp.Or(shown, "false")
			}
			found = append(found, Difference{f.name, f.String(), shown, d.byHand(f), isNew})
		}
	}
	return found
}

// covers reports whether a value is that of a field, or a part of its pairs.
func (f field) covers(measured field) bool {
	pairs, isMap := f.value.Interface().(map[string]string)
	if !isMap {
		return f.String() == measured.String()
	}
	return maps.Equal(mergedTexts(pairs, measured.value.Interface().(map[string]string)), pairs)
}

// Update sets the fields that a later run has measured, with their entries in Measured. A field that a person has
// decided, and what the later run could not measure, stay as they are.
func (d *Dialect) Update(measured *Dialect) {
	from := measured.fields()
	for i, f := range d.fields() {
		entry, isMeasured := measured.Measured[f.name]
		if isMeasured && !d.byHand(f) {
			f.value.Set(joined(f.value, from[i].value))
			d.note(f, strings.TrimPrefix(entry, from[i].noted()))
		}
	}
	d.Service, d.Version = cmp.Or(measured.Service, d.Service), Version
}
