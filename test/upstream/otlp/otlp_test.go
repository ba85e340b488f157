package otlp_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configgrpc"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/trace"
)

// collector is the receiver of a real one, and what comes after it: errs are what becomes of its first batches.
type collector struct {
	url string

	mu   sync.Mutex
	errs []error
	at   []time.Time
	got  chan ptrace.Traces
}

func (c *collector) take(_ context.Context, t ptrace.Traces) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Now())
	if n := len(c.at); n <= len(c.errs) {
		return c.errs[n-1]
	}
	kept := ptrace.NewTraces()
	t.CopyTo(kept)
	c.got <- kept
	return nil
}

func (c *collector) times() []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func start(t *testing.T, errs ...error) *collector {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	c := &collector{url: "http://" + at + "/v1/traces", errs: errs, got: make(chan ptrace.Traces, 16)}
	next, err := consumer.NewTraces(c.take)
	if err != nil {
		t.Fatal(err)
	}
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*otlpreceiver.Config)
	config.Protocols.GRPC = configoptional.None[configgrpc.ServerConfig]()
	config.Protocols.HTTP.GetOrInsertDefault().ServerConfig.NetAddr = confignet.AddrConfig{Endpoint: at, Transport: confignet.TransportTypeTCP}
	r, err := factory.CreateTraces(t.Context(), receivertest.NewNopSettings(factory.Type()), config, next)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Start(t.Context(), componenttest.NewNopHost()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

var begin = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func at(seconds float64) time.Time { return begin.Add(time.Duration(seconds * float64(time.Second))) }

// pod is one that waited for 20 seconds for a machine.
func pod() trace.Pod {
	return trace.Pod{
		Namespace: "default", Name: "web", UID: "0f7c9a3e-1b2c-4d5e-8f90-a1b2c3d4e5f6", Node: "n1",
		Created: begin, Seen: at(0.25), Decided: at(1.5), Bound: at(18), Running: at(20),
	}
}

func claim() *trace.Claim {
	return &trace.Claim{
		Name: "c1", Pool: "p", Shape: "m7i.large", Zone: "eu-west-1a", CapacityType: "spot",
		Created: at(2), Launched: at(4), Registered: at(10), Initialized: at(15),
	}
}

// tell has an exporter tell of pods, and returns how many it counts of each result once all are told of.
func tell(t *testing.T, env map[string]string, pods ...trace.Pod) map[string]float64 {
	t.Helper()
	settings, err := trace.Read(func(name string) string { return env[name] }, "demo", "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	metrics, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := trace.NewExporter(settings, metrics)
	e.ClaimOf = func(_ context.Context, node string) *trace.Claim {
		if node == "n1" {
			return claim()
		}
		return nil
	}
	done := make(chan struct{})
	e.Failed = func(err error) { t.Logf("told: %v", err) }
	for _, p := range pods {
		e.Ran(p)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		defer close(done)
		if err := e.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	limit := time.After(time.Minute)
	for again := time.NewTicker(20 * time.Millisecond); ; {
		got := counts(t, registry)
		all := 0.
		for _, n := range got {
			all += n
		}
		if all == float64(len(pods)) {
			again.Stop()
			stop()
			<-done
			return got
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("after a minute it counts %v", got)
		}
	}
}

func counts(t *testing.T, from prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if n := m.GetCounter().GetValue(); f.GetName() == metric.TracedPods && n > 0 {
				out[m.GetLabel()[0].GetValue()] = n
			}
		}
	}
	return out
}

// line is a span as the collector has it.
type line struct {
	Trace, Parent, Name string // Parent by its name
	Begin, End          time.Duration
	Attributes          map[string]any
}

func lines(t *testing.T, all ptrace.Traces) (out []line) {
	t.Helper()
	names := map[string]string{"": ""}
	each := func(do func(ptrace.Span)) {
		for _, r := range all.ResourceSpans().All() {
			for _, s := range r.ScopeSpans().All() {
				for _, span := range s.Spans().All() {
					do(span)
				}
			}
		}
	}
	each(func(s ptrace.Span) {
		id := s.TraceID().String() + s.SpanID().String()
		if names[id] != "" || s.SpanID().IsEmpty() || s.TraceID().IsEmpty() {
			t.Errorf("the id of %s is %q, that of %s as well", s.Name(), id, names[id])
		}
		names[id] = s.Name()
	})
	each(func(s ptrace.Span) {
		parent := ""
		if !s.ParentSpanID().IsEmpty() {
			if parent = names[s.TraceID().String()+s.ParentSpanID().String()]; parent == "" {
				t.Errorf("the parent of %s is not there", s.Name())
			}
		}
		if s.Kind() != ptrace.SpanKindInternal || s.Status().Code() != ptrace.StatusCodeUnset || s.EndTimestamp() < s.StartTimestamp() {
			t.Errorf("%s has kind %v, status %v, from %v until %v", s.Name(), s.Kind(), s.Status().Code(), s.StartTimestamp(), s.EndTimestamp())
		}
		out = append(out, line{
			s.TraceID().String(), parent, s.Name(), s.StartTimestamp().AsTime().Sub(begin), s.EndTimestamp().AsTime().Sub(begin), s.Attributes().AsRaw(),
		})
	})
	return out
}

// A collector reads the spans of a pod as they are meant: ids, links, times to the nanosecond, attributes.
func TestSpansAreRead(t *testing.T) {
	t.Parallel()
	for name, compression := range map[string]string{"Plain": "none", "Gzip": "gzip"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t)
			env := map[string]string{
				"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.url, "OTEL_EXPORTER_OTLP_COMPRESSION": compression, "OTEL_RESOURCE_ATTRIBUTES": "team=a%2Cb",
			}
			if got, want := tell(t, env, pod()), (map[string]float64{"sent": 1}); !cmp.Equal(got, want) {
				t.Fatalf("it counts %v, want %v", got, want)
			}
			got := <-c.got
			about := got.ResourceSpans().At(0).Resource().Attributes().AsRaw()
			want := map[string]any{"service.name": "karpenter", "service.version": "v1.2.3", "k8s.cluster.name": "demo", "team": "a,b"}
			if diff := cmp.Diff(want, about); diff != "" || got.ResourceSpans().Len() != 1 {
				t.Errorf("the spans are of -want +got\n%s", diff)
			}
			id := "0f7c9a3e1b2c4d5e8f90a1b2c3d4e5f6"
			node := map[string]any{"k8s.node.name": "n1"}
			machine := map[string]any{
				"karpenter.nodeclaim": "c1", "karpenter.nodepool": "p", "host.type": "m7i.large", "cloud.availability_zone": "eu-west-1a", "karpenter.capacity_type": "spot",
			}
			all := map[string]any{"k8s.pod.name": "web", "k8s.namespace.name": "default", "k8s.pod.uid": "0f7c9a3e-1b2c-4d5e-8f90-a1b2c3d4e5f6", "k8s.node.name": "n1"}
			for k, v := range machine {
				all[k] = v
			}
			s, none := time.Second, map[string]any{}
			if diff := cmp.Diff([]line{
				{id, "", "pod", 0, 20 * s, all},
				{id, "pod", "observe", 0, s / 4, none},
				{id, "pod", "decide", s / 4, 3 * s / 2, none},
				{id, "pod", "ask", 3 * s / 2, 2 * s, machine},
				{id, "pod", "launch", 2 * s, 4 * s, machine},
				{id, "pod", "register", 4 * s, 10 * s, machine},
				{id, "pod", "initialize", 10 * s, 15 * s, machine},
				{id, "pod", "bind", 15 * s, 18 * s, node},
				{id, "pod", "start", 18 * s, 20 * s, none},
			}, lines(t, got)); diff != "" {
				t.Errorf("it reads -want +got\n%s", diff)
			}
		})
	}
}

