package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"time"
)

// NewCertificate returns a self-signed certificate for the names of this machine and for hosts, and the same as PEM for
// programs that must trust it. It is valid for a year.
func NewCertificate(now time.Time, hosts []string) (trusted []byte, certificate tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, certificate, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "mockserver, for tests only"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1,
			0, 0),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	// CreateCertificate draws a serial number.
	self, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, certificate, err
	}
	trusted = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: self})
	return trusted, tls.Certificate{Certificate: [][]byte{self}, PrivateKey: key}, nil
}
