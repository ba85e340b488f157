package webhook

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"
)

// Keys of the Secret, as Karpenter's had them.
const (
	keyKey         = "server-key.pem"
	keyCertificate = "server-cert.pem"
	keyAuthority   = "ca-cert.pem"
)

// How long a certificate is good, and how long before its end there is a new one.
const (
	lifetime = 365 * 24 * time.Hour
	renewal  = 60 * 24 * time.Hour
)

// issue makes a certificate for a host, signed by an authority that is
// forgotten at once: no other can be made that the API server would trust.
func issue(host string, now time.Time) (map[string][]byte, error) {
	authorityKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of " + host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	signed, err := x509.CreateCertificate(rand.Reader, authority, authority, &authorityKey.PublicKey, authorityKey)
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	server, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, authorityKey)
	if err != nil {
		return nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		keyKey:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		keyCertificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server}),
		keyAuthority:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}),
	}, nil
}

// overlap returns an authority with the last one behind it, if that is still
// good. Other replicas serve a certificate of the last one until they see the
// new, and the API server has to trust it as long.
func overlap(authority, last []byte, now time.Time) []byte {
	block, _ := pem.Decode(last) // the newest is the first
	if block == nil {
		return authority
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil || !now.Before(c.NotAfter) {
		return authority
	}
	return slices.Concat(authority, pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes}))
}

// read returns the certificate that a Secret holds, or why it will not do for a host any more.
func read(data map[string][]byte, host string, now time.Time) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(data[keyCertificate], data[keyKey])
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(bytes.TrimSpace(data[keyAuthority])) {
		return nil, errors.New("it holds no authority")
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: pool, CurrentTime: now}); err != nil {
		return nil, err
	}
	if left := pair.Leaf.NotAfter.Sub(now); left < renewal {
		return nil, fmt.Errorf("it ends in %s", left.Round(time.Hour))
	}
	return &pair, nil
}
