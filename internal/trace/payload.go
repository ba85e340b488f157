package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strconv"
)

// The JSON form of OTLP. Names are those of its protocol buffers; numbers of 64 bits are text.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   resource     `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	resource struct {
		Attributes []keyValue `json:"attributes"`
	}
	scopeSpans struct {
		Scope scope  `json:"scope"`
		Spans []span `json:"spans"`
	}
	scope struct {
		Name string `json:"name"`
	}
	span struct {
		TraceID    string     `json:"traceId"`
		SpanID     string     `json:"spanId"`
		ParentID   string     `json:"parentSpanId,omitempty"`
		Name       string     `json:"name"`
		Kind       int        `json:"kind"` // 1: internal
		Start      string     `json:"startTimeUnixNano"`
		End        string     `json:"endTimeUnixNano"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	keyValue struct {
		Key   string   `json:"key"`
		Value anyValue `json:"value"`
	}
	anyValue struct {
		Text string `json:"stringValue"`
	}
)

// payload is a request with spans. Texts that are not valid are made so by the encoder.
func payload(about []Attribute, spans []Span) []byte {
	all := scopeSpans{Scope: scope{"tenon"}}
	for _, s := range spans {
		all.Spans = append(all.Spans, span{
			TraceID: s.Trace, SpanID: s.ID, ParentID: s.Parent, Name: s.Name, Kind: 1,
			Start: strconv.FormatInt(s.Begin.UnixNano(), 10), End: strconv.FormatInt(s.End.UnixNano(), 10), Attributes: keyValues(s.Attributes),
		})
	}
	body, _ := json.Marshal(request{[]resourceSpans{{Resource: resource{keyValues(about)}, ScopeSpans: []scopeSpans{all}}}}) // texts and lists always can be written
	return body
}

func keyValues(all []Attribute) []keyValue {
	out := make([]keyValue, len(all))
	for i, a := range all {
		out[i] = keyValue{a.Key, anyValue{a.Value}}
	}
	return out
}

// gzipped is a request as a collector takes it that is said to be compressed.
func gzipped(body []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // to memory
	_ = w.Close()
	return out.Bytes()
}
