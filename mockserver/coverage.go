package mockserver

import (
	"io"

	"github.com/shipping-go/shipping/mockserver/internal/list"
	"github.com/shipping-go/shipping/mockserver/internal/watch"
)

// Coverage counts which parts of the contract have been seen: operations that were called, states in
// which requests were shown, documents that were purchased, and refusals that were answered. Make one
// with [NewCoverage] and give it to every server of a test suite with [WithCoverage]; a server without
// has one of its own. It is safe for concurrent use.
type Coverage struct{ seen *watch.Coverage }

// NewCoverage returns a coverage in which nothing has been seen.
func NewCoverage() *Coverage { return &Coverage{watch.NewCoverage()} }

// WithCoverage counts into a coverage that several servers share.
func WithCoverage(coverage *Coverage) Option {
	return func(c *config) {
		if coverage != nil {
			c.coverage = coverage
		}
	}
}

// CoverageRow is one part of the contract.
type CoverageRow struct {
	Section string `json:"section"` // operations, states, documents or refusals
	Item    string `json:"item"`
	Seen    int    `json:"seen"` // how often
}

// Rows returns every part, in the order of the specification.
func (c *Coverage) Rows() []CoverageRow {
	return list.Map(c.seen.Rows(), func(r watch.CoverageRow) CoverageRow { return CoverageRow(r) })
}

// Ratio returns how much of the contract has been seen, between 0 and 1.
func (c *Coverage) Ratio() float64 { return c.seen.Ratio() }

// String returns a table: how much of each section was seen, and what was not.
func (c *Coverage) String() string { return c.seen.String() }

// Require holds a test suite to a ratio. In TestMain:
//
//	os.Exit(coverage.Require(m.Run(), 0.8, os.Stderr))
//
// It returns code if that is not 0 or enough was seen. Otherwise it writes the table and returns 1.
func (c *Coverage) Require(code int, ratio float64, w io.Writer) int {
	return c.seen.Require(code, ratio, w)
}

// Coverage returns what the clients of the server have seen, in this world and in the others.
func (w *World) Coverage() *Coverage { return w.server.config.coverage }
