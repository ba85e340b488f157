package trace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tenon-sh/tenon/internal/metric"
)

const (
	// backlog is how many pods may wait to be told of before more are dropped.
	backlog = 2048
	// atOnce is how many are told of in one request, and soon how long it is waited for more.
	atOnce = 256
	soon   = 2 * time.Second
	// patience is how long the collector may take to answer.
	patience = 10 * time.Second
	// tries is how often a request is sent, firstWait how long it is waited after the first.
	tries     = 4
	firstWait = time.Second
)

// Exporter sends the spans of pods to a collector.
type Exporter struct {
	// ClaimOf is the machine that a pod runs on; nil if it has no claim. It is called by one goroutine at a time.
	ClaimOf func(ctx context.Context, node string) *Claim
	// Failed is told once when nothing can be sent any more, and again once it could.
	Failed func(error)

	settings Settings
	metrics  *metric.Set
	queue    chan Pod
	client   *http.Client
	silent   atomic.Bool
}

// NewExporter returns an Exporter. It sends nothing before Start.
func NewExporter(s Settings, m *metric.Set) *Exporter {
	return &Exporter{settings: s, metrics: m, queue: make(chan Pod, backlog), client: &http.Client{
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers may hold a secret
	}}
}

// Ran tells of a pod that runs. It does not wait.
func (e *Exporter) Ran(p Pod) {
	select {
	case e.queue <- p:
	default:
		e.metrics.Add(metric.TracedPods, 1, "dropped")
	}
}

// NeedLeaderElection is the manager's: what is told is told by the replica that acts.
func (e *Exporter) NeedLeaderElection() bool { return false }

// Start sends until ctx ends. What still waits then is sent once.
func (e *Exporter) Start(ctx context.Context) error {
	defer e.client.CloseIdleConnections()
	for {
		select {
		case p := <-e.queue:
			e.send(ctx, e.more(ctx, []Pod{p}))
		case <-ctx.Done():
			last, stop := context.WithTimeout(context.WithoutCancel(ctx), soon)
			defer stop()
			if rest := e.rest(nil); len(rest) > 0 {
				e.send(last, rest)
			}
			return nil
		}
	}
}

// more waits a moment for further pods.
func (e *Exporter) more(ctx context.Context, batch []Pod) []Pod {
	enough := time.NewTimer(soon)
	defer enough.Stop()
	for len(batch) < atOnce {
		select {
		case p := <-e.queue:
			batch = append(batch, p)
		case <-enough.C:
			return batch
		case <-ctx.Done():
			return e.rest(batch)
		}
	}
	return batch
}

// rest is what waits now, as much as goes into one request.
func (e *Exporter) rest(batch []Pod) []Pod {
	for len(batch) < atOnce {
		select {
		case p := <-e.queue:
			batch = append(batch, p)
		default:
			return batch
		}
	}
	return batch
}

// send sends the spans of pods, again if the collector may take them later.
func (e *Exporter) send(ctx context.Context, batch []Pod) {
	var spans []Span
	for _, p := range batch {
		var c *Claim
		if e.ClaimOf != nil {
			c = e.ClaimOf(ctx, p.Node)
		}
		spans = append(spans, Spans(p, c)...)
	}
	body := payload(e.settings.Resource, spans)
	wait := firstWait
	for n := 1; ; n++ {
		again, err := e.post(ctx, body)
		if err == nil {
			e.metrics.Add(metric.TracedPods, float64(len(batch)), "sent")
			e.tell(nil)
			return
		}
		if !again || n == tries || ctx.Err() != nil {
			e.metrics.Add(metric.TracedPods, float64(len(batch)), "failed")
			e.tell(err)
			return
		}
		pause := time.NewTimer(wait)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
		}
		wait *= 2
	}
}

// tell says that nothing is sent any more, or that it is again, once.
func (e *Exporter) tell(err error) {
	if was := e.silent.Swap(err != nil); was != (err != nil) && e.Failed != nil {
		e.Failed(err)
	}
}

// mostAnswer is how much of an answer is read.
const mostAnswer = 4 << 10

// post sends a request, and reports whether it may go better later.
func (e *Exporter) post(ctx context.Context, body []byte) (again bool, err error) {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.URL, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for k, v := range e.settings.Headers {
		r.Header.Set(k, v)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return true, fmt.Errorf("send spans: %w", err)
	}
	said, readErr := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err := errors.Join(readErr, answer.Body.Close()); err != nil {
		return true, fmt.Errorf("send spans: %w", err)
	}
	switch code := answer.StatusCode; {
	case code/100 == 2:
		return false, nil
	default:
		again = code == http.StatusTooManyRequests || code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
		return again, fmt.Errorf("send spans: the collector answers %s: %q", answer.Status, said)
	}
}

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
