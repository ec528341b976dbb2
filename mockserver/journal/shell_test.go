//go:build unix

package journal_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/randomtest"
	"github.com/shipping-go/shipping/internal/shippingtest"
	"github.com/shipping-go/shipping/mockserver/internal/shell"
)

// texts are texts that a shell, printf or a terminal treats in a special way, and random bytes.
func texts(t *testing.T) []string {
	out := []string{
		"", "plain", "a b", "it's", `"quoted"`, "$HOME", "$(id)", "`id`", "a;id", "a|id", "a&id", "a>b", "*", "?", "~", "!!",
		"#", "-n", "-e", "--",
		"@file", "%s%d%%", `\`, `\n`, `\0`, `\c`, "'", "''", `'"'"'`, "a\nb", "\n", "a\n\n", "\t", "\r\n",
		"\x1b[31mred\x1b[0m", "\x07", "\x7f",
		"\u009b31m", "\u202eleft", "\u200b", "\ufeff", "\ufffd", "é", "日本", "\xff\xfe", "\x80\n", "\x01'\x02", "=cmd",
		"{a,b}", "[1-3]", "a=b", "\x1b1", "\x011",
	}
	const special = "'\"\\$`%\n!;|&()<>-@#\x00\x1b "
	random := randomtest.Random(t)
	for range 100 {
		text := make([]byte, random.IntN(40))
		for i := range text {
			text[i] = byte(random.IntN(256))
			if random.IntN(2) == 0 {
				text[i] = special[random.IntN(len(special))]
			}
		}
		out = append(out, string(text))
	}
	return out
}

// A shell reads every quoted text as one argument, and a terminal shows it as text. Bytes that no argument can contain,
// such as NUL, are written by a command.
func TestQuote_InARealShell(t *testing.T) {
	t.Parallel()
	var command, want strings.Builder
	for _, text := range texts(t) {
		quoted, printed := shell.Quote(text), shell.Print(text)
		if !shell.Visible(quoted) || !shell.Visible(printed) {
			t.Errorf("%q is written as %q and %q", text, quoted, printed)
		}
		command.WriteString("printf '%s|\\n' " + quoted + "\n" + printed + "; echo '|'\n")
		want.WriteString(strings.ReplaceAll(text, "\x00", "") + "|\n" + text + "|\n")
	}
	got := shippingtest.Must(exec.CommandContext(t.Context(), "sh", "-c", command.String()).Output())(t)
	shippingtest.Diff(t, "what the shell writes", want.String(), string(got))
}

func TestQuote_LeavesPlainTextAsItIs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "''", "POST": "POST", "http://127.0.0.1:4010/v1": "http://127.0.0.1:4010/v1", "a b": "'a b'", "it's": `'it'\''s'`,
		"a\x1bb": `"$(printf 'a\033b')"`,
	} {
		shippingtest.Diff(t, text, want, shell.Quote(text))
	}
}