// Names that no API server would let through, ids that are no uid, and clocks that disagree are no reason to refuse a request.
func TestOddPodsAreRead(t *testing.T) {
	t.Parallel()
	c := start(t)
	odd := trace.Pod{
		Namespace: "a\"b\\<script>", Name: "\x1b[2J\xff\u2028", UID: "no uid", Node: "elsewhere",
		Created: at(5), Seen: at(0.25), Decided: at(0.1), Bound: at(4), Running: at(4.5),
	}
	if got, want := tell(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.url}, odd, pod()), (map[string]float64{"sent": 2}); !cmp.Equal(got, want) {
		t.Fatalf("it counts %v, want %v", got, want)
	}
	all := lines(t, <-c.got)
	first := all[0]
	want := map[string]any{"k8s.pod.name": "\x1b[2J\ufffd\u2028", "k8s.namespace.name": "a\"b\\<script>", "k8s.pod.uid": "no uid", "k8s.node.name": "elsewhere"}
	if diff := cmp.Diff(want, first.Attributes); diff != "" || first.Begin != time.Second/4 || first.End != 4500*time.Millisecond {
		t.Errorf("the pod is from %v until %v, -want +got\n%s", first.Begin, first.End, diff)
	}
	traces := map[string]int{}
	for _, l := range all {
		traces[l.Trace]++
	}
	if len(traces) != 2 {
		t.Errorf("the traces of two pods are %v", traces)
	}
}

// A collector that is busy is asked again, as late as it says, and one that will never take a request is not.
func TestRefusals(t *testing.T) {
	t.Parallel()
	wait, err := status.New(codes.ResourceExhausted, "full").WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		why   string
		err   error
		want  string
		asked int
		after time.Duration
	}{
		"Unavailable": {"503 is asked again.", status.Error(codes.Unavailable, "starting"), "sent", 2, time.Second},
		"Full":        {"429 is asked again, not before the time that the collector says.", wait.Err(), "sent", 2, 3 * time.Second},
		"Refused":     {"400 is not.", status.Error(codes.InvalidArgument, "no"), "failed", 1, 0},
		"Broken":      {"500 is not.", consumererror.NewPermanent(http.ErrBodyNotAllowed), "failed", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := start(t, tc.err)
			got := tell(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.url}, pod())
			at := c.times()
			if got[tc.want] != 1 || len(at) != tc.asked {
				t.Fatalf("%s\nit counts %v after %d requests", tc.why, got, len(at))
			}
			if len(at) > 1 && at[1].Sub(at[0]) < tc.after {
				t.Errorf("%s\nit came back after %v, want at least %v", tc.why, at[1].Sub(at[0]), tc.after)
			}
		})
	}
}

// An answer that some spans were refused, as the collector's own code writes it, is understood, and nothing is sent twice.
func TestPartialSuccess(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		refused int64
		message string
		want    string
	}{"Some": {3, "too old \x1b[2J", "partly"}, "Advice": {0, "use protocol buffers", "sent"}, "All": {0, "", "sent"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := ptraceotlp.NewExportResponse()
			answer.PartialSuccess().SetRejectedSpans(tc.refused)
			answer.PartialSuccess().SetErrorMessage(tc.message)
			body, err := answer.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			asked := 0
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				asked++
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(body)
			}))
			defer s.Close()
			got := tell(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": s.URL}, pod())
			if got[tc.want] != 1 || asked != 1 {
				t.Errorf("told %s, it counts %v after %d requests", body, got, asked)
			}
		})
	}
}
