package trace

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/tenon-sh/tenon/internal/metric"
)

const (
	// backlog is how many pods may wait to be sent before more are dropped.
	backlog = 2048
	// atOnce is how many are sent in one request, and soon how long it is waited for more.
	atOnce = 256
	soon   = 2 * time.Second
	// patience is how long the collector may take to answer.
	patience = 10 * time.Second
	// tries is how often a request is sent, firstWait how long it is waited after the first.
	tries     = 4
	firstWait = time.Second
	// longest is how long a collector may have it waited for that says when to come back.
	longest = 5 * time.Minute
)

// What came of a request is a value of the label of metric.TracedPods.
const (
	sent    = "sent"
	partly  = "partly" // the collector took the request and refused some of its spans
	failed  = "failed"
	dropped = "dropped"
)

// Exporter sends the spans of pods to a collector.
type Exporter struct {
	// ClaimOf is the machine that a pod runs on; nil if it has no claim. It is called by one goroutine at a time.
	ClaimOf func(ctx context.Context, node string) *Claim
	// Failed is called once when the collector does not take all spans any more, and with nil once it does again.
	Failed func(error)

	settings Settings
	metrics  *metric.Set
	queue    chan Pod
	client   *http.Client
	silent   atomic.Bool
}

// NewExporter returns an Exporter. It sends nothing before Start.
func NewExporter(s Settings, m *metric.Set) *Exporter {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.TLS
	return &Exporter{settings: s, metrics: m, queue: make(chan Pod, backlog), client: &http.Client{
		Transport:     transport,
		Timeout:       patience,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // headers may hold a secret
	}}
}

// Ran reports a pod that runs. It does not wait.
func (e *Exporter) Ran(p Pod) {
	select {
	case e.queue <- p:
	default:
		e.metrics.Add(metric.TracedPods, 1, dropped)
	}
}

// NeedLeaderElection is the manager's: spans are sent by the replica that acts.
func (e *Exporter) NeedLeaderElection() bool { return false }

// Start sends until ctx ends. What still waits then is sent once.
func (e *Exporter) Start(ctx context.Context) error {
	defer e.client.CloseIdleConnections()
	for {
		select {
		case p := <-e.queue:
			batch := e.more(ctx, []Pod{p})
			if ctx.Err() != nil {
				e.last(ctx, batch)
				return nil
			}
			e.send(ctx, batch)
		case <-ctx.Done():
			e.last(ctx, e.rest(nil))
			return nil
		}
	}
}

// last sends what still waits when ctx has ended.
func (e *Exporter) last(ctx context.Context, batch []Pod) {
	if len(batch) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), soon)
	defer stop()
	e.send(ctx, batch)
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
	result, err := e.deliver(ctx, payload(e.settings.Resource, spans))
	e.metrics.Add(metric.TracedPods, float64(len(batch)), result)
	e.report(err)
}

// deliver posts a request until the collector has taken it, or will not. It waits as long as the collector says, else
// twice as long each time.
func (e *Exporter) deliver(ctx context.Context, body []byte) (result string, err error) {
	if e.settings.Gzip {
		body = gzipped(body)
	}
	wait := firstWait
	for n := 1; ; n++ {
		a, err := e.post(ctx, body)
		switch {
		case err == nil:
			return sent, nil
		case a.taken:
			return partly, err
		case !a.again || n == tries || ctx.Err() != nil:
			return failed, err
		}
		pause := time.NewTimer(max(wait, min(a.after, longest)))
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return failed, err
		}
		wait *= 2
	}
}

// report says that not all is taken any more, or that it is again, once.
func (e *Exporter) report(err error) {
	if was := e.silent.Swap(err != nil); was != (err != nil) && e.Failed != nil {
		e.Failed(err)
	}
}
