package mockserver

// instruments are what a test watches and disturbs a world with. Every world has its own, and a fork
// begins with fresh ones.
type instruments struct {
	calls  *journal
	faults *faultBook
	// keyPrint is what the journal shows of the world's key.
	keyPrint string
	// responseCheck says what is wrong with an answer by the OpenAPI document; nil where answers are
	// not checked.
	responseCheck func(operation string, status int, body []byte) error
}

// newInstruments returns the instruments of a world that follows from a seed and opens with a key.
func newInstruments(c *config, seed uint64, key string) instruments {
	return instruments{
		calls:  newJournal(c.journal, c.journalBody),
		faults: newFaultBook(seed),

		keyPrint: fingerprint(key),
	}
}
