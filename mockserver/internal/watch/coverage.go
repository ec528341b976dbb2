package watch

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/shipping-go/shipping"
	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/regulatory"
	"github.com/shipping-go/shipping/mockserver/internal/wire"
)

// Coverage counts which parts of the contract have been used: operations, states of requests, documents that were
// purchased, and refusals. It is safe for concurrent use.
type Coverage struct {
	sections []coverageSection // fixed, except for the counters
}

type coverageSection struct {
	name  string
	items []string
	seen  map[string]*atomic.Int64
}

// NewCoverage returns an empty Coverage.
func NewCoverage() *Coverage {
	var operations, documents []string
	for _, op := range shipping.Operations() {
		operations = append(operations, op.Name)
	}
	for _, slug := range shipping.DocumentTypes() {
		documents = append(documents, string(slug))
	}
	c := &Coverage{}
	c.section("operations", operations)
	c.section("states", list.Map(regulatory.States(), func(s regulatory.State) string { return string(s) }))
	c.section("documents", documents)
	c.section("refusals", []string{
		wire.CodeUnauthorized, wire.CodeNotFound, wire.CodeMethod, wire.CodeTooLarge, wire.CodeMediaType, wire.CodeMalformed, wire.CodeInvalid,
		string(regulatory.CodeAnalysisFailed), string(regulatory.CodeNotEditable), string(regulatory.CodeShipmentFlow),
		string(regulatory.CodeInvalidProfile), string(regulatory.CodeUnknownDocumentType), string(regulatory.CodeRepeatedDocumentType),
		string(regulatory.CodeNotOffered), string(regulatory.CodeAlreadyPurchased), string(regulatory.CodeNotPurchasable),
		string(regulatory.CodeInsufficientFunds), string(regulatory.CodeNotRetryable), string(regulatory.CodeNotGenerated),
	})
	return c
}

func (c *Coverage) section(name string, items []string) {
	s := coverageSection{name: name, items: items, seen: map[string]*atomic.Int64{}}
	for _, item := range items {
		s.seen[item] = new(atomic.Int64)
	}
	c.sections = append(c.sections, s)
}

// See counts an exchange.
func (c *Coverage) See(x *wire.Exchange) {
	c.Count(0, x.Operation)
	if record := x.Reply.Record; record != nil {
		c.Count(1, string(record.Status))
		for _, doc := range record.Documents {
			c.Count(2, doc.DocumentType)
		}
	}
	if len(x.Struck) == 0 {
		c.Count(3, x.Reply.Refusal.Code)
	}
}

func (c *Coverage) Count(section int, item string) {
	if counter := c.sections[section].seen[item]; counter != nil {
		counter.Add(1)
	}
}

// CoverageRow is one part of the contract, and how often it was used.
type CoverageRow struct {
	Section string `json:"section"` // operations, states, documents or refusals
	Item    string `json:"item"`
	Seen    int    `json:"seen"` // the number of times
}

// Rows returns every part, in the order of the specification.
func (c *Coverage) Rows() []CoverageRow {
	var rows []CoverageRow
	for _, s := range c.sections {
		for _, item := range s.items {
			rows = append(rows, CoverageRow{s.name, item, int(s.seen[item].Load())})
		}
	}
	return rows
}

// Ratio returns how much of the contract has been used, from 0 to 1.
func (c *Coverage) Ratio() float64 {
	rows := c.Rows()
	seen := len(rows) - len(slices.DeleteFunc(slices.Clone(rows), func(r CoverageRow) bool { return r.Seen > 0 }))
	return float64(seen) / float64(len(rows))
}

// String returns a table: the ratio of each section, and the parts that were not used.
func (c *Coverage) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "contract coverage %.0f %%\n", 100*c.Ratio())
	for _, s := range c.sections {
		var missing []string
		for _, item := range s.items {
			if s.seen[item].Load() == 0 {
				missing = append(missing, item)
			}
		}
		fmt.Fprintf(&b, "  %-10s %2d of %2d", s.name, len(s.items)-len(missing), len(s.items))
		if len(missing) > 0 {
			b.WriteString("  not seen: " + strings.Join(missing, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Require returns code if code is not 0 or the ratio is reached. Otherwise it writes the table and returns 1.
func (c *Coverage) Require(code int, ratio float64, w io.Writer) int {
	if code != 0 || c.Ratio() >= ratio {
		return code
	}
	// If the table cannot be written, the exit code still reports the failure.
	_, _ = fmt.Fprintf(w, "mockserver: the tests used less than the required %.0f %% of the contract\n%s", 100*ratio, c)
	return 1
}
