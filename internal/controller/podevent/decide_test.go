package podevent_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/podevent"
)

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
