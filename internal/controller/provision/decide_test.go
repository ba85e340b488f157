package provision_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/provision"
)

func TestWindow(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	batch := provision.Batch{Idle: time.Second, Max: 10 * time.Second}
	tests := map[string]struct {
		why  string
		came []time.Duration
		want time.Duration
	}{
		"One":    {"A single pod waits for the idle time only.", []time.Duration{0}, time.Second},
		"Two":    {"Another pod starts the idle time again.", []time.Duration{0, 700 * time.Millisecond}, 1700 * time.Millisecond},
		"Stream": {"An endless stream is cut off.", []time.Duration{0, 5 * time.Second, 9500 * time.Millisecond}, 10 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var w provision.Window
			for _, d := range tc.came {
				w = w.Add(start.Add(d))
			}
			if got := w.Due(batch).Sub(start); got != tc.want {
				t.Errorf("due after %v, want %v: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestTriggerOf(t *testing.T) {
	waits := &world.Pod{UID: "1", Waiting: true}
	tests := map[string]struct {
		why    string
		change cluster.Change
		want   provision.Trigger
	}{
		"New":    {"A pod that begins to wait needs a verdict.", cluster.Change{Kind: cluster.Pod, Is: waits}, provision.Always},
		"Still":  {"One that waits already does not extend the window.", cluster.Change{Kind: cluster.Pod, Was: waits, Is: waits}, provision.Never},
		"Bound":  {"One that has a place needs none, but may have taken what a buffer held.", cluster.Change{Kind: cluster.Pod, Was: waits, Is: &world.Pod{UID: "1", Node: "n"}}, provision.IfBuffers},
		"Runs":   {"One that stays where it is takes nothing more.", cluster.Change{Kind: cluster.Pod, Was: &world.Pod{UID: "1", Node: "n"}, Is: &world.Pod{UID: "1", Node: "n", ReadyToServe: true}}, provision.Never},
		"Left":   {"One that leaves a node leaves room for a buffer.", cluster.Change{Kind: cluster.Pod, Was: &world.Pod{UID: "1", Node: "n"}}, provision.IfBuffers},
		"Buffer": {"Room that is to be held is looked for, and room that is not any more is free.", cluster.Change{Kind: cluster.Buffer}, provision.Always},
		"Gone":   {"Nor does one that is gone.", cluster.Change{Kind: cluster.Pod, Was: waits}, provision.Never},
		"Again":  {"Another pod of the same name is another pod.", cluster.Change{Kind: cluster.Pod, Was: waits, Is: &world.Pod{UID: "2", Waiting: true}}, provision.Always},
		"Volume": {"A pod whose volume is there at last is judged again.", cluster.Change{Kind: cluster.Pod, Was: &world.Pod{UID: "1", Waiting: true, Problems: []string{"x"}}, Is: waits}, provision.Always},
		"Node":   {"A machine that goes leaves its pods.", cluster.Change{Kind: cluster.Node}, provision.Always},
		"Pool":   {"A new pool matters to pending pods.", cluster.Change{Kind: cluster.Pool}, provision.IfWaits},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := provision.TriggerOf(tc.change); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}
