package mockserver

import (
	"io"

	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// Encode is [Snapshot.Save] without a file, and DecodeSnapshot is [LoadSnapshot] without one.
func (s *Snapshot) Encode(out io.Writer) error {
	return world.EncodeState(out, func(yield func(string, *world.Snapshot) bool) { yield("snapshot", s.kept) })
}

func DecodeSnapshot(from io.Reader) (*Snapshot, error) {
	file, err := world.DecodeState(from)
	if err != nil {
		return nil, err
	}
	kept, err := file.Worlds[0].Snapshot()
	return &Snapshot{kept}, err
}

// JournalBytes returns the memory of the journals of all worlds.
func JournalBytes(s *Server) int64 { return s.config.Memory.Used.Load() }
