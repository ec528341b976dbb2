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

// keyFlag declares the flag of the secret key.
func keyFlag(env environment) cli.Flag {
	return env.text("key", "", "the secret key of the account", secretKeyVariable)
}

// cacertFlag declares the flag for a CA certificate, such as that of serve -tls.
func cacertFlag(env environment) cli.Flag {
	return env.text("cacert", "", "for https: a PEM file of a CA certificate to trust")
}

// tokenFlag declares the flag for the token of /_mock/, which other machines need.
func tokenFlag(env environment) cli.Flag {
	return env.text("token", "", "the token of serve, for a server on another machine")
}

// baseURL returns the address of the service for a subcommand, without a trailing slash or version: the given one, else
// that of the environment, else the default address of serve.
func baseURL(given string, env environment) (string, error) {
	base := cmp.Or(given, env(baseURLVariable), "http://"+defaultAddr)
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("invalid base address %q: write it as http://%s", base, defaultAddr)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the base address has a user, query or fragment: remove it, and set the key with -key or " + secretKeyVariable)
	}
	return strings.TrimSuffix(strings.TrimRight(u.String(), "/"), "/v1"), nil
}

// trustedRoots returns the CA certificates of the system and those in a file. Without a file it returns nil, which
// means those of the system.
func trustedRoots(cacert string) (*x509.CertPool, error) {
	if cacert == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(cacert)
	if err != nil {
		return nil, fmt.Errorf("-cacert: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // the system has none
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("-cacert: %s has no PEM certificate: use the file that serve -tls-ca wrote", cacert)
	}
	return roots, nil
}

// wire is the transport of a subcommand to a service.
type wire struct{ *http.Transport }

// newWire returns a wire that also trusts the CA certificate of -cacert, if it is set.
func newWire(cmd *cli.Command) (wire, error) {
	roots, err := trustedRoots(cmd.String("cacert"))
	return wire{&http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}}, err
}

// RoundTrip implements [http.RoundTripper]. Its error for an untrusted certificate names -cacert.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.Transport.RoundTrip(req)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return nil, fmt.Errorf("%w; add its CA certificate with -cacert FILE; serve -tls prints the path", err)
	}
	return resp, err
}

// askPatience limits one request to a server.
const askPatience = 2 * time.Second

// ask reads the data of a route of a mockserver into data.
func ask(ctx context.Context, cmd *cli.Command, base, route string, data any) error {
	w, err := newWire(cmd)
	if err != nil {
		return err
	}
	defer w.CloseIdleConnections()
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
		return fmt.Errorf("the response of %s%s (%s) is not from a mockserver: %w", base, route, resp.Status, err)
	case resp.StatusCode != http.StatusOK:
		return fmt.Errorf("%s refuses the request: %s (%s)", base, envelope.Message, resp.Status)
	}
	return nil
}
