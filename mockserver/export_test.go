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
	worlds, err := world.DecodeState(from)
	if err != nil {
		return nil, err
	}
	return &Snapshot{worlds[0].Snapshot}, nil
}

// JournalMemory returns how many bytes the journals of all worlds take, and WorldMemory how many the worlds do.
func (s *Server) JournalMemory() int64 { return s.config.Journals.Used.Load() }
func (s *Server) WorldMemory() int64   { return s.config.Memory.Used.Load() }

// LeaveMemory leaves so many bytes for further worlds and records.
func (s *Server) LeaveMemory(bytes int64) { s.config.Memory.Most = s.WorldMemory() + bytes }
