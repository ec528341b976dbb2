package mockserver

import (
	"io"

	"github.com/shipping-go/shipping/mockserver/internal/world"
)

// SaveState and LoadState do what [WithState] does when the server ends and starts.
func (s *Server) SaveState(path string) error { return s.worlds.Save(path) }

func (s *Server) LoadState(path string) error { return s.worlds.Load(path) }

// Encode writes a snapshot as a state file has it, and DecodeSnapshot reads it.
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
