package trace

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// encrypted is how a collector is known, and what it knows this program by; nil: as any other server, and by nothing.
// Variables name files, of which the first that is set counts.
func encrypted(first func(names ...string) (name, value string)) (*tls.Config, error) {
	authority, authorities := first("OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE", "OTEL_EXPORTER_OTLP_CERTIFICATE")
	own, chain := first("OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE")
	secret, key := first("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "OTEL_EXPORTER_OTLP_CLIENT_KEY")
	if authorities == "" && chain == "" && key == "" {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if authorities != "" {
		data, err := os.ReadFile(authorities)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: no spans are sent", authority, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("%s: %s has no certificate in PEM: no spans are sent", authority, authorities)
		}
	}
	switch {
	case chain == "" && key == "":
		return c, nil
	case chain == "":
		return nil, fmt.Errorf("%s is set without %s: no spans are sent", secret, own)
	case key == "":
		return nil, fmt.Errorf("%s is set without %s: no spans are sent", own, secret)
	}
	if _, err := tls.LoadX509KeyPair(chain, key); err != nil {
		return nil, fmt.Errorf("%s, %s: %w: no spans are sent", own, secret, err)
	}
	c.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // read again, since it is renewed
		pair, err := tls.LoadX509KeyPair(chain, key)
		return &pair, err
	}
	return c, nil
}
