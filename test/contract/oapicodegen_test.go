package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/oapi-codegen/runtime" // what the generated client imports

	"github.com/shipping-go/shipping/mockserver"
)

// A client that oapi-codegen generates from the document builds and works against the server.
// skip-prune keeps the schemas that only the document's webhooks use, which it would take for unused.
func TestOAPICodegen_GeneratedClientWorks(t *testing.T) {
	t.Parallel()
	srv := start(t, mockserver.WithVirtualClock(time.Time{}))
	// Inside the module, so that the generated code finds its imports in go.mod.
	dir, err := os.MkdirTemp("testdata", "generated-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	smoke, err := os.ReadFile(filepath.Join("testdata", "smoke.go.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), smoke, 0o666); err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(dir, "openapi.json")
	text, err := mockserver.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, text, 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, nil, "go", "tool", "oapi-codegen", "-generate", "types,client,skip-prune", "-package", "main",
		"-o", filepath.Join(dir, "client.go"), document)
	out := run(t, []string{"SHIPPING_BASE_URL=" + srv.URL, "SHIPPING_SECRET_KEY=" + srv.SecretKey},
		"go", "run", "./"+filepath.ToSlash(dir))
	if !strings.HasPrefix(out, "CUSTOMS of RD-") {
		t.Errorf("the generated client prints %q", out)
	}
	if err := srv.Check(); err != nil {
		t.Error(err)
	}
}

// run returns the output of a command. A command that fails also fails the test.
func run(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Env = append(os.Environ(), env...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, problems.String())
	}
	return string(out)
}
