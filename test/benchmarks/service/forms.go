package service

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shipping-go/shipping/test/benchmarks/raw"
)

// Form is another way to write a list of rates.
type Form struct {
	Name    string
	Rewrite func(rates []byte) ([]byte, error)
}

// Forms returns the forms that services are known to send. encoding/json into plain structs rejects the first one.
func Forms() []Form {
	return []Form{{"odd-scalars", odd}, {"indented", indented}, {"spaces", spaced}, {"shuffled-members", shuffled}}
}

// odd writes numbers as strings, a boolean as a number, and dates without a zone, as seconds and empty.
func odd(body []byte) ([]byte, error) {
	dates := regexp.MustCompile(`"(delivery_date|created_at|updated_at)":"([^"]*)"`)
	var failed error
	body = dates.ReplaceAllFunc(body, func(member []byte) []byte {
		found := dates.FindSubmatch(member)
		at, err := time.Parse(time.RFC3339, string(found[2]))
		failed = errors.Join(failed, err)
		value := map[string]string{"delivery_date": fmt.Sprint(at.Unix()), "created_at": at.Format(`"2006-01-02 15:04:05"`),
			"updated_at": `""`}
		return fmt.Appendf(nil, `"%s":%s`, found[1], value[string(found[1])])
	})
	body = regexp.MustCompile(`"(delivery_eta|pickup_eta|insurance_fee)":([0-9.]+)`).ReplaceAll(body, []byte(`"$1":"$2"`))
	return bytes.ReplaceAll(bytes.ReplaceAll(body, []byte(`"used":true`), []byte(`"used":1`)), []byte(`"used":false`),
		[]byte(`"used":0`)), failed
}

func indented(body []byte) ([]byte, error) {
	var out bytes.Buffer
	err := json.Indent(&out, body, "", "  ")
	return out.Bytes(), err
}

// spaced writes a space behind each comma and colon, as Python does.
func spaced(body []byte) ([]byte, error) {
	body, err := indented(body)
	body = regexp.MustCompile(`,\n *`).ReplaceAll(body, []byte(", "))
	return regexp.MustCompile(`\n *`).ReplaceAll(body, nil), err
}

// shuffled writes the members of each rate in a different order.
func shuffled(body []byte) ([]byte, error) {
	var page raw.Envelope[struct {
		Rates      []map[string]json.RawMessage `json:"rates"`
		Pagination json.RawMessage              `json:"pagination"`
	}]
	if err := json.Unmarshal(body, &page); err != nil {
		return nil, err
	}
	var rates []string
	for i, rate := range page.Data.Rates {
		names := slices.Sorted(maps.Keys(rate))
		var members []string
		for j := range names {
			name := names[(j*7+i)%len(names)] // 7 has no common divisor with the 25 members of a rate
			members = append(members, fmt.Sprintf("%q:%s", name, rate[name]))
		}
		rates = append(rates, "{"+strings.Join(members, ",")+"}")
	}
	return fmt.Appendf(nil, `{"status":true,"message":"OK","data":{"rates":[%s],"pagination":%s}}`,
		strings.Join(rates, ","), page.Data.Pagination), nil
}
