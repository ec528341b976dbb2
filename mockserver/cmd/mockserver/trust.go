package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// cacertFlag declares the flag that names an authority for https, such as that of serve -tls.
func cacertFlag(f *flags) *string {
	return f.text("cacert", text{file: true}, "for https: trust the authority in this PEM `FILE` too; serve -tls says where its own is")
}

// trustedRoots are the authorities of the system and that in a file; nil, which means those of the system,
// where no file is named.
func trustedRoots(cacert string) (*x509.CertPool, error) {
	if cacert == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(cacert)
	if err != nil {
		return nil, fmt.Errorf("-cacert: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil { // a system without any
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("-cacert: %s holds no certificate in PEM: name the file that serve -tls-ca wrote", cacert)
	}
	return roots, nil
}

// wire is how a word reaches a service.
type wire struct {
	*http.Transport
	token func() string // for /_mock/ on another machine; a function, so that nothing prints it
}

// tokenFlag declares the flag of the token that opens /_mock/ on another machine.
func tokenFlag(f *flags) *string {
	return f.text("token", text{}, "the `TOKEN` that serve prints, for a server on another machine or in a container")
}

// newWire returns a wire that also trusts the CA certificate in a file, if one is named.
func newWire(cacert, token string) (wire, error) {
	roots, err := trustedRoots(cacert)
	if err != nil {
		return wire{}, err
	}
	return wire{&http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}, func() string { return token }}, nil
}

// RoundTrip implements [http.RoundTripper]. It says what to do about a certificate that nobody vouches for.
func (w wire) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.Transport.RoundTrip(req)
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return nil, fmt.Errorf("%w; name the authority with -cacert FILE, as serve -tls does", err)
	}
	return resp, err
}
