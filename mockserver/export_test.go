package mockserver

import "sync/atomic"

// WithLimits divides the limits of a server, so that a test reaches them sooner.
func WithLimits(by int) Option {
	return func(c *config) {
		c.Limits.Worlds /= by
		c.Limits.Records /= int64(by)
		c.Limits.Entries /= by
		c.Limits.Connections /= by
	}
}

// WithRecords lets a test read how many records the worlds of a server store.
func WithRecords(records *atomic.Int64) Option { return func(c *config) { c.Records = records } }
