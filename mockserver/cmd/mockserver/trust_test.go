package main

import (
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shipping-go/shipping/internal/shippingtest"
)

// TestMain lets the binary of the tests be the command: a process reads the certificates that it trusts only once.
func TestMain(m *testing.M) {
	if os.Getenv("MOCKSERVER_IS_THE_COMMAND") != "" {
		main()
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // most tests wait for processes
		panic(err)
	}
	os.Exit(m.Run())
}

// Every command that sends requests to a server also does so over https.
func TestTLS_CommandsTrustACA(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	r := start(t, nil, "-json", "-tls", "-tls-ca", ca).world(t)
	if !strings.HasPrefix(r.URL, "https://127.0.0.1:") || r.CA != ca {
		t.Fatalf("%+v", r)
	}
	localhost := strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
	for _, args := range [][]string{{"ready", r.URL}, {"ready", localhost}, {"env", "-url", r.URL}, {"conform", r.URL}} {
		invoke(t, environ(r), args...).want(t, exitFailure, "set SSL_CERT_FILE")
		trusting(t, ca, r, args...).want(t, exitOK)
	}
	invoke(t, map[string]string{
		"MOCKSERVER_ADDR": strings.TrimPrefix(r.URL, "https://"), "MOCKSERVER_TLS": "true", "MOCKSERVER_TLS_CA": ca,
	}, "ready").want(t, exitOK)
	receiver := httptest.NewTLSServer(noContent)
	t.Cleanup(receiver.Close)
	invoke(t, nil, "doctor", receiver.URL, "-key", "k").want(t, exitFailure, "set SSL_CERT_FILE")
	trusting(t, file(t, "ca.pem", certificate(receiver)), r, "doctor", receiver.URL, "-patience",
		"1m").want(t, exitFailure, "BAD   bad signature")
}

// trusting runs a command line in a process that trusts a certificate.
func trusting(t *testing.T, ca string, r ready, args ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), "MOCKSERVER_IS_THE_COMMAND=1", caVariable+"="+ca)
	for name, value := range environ(r) {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, _ := cmd.CombinedOutput() // the error is the exit code
	return outcome{code: cmd.ProcessState.ExitCode(), stdout: string(out)}
}

func certificate(server *httptest.Server) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
}

// Without -tls-ca the certificate is in a temporary file that serve prints, and is removed with the server.
func TestTLS_ItsCertificateGoesWithTheServer(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json", "-tls")
	ca := d.world(t).CA
	shippingtest.Must(os.Stat(ca))(t)
	d.stop()
	(<-d.ended).want(t, exitOK)
	if _, err := os.Stat(ca); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", ca, err)
	}
	shippingtest.Contains(t, "greeting", start(t, nil, "-tls").printed, "--cacert ", "https://127.0.0.1:")
	invoke(t, nil, "serve", "-addr", "127.0.0.1:0", "-tls", "-tls-ca",
		filepath.Join(t.TempDir(), "no", "ca.pem")).want(t, exitFailure, "-tls-ca")
}
