package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
)

// Environment variables that clients of the service also read.
const (
	baseURLVariable   = "SHIPPING_BASE_URL"
	secretKeyVariable = "SHIPPING_SECRET_KEY"
)

// caVariable names a file of certificates that Go programs trust, except on macOS and Windows.
const caVariable = "SSL_CERT_FILE"

// keyFlag declares the flag of the secret key.
func keyFlag(env environment) cli.Flag {
	return env.text("key", "", "the secret key of the account", secretKeyVariable)
}

// baseURL returns the address of the service for a subcommand, without a trailing slash or version: the given address,
// or that of the environment, or the default address of serve.
func baseURL(given string, env environment) (string, error) {
	base := cmp.Or(given, env.get(baseURLVariable), "http://"+defaultAddr)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("invalid base address %q: write it as http://%s", base, defaultAddr)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the base address has a user, query or fragment: remove it, and set the key with -key or " +
			secretKeyVariable)
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// wire is the transport of a subcommand to a service.
type wire struct{ http.Transport }

func newWire() *wire {
	return &wire{http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}}
}

// RoundTrip implements [http.RoundTripper]. Its error for an untrusted certificate names the variable that makes Go
// trust it.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.Transport.RoundTrip(req)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return nil, fmt.Errorf("%w; set %s to the file of the certificate to trust, which serve -tls prints; "+
			"on macOS and Windows, add it to those that the system trusts", err, caVariable)
	}
	return resp, err
}

// askPatience limits one request to a server, even on a busy machine.
const askPatience = 30 * time.Second

// ask reads the data of a route of a mockserver into data.
func ask(ctx context.Context, cmd *cli.Command, base, route string, data any) error {
	w := newWire()
	defer w.CloseIdleConnections()
	if ca := cmd.String("tls-ca"); ca != "" && strings.HasPrefix(base, "https:") {
		text, err := os.ReadFile(ca)
		if err != nil {
			return fmt.Errorf("cannot read the certificate to trust: %w", err)
		}
		w.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		if !w.TLSClientConfig.RootCAs.AppendCertsFromPEM(text) {
			return fmt.Errorf("%s has no certificate in PEM format", ca)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+route, nil)
	if err != nil {
		return err
	}
	if token := cmd.String("token"); token != "" {
		req.Header.Set("X-Mock-Token", token)
	}
	resp, err := w.RoundTrip(req)
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		return fmt.Errorf("%s does not use TLS: use http%s, or start the server with -tls", base,
			strings.TrimPrefix(base, "https"))
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown && cmd.Name == "ready" {
		err = fmt.Errorf("%w, or name it with -tls-ca", err)
	}
	if err != nil {
		return fmt.Errorf("no mockserver responds on %s: %w; start one with mockserver serve", base, err)
	}
	defer resp.Body.Close()
	envelope := struct {
		Message string
		Data    any
	}{Data: data}
	err = json.NewDecoder(io.LimitReader(resp.Body, 8<<20)).Decode(&envelope)
	switch {
	case err != nil:
		return fmt.Errorf("the response of %s%s (%s) is not from a mockserver: %w: check scheme, port and path prefix",
			base, route, resp.Status, err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s refuses the request: %s (%s)", base, envelope.Message, resp.Status)
	}
	return nil
}
