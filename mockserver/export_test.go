package mockserver

import (
	"io"
)

// Encode is [Snapshot.Save] without a file, and DecodeSnapshot is [LoadSnapshot] without one.
func (s *Snapshot) Encode(out io.Writer) error {
	return encodeState(out, func(yield func(string, *snapshot) bool) { yield("snapshot", s.kept) })
}

func DecodeSnapshot(from io.Reader) (*Snapshot, error) {
	file, err := decodeState(from)
	if err != nil {
		return nil, err
	}
	kept, err := file.Worlds[0].snapshot()
	return &Snapshot{kept}, err
}
