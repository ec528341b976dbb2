package documents_test

import (
	"os"
	"strings"
	"testing"
)

func readText(t *testing.T, path string) string {
	t.Helper()
	fromRoot(t)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}
