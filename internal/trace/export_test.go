package trace

import "net/http"

// Through has requests go through something else than a network.
func (e *Exporter) Through(t http.RoundTripper) { e.client.Transport = t }
