package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// cacertFlag declares the flag for a CA certificate, such as that of serve -tls.
func cacertFlag(f *flags) *string {
	return f.text("cacert", text{file: true}, "for https: also trust the CA certificate in this PEM `FILE`; serve -tls prints its path")
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
type wire struct {
	*http.Transport
	token func() string // for /_mock/ on another machine; a function, so that nothing prints it
}

// tokenFlag declares the flag for the token of /_mock/, which other machines need.
func tokenFlag(f *flags) *string {
	return f.text("token", text{}, "the `TOKEN` that serve printed, for a server on another machine or in a container")
}

// newWire returns a wire that also trusts the CA certificate in a file, if there is one.
func newWire(cacert, token string) (wire, error) {
	roots, err := trustedRoots(cacert)
	if err != nil {
		return wire{}, err
	}
	return wire{&http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}, func() string { return token }}, nil
}

// RoundTrip implements [http.RoundTripper]. Its error for an untrusted certificate names -cacert.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.Transport.RoundTrip(req)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return nil, fmt.Errorf("%w; add its CA certificate with -cacert FILE; serve -tls prints the path", err)
	}
	return resp, err
}
