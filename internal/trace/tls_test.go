package trace_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/internal/trace"
)

// keyPair writes a certificate that signs itself, and its key, into files.
func keyPair(t *testing.T, name string) (certificate, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	public, err := x509.CreateCertificate(rand.Reader, about, about, secret.Public(), secret)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	certificate, key = filepath.Join(t.TempDir(), name+".crt"), filepath.Join(t.TempDir(), name+".key")
	for path, b := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: public}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certificate, key
}

// A collector behind TLS is trusted by the authority that the variables name, and may ask for the sender's certificate.
func TestCollectorsBehindTLS(t *testing.T) {
	theirs, theirKey := keyPair(t, "collector")
	ours, ourKey := keyPair(t, "tenon")
	pair, err := tls.LoadX509KeyPair(theirs, theirKey)
	if err != nil {
		t.Fatal(err)
	}
	known := x509.NewCertPool()
	data, err := os.ReadFile(ours)
	if err != nil || !known.AppendCertsFromPEM(data) {
		t.Fatal(err)
	}
	took := make(chan struct{}, 1)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { took <- struct{}{} }))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: known}
	s.StartTLS()
	t.Cleanup(s.Close)
	env := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL, "OTEL_EXPORTER_OTLP_CERTIFICATE": "/passed/over", "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE": theirs,
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": ours, "OTEL_EXPORTER_OTLP_CLIENT_KEY": ourKey,
	}
	settings, err := trace.Read(func(n string) string { return env[n] }, "demo", "v1")
	if err != nil {
		t.Fatal(err)
	}
	e := trace.NewExporter(settings, nil)
	e.Failed = func(err error) {
		if !errors.Is(err, context.Canceled) { // the test is over, before the answer is here
			t.Error(err)
		}
	}
	e.Ran(pod())
	done := make(chan error, 1)
	go func() { done <- e.Start(t.Context()) }()
	select {
	case <-took:
	case <-time.After(time.Minute):
		t.Error("the collector has got nothing")
	}
	t.Cleanup(func() { // after the context has ended
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// Files that do not do are named, and nothing is sent.
func TestTLSThatCannotBe(t *testing.T) {
	certificate, key := keyPair(t, "tenon")
	const base = "OTEL_EXPORTER_OTLP_"
	for name, tc := range map[string]struct {
		env  map[string]string
		says string
	}{
		"Missing":  {map[string]string{base + "CERTIFICATE": "/nowhere.pem"}, base + "CERTIFICATE: open /nowhere.pem"},
		"NoPEM":    {map[string]string{base + "TRACES_CERTIFICATE": key}, base + "TRACES_CERTIFICATE: " + key + " has no certificate"},
		"NoKey":    {map[string]string{base + "CLIENT_CERTIFICATE": certificate}, base + "CLIENT_CERTIFICATE is set without " + base + "CLIENT_KEY"},
		"KeyAlone": {map[string]string{base + "TRACES_CLIENT_KEY": key}, base + "TRACES_CLIENT_KEY is set without " + base + "CLIENT_CERTIFICATE"},
		"Swapped":  {map[string]string{base + "CLIENT_CERTIFICATE": key, base + "CLIENT_KEY": certificate}, base + "CLIENT_CERTIFICATE, " + base + "CLIENT_KEY: "},
	} {
		tc.env[base+"ENDPOINT"] = "https://c:4318"
		s, err := trace.Read(func(n string) string { return tc.env[n] }, "demo", "v1")
		if s.On() || err == nil || !strings.Contains(err.Error(), tc.says) || !strings.HasSuffix(err.Error(), "no spans are sent") {
			t.Errorf("%s: %v, want %q", name, err, tc.says)
		}
	}
}
