package mockserver

import (
	"fmt"
	"io"
	"log/slog"
)

// Format prints the address of the server for every verb, and never a key.
func (s *Server) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.label()) }

// LogValue returns the address of the server.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.label()) }

// MarshalText returns the address of the server, so that its JSON has no key.
func (s *Server) MarshalText() ([]byte, error) { return []byte(s.label()), nil }

func (s *Server) label() string {
	if s == nil || s.World == nil {
		return "mockserver.Server()"
	}
	return "mockserver.Server(" + s.URL + ")"
}

// Format prints the address of the world for every verb, and never its key, which contains its name.
func (w *World) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, w.label()) }

// LogValue returns the address of the world.
func (w *World) LogValue() slog.Value { return slog.StringValue(w.label()) }

// MarshalText returns the address of the world, so that its JSON has no key.
func (w *World) MarshalText() ([]byte, error) { return []byte(w.label()), nil }

func (w *World) label() string {
	if w == nil {
		return "mockserver.World()"
	}
	return "mockserver.World(" + w.URL + ")"
}
