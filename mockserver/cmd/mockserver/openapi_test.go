package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/shipping-go/shipping/mockserver"
)

func TestOpenAPI_PrintsTheDocumentOrWritesIt(t *testing.T) {
	t.Parallel()
	want, err := mockserver.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "openapi.json")
	noEnvironment := func(string) string { return "" }
	var printed, nothing, problems bytes.Buffer
	if code := run(t.Context(), []string{"openapi"}, noEnvironment, nil, &printed, &problems); code != exitOK {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	if code := run(t.Context(), []string{"openapi", "-o", file}, noEnvironment, nil, &nothing, &problems); code != exitOK {
		t.Fatalf("exit code %d: %s", code, problems.String())
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(printed.Bytes(), want) || !bytes.Equal(written, want) {
		t.Errorf("%d bytes printed, %d written; want the %d of the document", printed.Len(), len(written), len(want))
	}
	if nothing.Len() > 0 {
		t.Errorf("with -o it also prints %d bytes", nothing.Len())
	}
	nowhere := filepath.Join(t.TempDir(), "none", "openapi.json")
	if code := run(t.Context(), []string{"openapi", "-o", nowhere}, noEnvironment, nil, &nothing, &problems); code != exitFailure {
		t.Errorf("exit code %d for a file that cannot be written", code)
	}
}
