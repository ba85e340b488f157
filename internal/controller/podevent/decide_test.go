package podevent_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/podevent"
)

func TestDue(t *testing.T) {
	noon := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		why  string
		last time.Time
		want time.Duration
	}{
		"Never":   {"Nothing was written yet.", time.Time{}, 0},
		"Long":    {"A claim may be written to every five seconds.", noon.Add(-time.Minute), 0},
		"Soon":    {"It was written to a moment ago.", noon.Add(-time.Second), 4 * time.Second},
		"SetBack": {"The clock was set back: events count again at once, not when it has come round.", noon.Add(5 * time.Minute), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podevent.Due(tc.last, noon, 5*time.Second); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

// What is written late is written before a node could be taken as quiet for its lack.
func TestWindow(t *testing.T) {
	after := func(s int64) *int64 { return &s }
	for name, tc := range map[string]struct {
		why   string
		pool  *world.Pool
		quiet int64 // seconds for which nodes must have been quiet
	}{
		"NoPool":  {"Its pool has gone: only drains look at when pods came.", nil, disrupt.Calm},
		"Never":   {"It keeps its nodes, but drift waits for quiet ones.", &world.Pool{}, disrupt.Calm},
		"Long":    {"Nodes must have been quiet for long.", &world.Pool{Disruption: world.PoolDisruption{EmptyAfter: after(600), MoveAfter: after(600)}}, disrupt.Calm},
		"Least":   {"The shorter of two counts.", &world.Pool{Disruption: world.PoolDisruption{EmptyAfter: after(6), MoveAfter: after(600)}}, 6},
		"Other":   {"Whichever it is.", &world.Pool{Disruption: world.PoolDisruption{EmptyAfter: after(600), MoveAfter: after(6)}}, 6},
		"Between": {"Short of what the longer one needs.", &world.Pool{Disruption: world.PoolDisruption{MoveAfter: after(12)}}, 12},
	} {
		t.Run(name, func(t *testing.T) {
			const upstream = 5 * time.Second // Karpenter writes as often
			got := podevent.Window(tc.pool)
			if got < upstream || got >= time.Duration(tc.quiet)*time.Second || tc.quiet == disrupt.Calm && got != 2*upstream {
				t.Errorf("%s, where nodes must have been quiet for %d s: %s", got, tc.quiet, tc.why)
			}
		})
	}
}

func TestNodeOf(t *testing.T) {
	on := func(change ...func(*world.Pod)) *world.Pod {
		p := &world.Pod{Node: "n"}
		for _, f := range change {
			f(p)
		}
		return p
	}
	daemon := func(p *world.Pod) { p.DaemonSet = "log" }
	done := func(p *world.Pod) { p.Done = true }
	ending := func(p *world.Pod) { p.Terminating = true }
	tests := map[string]struct {
		why     string
		was, is *world.Pod
		want    string
	}{
		"Bound":    {"A pod came.", &world.Pod{}, on(), "n"},
		"Restart":  {"What was there before us has not come.", nil, on(), ""},
		"Done":     {"A pod has done its work.", on(), on(done), "n"},
		"Ending":   {"A pod goes.", on(), on(ending), "n"},
		"Still":    {"It goes only once.", on(ending), on(ending), ""},
		"Gone":     {"It has gone already, when it began to.", on(ending), nil, ""},
		"Vanished": {"A pod that was deleted by force has gone now.", on(), nil, "n"},
		"Daemon":   {"What runs everywhere says nothing of one node.", on(daemon), on(daemon, ending), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := podevent.NodeOf(cluster.Change{Kind: cluster.Pod, Was: tc.was, Is: tc.is}); got != tc.want {
				t.Errorf("%q, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
}
