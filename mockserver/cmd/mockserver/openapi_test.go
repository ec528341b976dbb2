package main

import (
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
	printed := invoke(t, nil, "openapi").want(t, exitOK).stdout
	if nothing := invoke(t, nil, "openapi", "-o", file).want(t, exitOK); nothing.stdout != "" {
		t.Errorf("with -o it also prints %d bytes", len(nothing.stdout))
	}
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if printed != string(want) || string(written) != string(want) {
		t.Errorf("%d bytes printed, %d written; want the %d of the document", len(printed), len(written), len(want))
	}
	invoke(t, nil, "openapi", "-o", filepath.Join(t.TempDir(), "none", "openapi.json")).want(t, exitFailure)
}
