// Package pki makes the certificates and kubeconfigs of one control plane and keeps them in its directory.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// A Pair is the two files of one certificate, or of one public and private key.
type Pair struct{ Cert, Key string }

// Files says where everything lies that the parts of a control plane need to trust each other.
type Files struct {
	CA, CAKey      string
	Server         Pair
	ServiceAccount Pair // Cert is the bare public key
	FrontProxy     Pair
	Admin          Pair
	Scheduler      Pair
	Controllers    Pair
	Machines       Pair
}

// Life is how long certificates last. No playground is used for so long.
const Life = 10 * 365 * 24 * time.Hour

// Ensure returns the files in dir and makes them first when they are not all there. What is there stays, so that
// kubeconfigs and tokens handed out by an earlier run are still good.
func Ensure(dir string, now time.Time) (Files, error) {
	at := func(name string) Pair {
		return Pair{Cert: filepath.Join(dir, name+".crt"), Key: filepath.Join(dir, name+".key")}
	}
	f := Files{
		CA: at("ca").Cert, CAKey: at("ca").Key,
		Server: at("kube-apiserver"), ServiceAccount: at("service-account"), FrontProxy: at("front-proxy-client"),
		Admin: at("admin"), Scheduler: at("kube-scheduler"), Controllers: at("kube-controller-manager"), Machines: at("machines"),
	}
	// The mark is written last: a run that died half way starts over.
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return f, nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return Files{}, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Files{}, err
	}
	if err := f.make(now); err != nil {
		return Files{}, fmt.Errorf("make certificates in %s: %w", dir, err)
	}
	return f, os.WriteFile(mark, nil, 0o600)
}

func (f Files) make(now time.Time) error {
	a, err := newAuthority(f.CA, f.CAKey, now)
	if err != nil {
		return err
	}
	if err := writeKeyPair(f.ServiceAccount); err != nil {
		return err
	}
	for _, c := range []struct {
		to     Pair
		name   string
		groups []string
		server bool
	}{
		{to: f.Server, name: "kube-apiserver", server: true},
		{to: f.FrontProxy, name: "front-proxy-client"},
		{to: f.Admin, name: "admin", groups: []string{"system:masters"}},
		{to: f.Scheduler, name: "system:kube-scheduler"},
		{to: f.Controllers, name: "system:kube-controller-manager"},
		// Every simulated machine speaks through one client, which no single node's rights would cover.
		{to: f.Machines, name: "tenon:machines", groups: []string{"system:masters"}},
	} {
		t := &x509.Certificate{
			Subject:     pkix.Name{CommonName: c.name, Organization: c.groups},
			KeyUsage:    x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
		}
		if c.server {
			t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
			t.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1), net.IPv6loopback}
			t.DNSNames = []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}
		}
		if err := a.issue(c.to, t); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	return nil
}

// An authority signs the certificates of one control plane.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
}

func newAuthority(certFile, keyFile string, now time.Time) (authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return authority{}, err
	}
	t := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "tenon playground"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(Life),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, key.Public(), key)
	if err != nil {
		return authority{}, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return authority{}, err
	}
	return authority{cert: cert, key: key, now: now}, errors.Join(writePEM(certFile, "CERTIFICATE", der), writeKey(keyFile, key))
}

// issue signs template for a fresh key and writes both to the files of p.
func (a authority) issue(p Pair, template *x509.Certificate) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = a.cert.NotBefore, a.cert.NotAfter
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		return err
	}
	return errors.Join(writePEM(p.Cert, "CERTIFICATE", der), writeKey(p.Key, key))
}

// writeKeyPair writes a fresh key and its bare public half.
func writeKeyPair(p Pair) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return err
	}
	return errors.Join(writePEM(p.Cert, "PUBLIC KEY", der), writeKey(p.Key, key))
}

func writeKey(file string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return writePEM(file, "EC PRIVATE KEY", der)
}

func writePEM(file, kind string, der []byte) error {
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600)
}
