package trace_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/trace"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

// pod is one that waited for 20 seconds.
func pod() trace.Pod {
	return trace.Pod{
		Namespace: "default", Name: "web", UID: "0f7c9a3e-1b2c-4d5e-8f90-a1b2c3d4e5f6", Node: "n",
		Created: at(0), Seen: at(0.2), Decided: at(1.5), Bound: at(18), Running: at(20),
	}
}

func TestSpans(t *testing.T) {
	claim := trace.Claim{Name: "c", Pool: "p", Created: at(2), Launched: at(4), Registered: at(10), Initialized: at(15)}
	older, late := claim, claim
	older.Created, older.Launched, older.Registered, older.Initialized = at(-30), at(-25), at(5), at(8)
	late.Initialized = at(19)
	unseen, undecided := pod(), pod()
	unseen.Seen, unseen.Decided = time.Time{}, time.Time{}
	undecided.Decided = time.Time{}
	tests := map[string]struct {
		why   string
		pod   trace.Pod
		claim *trace.Claim
		want  []string
	}{
		"New":       {"A machine was bought for it: what it waited for comes one after the other.", pod(), &claim, []string{"pod 0-20", "observe 0-0.2", "decide 0.2-1.5", "ask 1.5-2", "launch 2-4", "register 4-10", "initialize 10-15", "bind 15-18", "start 18-20"}},
		"OnItsWay":  {"Of a machine that was on its way, what was left is told.", pod(), &older, []string{"pod 0-20", "observe 0-0.2", "decide 0.2-1.5", "register 1.5-5", "initialize 5-8", "bind 8-18", "start 18-20"}},
		"There":     {"Of a node without a claim nothing is.", pod(), nil, []string{"pod 0-20", "observe 0-0.2", "decide 0.2-1.5", "bind 1.5-18", "start 18-20"}},
		"Late":      {"What came after it was bound it did not wait for.", pod(), &late, []string{"pod 0-20", "observe 0-0.2", "decide 0.2-1.5", "ask 1.5-2", "launch 2-4", "register 4-10", "bind 10-18", "start 18-20"}},
		"Undecided": {"It may find a place before it is decided about.", undecided, nil, []string{"pod 0-20", "observe 0-0.2", "bind 0.2-18", "start 18-20"}},
		"Unseen":    {"A pod that did not wait for us was bound.", unseen, &claim, []string{"pod 0-20", "bind 0-18", "start 18-20"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			ids := map[string]bool{}
			for _, s := range trace.Spans(tc.pod, tc.claim) {
				got = append(got, fmt.Sprintf("%s %v-%v", s.Name, s.Begin.Sub(start).Seconds(), s.End.Sub(start).Seconds()))
				if ids[s.ID] || len(s.ID) != 16 || s.Trace != "0f7c9a3e1b2c4d5e8f90a1b2c3d4e5f6" || (s.Parent == "") != (s.Name == "pod") {
					t.Errorf("the span is %+v", s)
				}
				ids[s.ID] = true
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
	ahead := pod()
	ahead.Created = at(30)
	for _, s := range trace.Spans(ahead, &claim) {
		if s.Begin.Before(at(0.2)) || s.End.Before(s.Begin) {
			t.Errorf("where the API server's clock is ahead, %s is from %v until %v", s.Name, s.Begin, s.End)
		}
	}
	if id := trace.ID("no uid"); len(id) != 32 {
		t.Errorf("of what is no uid the id is %q", id)
	}
}

func TestSettings(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		url  string
		says string
	}{
		"Off":      {nil, "", ""},
		"Base":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/x"}, "http://c:4318/x/v1/traces", ""},
		"Exact":    {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://t/in"}, "https://t/in", ""},
		"Disabled": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SDK_DISABLED": "true"}, "", ""},
		"None":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_TRACES_EXPORTER": "none"}, "", ""},
		"NoURL":    {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"}, "", "is no URL"},
		"GRPC":     {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, "", "is grpc"},
		"Zip":      {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"}, "", "OTEL_EXPORTER_OTLP_COMPRESSION is neither none nor gzip"},
		"Headers":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_EXPORTER_OTLP_HEADERS": "secret"}, "", "OTEL_EXPORTER_OTLP_HEADERS cannot be read"},
		"Newline":  {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_RESOURCE_ATTRIBUTES": "a=%0A"}, "", "OTEL_RESOURCE_ATTRIBUTES cannot be read"},
	} {
		s, err := trace.Read(func(n string) string { return tc.env[n] }, "demo", "v1")
		if s.URL != tc.url || (err == nil) != (tc.says == "") || err != nil && (!strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	env := map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "none", "OTEL_EXPORTER_OTLP_TRACES_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTEL_SERVICE_NAME": "tenon", "OTEL_RESOURCE_ATTRIBUTES": "team=a%2Cb, k8s.cluster.name=other", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Basic%20x"}
	s, err := trace.Read(func(n string) string { return env[n] }, "demo", "v1")
	want := []trace.Attribute{{Key: "k8s.cluster.name", Value: "other"}, {Key: "service.name", Value: "tenon"}, {Key: "service.version", Value: "v1"}, {Key: "team", Value: "a,b"}}
	if diff := cmp.Diff(want, s.Resource); diff != "" || err != nil || s.Headers["Authorization"] != "Basic x" || !s.Gzip {
		t.Errorf("it reads %+v (%v): -want +got\n%s", s, err, diff)
	}
}

// collector answers in turn what is asked of it, and keeps what it was sent.
type collector struct {
	mu      sync.Mutex
	answers []int
	after   string // Retry-After
	says    string
	bodies  []string
	at      []time.Time
	headers http.Header
	asked   int
}

// RoundTrip is http.RoundTripper's: a collector without a network, so that time may be virtual.
func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Context().Err()); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	code := http.StatusOK
	if c.asked < len(c.answers) {
		code = c.answers[c.asked]
	}
	c.asked++
	c.headers, c.at = r.Header, append(c.at, time.Now())
	switch code {
	case 0:
		c.mu.Unlock()
		<-r.Context().Done() // it does not answer
		c.mu.Lock()
		return nil, r.Context().Err()
	case http.StatusOK:
		c.bodies = append(c.bodies, string(body))
	}
	w := httptest.NewRecorder()
	if c.after != "" {
		w.Header().Set("Retry-After", c.after)
		w.Header().Set("Date", "Fri, 02 Jan 2026 03:04:05 GMT")
	}
	w.WriteHeader(code)
	_, _ = w.WriteString(orElse(c.says, "because \x1b[2J"))
	return w.Result(), nil
}

// What a collector is sent is OTLP; where it is slow, away or refuses, callers do not wait, and what is lost is counted.
func TestExporter(t *testing.T) {
	for name, tc := range map[string]struct {
		why                   string
		answers               []int
		pods                  int
		sent, failed, dropped float64
		told                  int
	}{
		"Takes":    {"All is sent, in few requests.", nil, 300, 300, 0, 0, 0},
		"Busy":     {"A collector that is busy is asked again.", []int{503, 429}, 5, 5, 0, 0, 0},
		"Refuses":  {"One that refuses is not, and that is told once.", []int{400, 400}, 300, 0, 300, 0, 1},
		"Away":     {"One that does not answer loses what it was sent, after some tries.", []int{0, 0, 0, 0}, 5, 0, 5, 0, 1},
		"Mends":    {"When it answers again that is told, too.", []int{400}, 300, 44, 256, 0, 2},
		"TooMany":  {"What does not fit is dropped.", nil, 2500, 2048, 0, 452, 0},
		"Elsehere": {"It is followed nowhere else.", []int{307}, 1, 0, 1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				metrics, err := metric.New(registry, nil)
				if err != nil {
					t.Fatal(err)
				}
				c := &collector{answers: tc.answers}
				e := trace.NewExporter(trace.Settings{URL: "http://c/v1/traces", Headers: map[string]string{"X-Key": "secret"}, Resource: []trace.Attribute{{Key: "service.name", Value: "karpenter"}}}, metrics)
				e.Through(c)
				told := 0
				e.Failed = func(error) { told++ }
				began := time.Now()
				for range tc.pods {
					e.Ran(pod())
				}
				if waited := time.Since(began); waited > 0 {
					t.Errorf("a caller waits for %v", waited)
				}
				ctx, stop := context.WithCancel(t.Context())
				over := make(chan error)
				go func() { over <- e.Start(ctx) }()
				time.Sleep(5 * time.Minute)
				stop()
				if err := <-over; err != nil {
					t.Fatal(err)
				}
				for result, want := range map[string]float64{"sent": tc.sent, "failed": tc.failed, "dropped": tc.dropped} {
					if got := counted(t, registry, result); got != want {
						t.Errorf("%s\n%s: %v, want %v", tc.why, result, got, want)
					}
				}
				if told != tc.told || c.headers.Get("X-Key") != "secret" || c.headers.Get("Content-Type") != "application/json" {
					t.Errorf("told %d times, want %d; headers %v", told, tc.told, c.headers)
				}
				for _, body := range c.bodies {
					if !json.Valid([]byte(body)) || !strings.Contains(body, `"traceId":"0f7c9a3e1b2c4d5e8f90a1b2c3d4e5f6"`) || !strings.Contains(body, `"startTimeUnixNano":"1767323045000000000"`) {
						t.Errorf("it was sent %.500s", body)
					}
				}
			})
		})
	}
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// A collector is left alone for as long as it says, by its own clock, up to five minutes.
func TestRetryAfter(t *testing.T) {
	for name, tc := range map[string]struct {
		why, says string
		want      time.Duration
	}{
		"Silent":   {"A second, if it does not say.", "", time.Second},
		"Seconds":  {"As long as it says.", "30", 30 * time.Second},
		"Zero":     {"Never at once.", "0", time.Second},
		"Date":     {"Until a time by its clock.", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		"Past":     {"A time that is over is none.", "Fri, 02 Jan 2026 03:00:00 GMT", time.Second},
		"Long":     {"Not for ever.", "86400", 5 * time.Minute},
		"Nonsense": {"What cannot be read is not said.", "soon", time.Second},
		"Negative": {"Nor is what cannot be.", "-5", time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &collector{answers: []int{503}, after: tc.says}
				runFor(t, trace.Settings{URL: "http://c/v1/traces"}, c, 10*time.Minute)
				if len(c.at) != 2 || c.at[1].Sub(c.at[0]) != tc.want {
					t.Errorf("%s it was asked at %v, want %v between", tc.why, c.at, tc.want)
				}
			})
		})
	}
}

// runFor has an exporter tell a collector of a pod, and returns what it said of failures and what it counts.
func runFor(t *testing.T, s trace.Settings, c *collector, long time.Duration) (told []string, registry *prometheus.Registry) {
	t.Helper()
	registry = prometheus.NewRegistry()
	metrics, err := metric.New(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	e := trace.NewExporter(s, metrics)
	e.Through(c)
	e.Failed = func(err error) { told = append(told, fmt.Sprint(err)) }
	ctx, stop := context.WithTimeout(t.Context(), long)
	defer stop()
	e.Ran(pod())
	if err := e.Start(ctx); err != nil {
		t.Fatal(err)
	}
	return told, registry
}

// A collector may take a request and refuse some of its spans. That is said and counted, and they are not sent again.
func TestPartialSuccess(t *testing.T) {
	for name, tc := range map[string]struct {
		says, result, told string
	}{
		"All":      {`{}`, "sent", ""},
		"Empty":    {`{"partialSuccess":{}}`, "sent", ""},
		"Some":     {`{"partialSuccess":{"rejectedSpans":"2","errorMessage":"old \u001b[2J"}}`, "partly", `send spans: the collector refuses 2 of them: "old \x1b[2J"`},
		"Number":   {`{"partialSuccess":{"rejectedSpans":2}}`, "partly", `send spans: the collector refuses 2 of them: ""`},
		"Advice":   {`{"partialSuccess":{"rejectedSpans":"0","errorMessage":"advice"}}`, "sent", ""},
		"Negative": {`{"partialSuccess":{"rejectedSpans":"-2"}}`, "sent", ""},
		"Other":    {`<html>`, "sent", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &collector{says: tc.says}
				told, registry := runFor(t, trace.Settings{URL: "http://c/v1/traces"}, c, time.Minute)
				if got := strings.Join(told, "; "); got != tc.told || c.asked != 1 || counted(t, registry, tc.result) != 1 {
					t.Errorf("told %q, want %q; asked %d times, %s %v", got, tc.told, c.asked, tc.result, counted(t, registry, tc.result))
				}
			})
		})
	}
}

// A request may be compressed.
func TestGzip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{answers: []int{503}}
		runFor(t, trace.Settings{URL: "http://c/v1/traces", Gzip: true}, c, time.Minute)
		if len(c.bodies) != 1 || c.headers.Get("Content-Encoding") != "gzip" {
			t.Fatalf("it was sent %d requests, the last with %v", len(c.bodies), c.headers)
		}
		z, err := gzip.NewReader(strings.NewReader(c.bodies[0]))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(z)
		if err != nil || !json.Valid(body) {
			t.Errorf("it was sent %q (%v)", body, err)
		}
	})
}

