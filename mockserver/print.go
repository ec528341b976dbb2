package mockserver

import (
	"fmt"
	"io"
	"log/slog"
)

// Format prints the address of the world for every verb, and never its key, which contains its name. So does that of
// [Server].
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
