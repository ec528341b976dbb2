package mockserver

import (
	"io"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
)

// Coverage counts which parts of the contract have been used: operations that were called, states that
// requests had, documents that were purchased, and refusals that were sent. [NewCoverage] creates one; pass it
// to every server of a test suite with [WithCoverage]. By default each server has its own. It is safe for
// concurrent use.
type Coverage struct{ seen *watch.Coverage }

// NewCoverage returns an empty Coverage.
func NewCoverage() *Coverage { return &Coverage{watch.NewCoverage()} }

// WithCoverage sets the Coverage of the server; several servers can share one.
func WithCoverage(coverage *Coverage) Option {
	return func(c *config) {
		if coverage != nil {
			c.coverage = coverage
		}
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
	return list.Map(c.seen.Rows(), func(r watch.CoverageRow) CoverageRow { return CoverageRow(r) })
}

// Ratio returns how much of the contract has been used, from 0 to 1.
func (c *Coverage) Ratio() float64 { return c.seen.Ratio() }

// String returns a table: the ratio of each section, and the parts that were not used.
func (c *Coverage) String() string { return c.seen.String() }

// Require fails a test suite whose ratio is too low. In TestMain:
//
//	os.Exit(coverage.Require(m.Run(), 0.8, os.Stderr))
//
// It returns code if code is not 0 or the ratio is reached. Otherwise it writes the table and returns 1.
func (c *Coverage) Require(code int, ratio float64, w io.Writer) int {
	return c.seen.Require(code, ratio, w)
}

// Coverage returns the coverage of the server, which all its worlds share.
func (w *World) Coverage() *Coverage { return w.server.config.coverage }
