package mockserver

import (
	"io"
)

// Encode is [Snapshot.Save] without a file, and DecodeSnapshot is [LoadSnapshot] without one.
func (s *Snapshot) Encode(out io.Writer) error {
	return encodeState(out, func(yield func(string, *Snapshot) bool) { yield("snapshot", s) })
}

func DecodeSnapshot(from io.Reader) (*Snapshot, error) {
	file, err := decodeState(from)
	if err != nil {
		return nil, err
	}
	return file.Worlds[0].snapshot()
}
