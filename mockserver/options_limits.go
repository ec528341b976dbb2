package mockserver

// WithMaxWorlds limits how many worlds are open at once; a further one is refused. The default is 10,000.
func WithMaxWorlds(n int) Option { return func(c *config) { c.MaxWorlds = max(1, n) } }

// WithMaxRows limits how many records a world stores beside those that it began with: regulatory requests,
// entries of the ledger, webhooks, rates. A further one is refused. The default is 20,000: as requests,
// which are the largest, they take some 200 MB. What a scenario brings along does not count.
func WithMaxRows(n int) Option { return func(c *config) { c.MaxRows = max(0, n) } }

// WithMaxBytes limits how much memory the regulatory requests and webhooks of a world take, together with those of
// the snapshots that it keeps by name, as far as it can be told from their JSON. A change that would take more is
// refused. The default is 256 MiB. What a scenario brings along does not count.
func WithMaxBytes(bytes int64) Option { return func(c *config) { c.MaxBytes = max(0, bytes) } }

// WithMaxJournal limits how much memory the journals of all worlds take together. Beyond it nothing is refused:
// a world goes on writing over its oldest calls, fewer than [WithJournal] says, and remembers less of their
// bodies, until it is reset or others are closed. GET /_mock/calls says so. The default is 128 MiB.
func WithMaxJournal(bytes int64) Option { return func(c *config) { c.Memory.Most = max(0, bytes) } }