// A pod that came to run just before the end is sent, too: further ones are not waited for any longer.
func TestThePodBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		_, registry := runFor(t, trace.Settings{URL: "http://c/v1/traces"}, c, time.Second)
		if counted(t, registry, "sent") != 1 || len(c.bodies) != 1 {
			t.Errorf("sent %v pods in %d requests", counted(t, registry, "sent"), len(c.bodies))
		}
	})
}

// What waits when the controller ends is sent once.
func TestTheLastPods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		e := trace.NewExporter(trace.Settings{URL: "http://c/v1/traces"}, nil)
		e.Through(c)
		e.ClaimOf = func(context.Context, string) *trace.Claim { return &trace.Claim{Name: "c1", Created: at(2)} }
		ctx, stop := context.WithCancel(t.Context())
		e.Ran(pod())
		stop()
		if err := e.Start(ctx); err != nil {
			t.Fatal(err)
		}
		if len(c.bodies) != 1 || !strings.Contains(c.bodies[0], `{"key":"karpenter.nodeclaim","value":{"stringValue":"c1"}}`) {
			t.Errorf("it was sent %q", c.bodies)
		}
	})
}

func counted(t *testing.T, from prometheus.Gatherer, result string) float64 {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == metric.TracedPods && m.GetLabel()[0].GetValue() == result {
				return m.GetCounter().GetValue()
			}
		}
	}
	return 0
}
