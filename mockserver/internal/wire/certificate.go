package wire

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// NewCertificate returns a CA certificate, as PEM, and a certificate that it signed for the names of this machine and
// for hosts. Both are valid for a year.
func NewCertificate(now time.Time, hosts []string) (authority []byte, certificate tls.Certificate, err error) {
	serial := func() (*big.Int, error) { return rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)) }
	from, until := now.Add(-time.Hour), now.AddDate(1, 0, 0)
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, certificate, err
	}
	number, err := serial()
	if err != nil {
		return nil, certificate, err
	}
	ca := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "mockserver, for tests only"}, NotBefore: from, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	caBytes, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, certificate, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, certificate, err
	}
	if number, err = serial(); err != nil {
		return nil, certificate, err
	}
	leaf := &x509.Certificate{
		SerialNumber: number, Subject: pkix.Name{CommonName: "localhost"}, NotBefore: from, NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	leafBytes, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return nil, certificate, err
	}
	authority = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caBytes})
	return authority, tls.Certificate{Certificate: [][]byte{leafBytes}, PrivateKey: key}, nil
}
