package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Form is another way to write the same records.
type Form struct {
	Name string
	// Rewrite returns an answer of [Rates] in this form.
	Rewrite func(rates []byte) []byte
}

// Forms are the forms that services are seen to send. Hand-written code refuses the first one whole.
func Forms() []Form {
	return []Form{{"odd scalars", odd}, {"indented", indented}, {"spaces", spaced}, {"shuffled members", shuffled}}
}

// odd writes, in each rate, numbers as texts, a boolean as a number, and dates without a zone, as seconds and empty.
func odd(rates []byte) []byte {
	date := regexp.MustCompile(`"(delivery_date|created_at|updated_at)":"([^"]*)"`)
	rates = date.ReplaceAllFunc(rates, func(member []byte) []byte {
		found := date.FindSubmatch(member)
		at, err := time.Parse(time.RFC3339, string(found[2]))
		if err != nil {
			panic(err)
		}
		value := `""`
		switch string(found[1]) {
		case "delivery_date":
			value = fmt.Sprint(at.Unix())
		case "created_at":
			value = at.Format(`"2006-01-02 15:04:05"`)
		}
		return fmt.Appendf(nil, `"%s":%s`, found[1], value)
	})
	rates = regexp.MustCompile(`"(delivery_eta|pickup_eta|insurance_fee)":([0-9.]+)`).ReplaceAll(rates, []byte(`"$1":"$2"`))
	return bytes.ReplaceAll(bytes.ReplaceAll(rates, []byte(`"used":true`), []byte(`"used":1`)), []byte(`"used":false`), []byte(`"used":0`))
}

func indented(rates []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, rates, "", "  "); err != nil {
		panic(err)
	}
	return out.Bytes()
}

// spaced writes a space behind each comma and colon, as the json module of Python does.
func spaced(rates []byte) []byte {
	rates = regexp.MustCompile(`,\n *`).ReplaceAll(indented(rates), []byte(", "))
	return regexp.MustCompile(`\n *`).ReplaceAll(rates, nil)
}

// shuffled writes the members of each rate in another order.
func shuffled(rates []byte) []byte {
	var list struct {
		Rates      []map[string]json.RawMessage `json:"rates"`
		Pagination json.RawMessage              `json:"pagination"`
	}
	answer := Envelope[any]{Data: &list}
	if err := json.Unmarshal(rates, &answer); err != nil {
		panic(err)
	}
	m := newMaker(1)
	shuffled := make([]json.RawMessage, len(list.Rates))
	for i, rate := range list.Rates {
		names := slices.Sorted(maps.Keys(rate))
		m.random.Shuffle(len(names), func(a, b int) { names[a], names[b] = names[b], names[a] })
		members := make([]string, len(names))
		for i, name := range names {
			members[i] = fmt.Sprintf("%q:%s", name, rate[name])
		}
		shuffled[i] = json.RawMessage("{" + strings.Join(members, ",") + "}")
	}
	return success(answer.Message, map[string]any{"rates": shuffled, "pagination": list.Pagination})
}
