package mockserver

import (
	"fmt"
	"io"
	"log/slog"
)

// Format prints the server as its address, under every verb: never a key.
func (s *Server) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, s.label()) }

// LogValue is what slog prints of the server: its address.
func (s *Server) LogValue() slog.Value { return slog.StringValue(s.label()) }

// MarshalText makes the server's JSON its address.
func (s *Server) MarshalText() ([]byte, error) { return []byte(s.label()), nil }

func (s *Server) label() string {
	if s == nil || s.World == nil {
		return "mockserver.Server()"
	}
	return "mockserver.Server(" + s.URL + ")"
}

// Format prints the world as its address, under every verb: never its key, which its name is a part of.
func (w *World) Format(to fmt.State, _ rune) { _, _ = io.WriteString(to, w.label()) }

// LogValue is what slog prints of the world: its address.
func (w *World) LogValue() slog.Value { return slog.StringValue(w.label()) }

// MarshalText makes the world's JSON its address.
func (w *World) MarshalText() ([]byte, error) { return []byte(w.label()), nil }

func (w *World) label() string {
	if w == nil {
		return "mockserver.World()"
	}
	return "mockserver.World(" + w.URL + ")"
}
