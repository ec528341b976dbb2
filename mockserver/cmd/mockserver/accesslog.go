package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// accessLog returns the handler for a value of -log, or nil if nothing is to be logged.
func accessLog(form string, p program) slog.Handler {
	terminal := isTerminal(p.stderr)
	switch {
	case form == "json":
		return slog.NewJSONHandler(p.stderr, nil)
	case form == "text", form == "auto" && terminal:
		return &lines{out: p.stderr, terminal: terminal, coloured: terminal && p.getenv("NO_COLOR") == "" && p.getenv("TERM") != "dumb"}
	}
	return nil
}

// isTerminal reports whether w is a character device other than the null device.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// lines is a [slog.Handler] that writes each request as one line, with the parts of variable length last:
//
//	14:03:07 404   210µs GET  /v1/ratez  no route GET /v1/ratez: every path begins with /v1 and …
//
// On a terminal, if that line would exceed the width, the fault and the reason of a refusal follow on the next lines.
type lines struct {
	mu       sync.Mutex
	out      io.Writer
	terminal bool
	coloured bool
}

// Enabled implements [slog.Handler].
func (*lines) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs implements [slog.Handler]; attributes are ignored.
func (l *lines) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements [slog.Handler].
func (l *lines) WithGroup(string) slog.Handler { return l }

// Handle implements [slog.Handler].
func (l *lines) Handle(_ context.Context, r slog.Record) error {
	request := map[string]slog.Value{}
	r.Attrs(func(a slog.Attr) bool {
		request[a.Key] = a.Value
		return true
	})
	text := func(name string) string { return printable(request[name].String()) }
	status := request["status"].Int64()
	shown := fmt.Sprintf("%3d", status)
	if status == 0 {
		shown = "---" // a dropped connection
	}
	line := fmt.Sprintf("%s %s %7s %-4s %s", r.Time.Format(time.TimeOnly), l.colour(status, shown),
		rounded(request["duration"].Duration()), text("method"), text("path"))
	if world := text("world"); world != "home" {
		line += "  in " + world
	}
	for _, name := range []string{"fault", "refused"} {
		if _, there := request[name]; there {
			line += l.reason(text(name))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := io.WriteString(l.out, line+"\n")
	return err
}

// The layout of a reason on a terminal. A narrower terminal breaks the lines again.
const (
	reasonIndent = "\n         " // below the status
	reasonWidth  = 80 - len("         ")
)

// reason formats a text that follows the line of a request.
func (l *lines) reason(text string) string {
	if !l.terminal {
		return "  " + text
	}
	var out strings.Builder
	left := 0
	for word := range strings.FieldsSeq(text) {
		length := len([]rune(word))
		if left -= length + 1; left < 0 {
			out.WriteString(reasonIndent)
			left = reasonWidth - length
		} else {
			out.WriteByte(' ')
		}
		out.WriteString(word)
	}
	if !l.coloured {
		return out.String()
	}
	return "\x1b[2m" + out.String() + "\x1b[0m"
}

// colour colours a status: green for success, cyan for a redirect, yellow for a refusal, red for the rest.
func (l *lines) colour(status int64, shown string) string {
	if !l.coloured {
		return shown
	}
	code := map[int64]int{2: 32, 3: 36, 4: 33}[status/100]
	if code == 0 {
		code = 31
	}
	return fmt.Sprintf("\x1b[%dm%s\x1b[0m", code, shown)
}

// rounded rounds a duration to about three digits.
func rounded(d time.Duration) time.Duration {
	if d > time.Millisecond {
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
