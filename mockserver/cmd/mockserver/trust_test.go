package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every command that sends requests to a server also does so over https, with -cacert.
func TestTLS_WordsReachAServerThatTheyAreToldToTrust(t *testing.T) {
	t.Parallel()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	r := start(t, nil, "-json", "-tls", "-tls-ca", ca).world(t)
	if !strings.HasPrefix(r.URL, "https://127.0.0.1:") || r.CA != ca {
		t.Fatalf("%+v", r)
	}
	env := environ(r)
	words := [][]string{{"ready", r.URL}, {"env", "-url", r.URL}, {"conform", r.URL}}
	for _, word := range words {
		invoke(t, env, word...).want(t, exitFailure, "-cacert FILE")
		invoke(t, env, append(word, "-cacert", ca)...).want(t, exitOK)
		trusting := environ(r)
		trusting["MOCKSERVER_CACERT"] = ca
		invoke(t, trusting, word...).want(t, exitOK)
		invoke(t, env, append(word, "-cacert", "nowhere.pem")...).want(t, exitFailure, "nowhere.pem")
		invoke(t, env, append(word, "-cacert", file(t, "key.pem", "no PEM"))...).want(t, exitFailure, "no PEM certificate")
	}
	if got := asked(t, "-url", r.URL, "-cacert", ca); got["SSL_CERT_FILE"] != ca || got["SHIPPING_BASE_URL"] != r.URL {
		t.Errorf("env is %v", got)
	}
	invoke(t, env, "ready", strings.Replace(r.URL, "127.0.0.1", "localhost", 1), "-cacert", ca).want(t, exitOK)
}

// A script starts the server and waits for it, without a look at whether the authority is written already.
func TestTLS_ReadyWaitsForTheAuthorityToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	r := start(t, nil, "-json", "-tls", "-tls-ca", filepath.Join(dir, "early.pem")).world(t)
	waited := make(chan outcome, 1)
	go func() { waited <- invoke(t, nil, "ready", r.URL, "-cacert", ca, "-wait", "1m") }()
	if err := os.Rename(r.CA, ca); err != nil {
		t.Fatal(err)
	}
	(<-waited).want(t, exitOK)
}

func TestTLS_DoctorReachesAReceiverThatItIsToldToTrust(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(secure.Close)
	ca := file(t, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})))
	invoke(t, nil, "doctor", secure.URL, "-key", "k").want(t, exitFailure, "certificate")
	invoke(t, nil, "doctor", secure.URL, "-key", "k", "-patience", "1s", "-cacert", ca).want(t, exitFailure, "BAD   bad signature")
}

// Without -tls-ca the CA certificate is in a temporary file that serve prints, and is removed with the server.
func TestTLS_ItsAuthorityGoesWithTheServer(t *testing.T) {
	t.Parallel()
	d := start(t, nil, "-json", "-tls")
	ca := d.world(t).CA
	if _, err := os.Stat(ca); err != nil {
		t.Fatal(err)
	}
	d.stop()
	if ended := <-d.ended; ended.code != exitOK {
		t.Errorf("stopped with %+v", ended)
	}
	if _, err := os.Stat(ca); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", ca, err)
	}
	if greeting := start(t, nil, "-tls").printed; !strings.Contains(greeting, "--cacert ") || !strings.Contains(greeting, "https://127.0.0.1:") {
		t.Errorf("the greeting:\n%s", greeting)
	}
	invoke(t, nil, "serve", "-addr", "127.0.0.1:0", "-tls", "-tls-ca", filepath.Join(t.TempDir(), "no", "ca.pem")).want(t, exitFailure, "-tls-ca")
}
