package trace

import (
	"crypto/tls"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Settings are where spans go. The zero value is nowhere.
type Settings struct {
	URL      string
	Headers  map[string]string
	Gzip     bool
	Resource []Attribute // what the spans are of
	TLS      *tls.Config // nil: as for any server
}

// On reports whether spans go anywhere.
func (s Settings) On() bool { return s.URL != "" }

// Read reads the settings from the variables that OpenTelemetry has for them. What cannot be followed is an error, and
// nothing is sent then.
func Read(getenv func(string) string, cluster, release string) (Settings, error) {
	if yes := strings.ToLower(getenv("OTEL_SDK_DISABLED")); yes == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return Settings{}, nil
	}
	first := func(names ...string) (string, string) {
		for _, n := range names {
			if v := getenv(n); v != "" {
				return n, v
			}
		}
		return names[len(names)-1], ""
	}
	var s Settings
	name, at := first("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
	if at == "" {
		return s, nil
	}
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return s, fmt.Errorf("%s is no URL such as http://collector:4318: no spans are sent", name)
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
		u = u.JoinPath("v1", "traces")
	}
	if name, protocol := first("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"); protocol == "grpc" {
		return s, fmt.Errorf("%s is grpc, and this program sends OTLP over HTTP as JSON, which collectors take at port 4318: no spans are sent", name)
	}
	name, compression := first("OTEL_EXPORTER_OTLP_TRACES_COMPRESSION", "OTEL_EXPORTER_OTLP_COMPRESSION")
	if compression != "" && compression != "none" && compression != "gzip" {
		return s, fmt.Errorf("%s is neither none nor gzip: no spans are sent", name)
	}
	name, text := first("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
	headers, ok := pairs(text)
	if !ok {
		return s, fmt.Errorf("%s cannot be read, want name=value, and commas between several: no spans are sent", name)
	}
	encryption, err := encrypted(first)
	if err != nil {
		return s, err
	}
	about, ok := pairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if !ok {
		return s, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES cannot be read, want name=value, and commas between several: no spans are sent")
	}
	_, service := first("OTEL_SERVICE_NAME")
	for k, v := range map[string]string{"service.name": "karpenter", "service.version": release, "k8s.cluster.name": cluster} {
		if about[k] == "" {
			about[k] = v
		}
	}
	if service != "" {
		about["service.name"] = service
	}
	s = Settings{URL: u.String(), Headers: headers, Gzip: compression == "gzip", TLS: encryption}
	for _, k := range slices.Sorted(maps.Keys(about)) {
		s.Resource = append(s.Resource, Attribute{k, about[k]})
	}
	return s, nil
}

// pairs reads name=value,name=value, where values may have characters as %2C.
func pairs(text string) (map[string]string, bool) {
	out := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		k, v, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(v))
		if k = strings.TrimSpace(k); !ok || k == "" || err != nil || strings.ContainsAny(k+value, "\r\n") {
			return nil, false
		}
		out[k] = value
	}
	return out, true
}
