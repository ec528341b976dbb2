package mockserver

// WithJournal sets how many calls a world remembers, and how many bytes of their bodies. The default
// is 1,024 calls with 2 KiB of each body; 0 calls remembers none.
func WithJournal(calls, bodyBytes int) Option {
	return func(c *config) { c.Journal, c.JournalBody = max(0, calls), max(0, bodyBytes) }
}
