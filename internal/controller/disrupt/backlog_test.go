package disrupt

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// While many pods are being bound no others are moved, and where they are not bound, or always others come, it does not last.
func TestManyPodsThatWait(t *testing.T) {
	type look struct {
		after   time.Duration
		waiting int
		holds   bool
		why     string
	}
	for name, looks := range map[string][]look{
		"Few": {
			{0, manyPending - 1, false, "a few always wait"},
		},
		"Bound": {
			{0, 50_000, true, "they have only just come"},
			{time.Minute, 46_000, true, "some are bound"},
			{time.Minute, 44_000, true, "a tenth is"},
			{110 * time.Second, 30_000, true, "and more"},
			{110 * time.Second, 10_000, true, "and more"},
			{time.Minute, 99, false, "the rest may wait beside others"},
		},
		"Stuck": {
			{0, 50_000, true, "they have only just come"},
			{time.Minute, 50_000, true, "a machine takes as long"},
			{time.Minute, 49_999, false, "one of so many is no progress"},
		},
		"JustMany": {
			{0, manyPending, true, "a hundred are many"},
			{restless - time.Second, manyPending, true, "they have a second left"},
			{time.Second, manyPending, false, "none is bound"},
		},
		"Twice": {
			{0, 1000, true, "they have only just come"},
			{110 * time.Second, 2000, true, "twice as many as ever"},
			{110 * time.Second, 1801, true, "not quite a tenth is bound, but they have a time of their own"},
			{10 * time.Second, 1801, false, "which is over"},
		},
		"Tenth": {
			{0, 1000, true, "they have only just come"},
			{110 * time.Second, 900, true, "a tenth is bound"},
			{110 * time.Second, 900, true, "which gives the rest a time of their own"},
			{10 * time.Second, 900, false, "which is over"},
		},
		"MoreCome": {
			{0, 200, true, "they have only just come"},
			{time.Minute, 20_000, true, "the first of a large roll-out"},
			{110 * time.Second, 19_000, true, "these have a time of their own"},
			{time.Minute, 19_000, false, "they are not bound"},
		},
		"Steady": {
			{0, 5000, true, "they have only just come"},
			{time.Minute, 4600, true, "as many go as come"},
			{time.Minute, 5100, false, "and always will"},
			{time.Minute, 4700, false, "and always will"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b backlog
			now := noon
			for _, l := range looks {
				now = now.Add(l.after)
				if got := b.holds(l.waiting, now); got != l.holds {
					t.Errorf("with %d waiting at %s it holds: %t, want %t: %s", l.waiting, now.Sub(noon), got, l.holds, l.why)
				}
			}
		})
	}
}

// However their number goes up and down, others are moved in the end.
func TestABacklogEnds(t *testing.T) {
	for seed := range uint64(100) {
		dice := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same on every run
		var b backlog
		now, held := noon, true
		for held && now.Sub(noon) < 24*time.Hour {
			now = now.Add(119 * time.Second)
			held = b.holds(manyPending+dice.IntN(150_000), now)
		}
		if held {
			t.Errorf("seed %d: others stay for a day", seed)
		}
	}
}

func TestBacklogged(t *testing.T) {
	const now = 1_000_000
	b := world.NewBuilder()
	for i, p := range []world.Pod{
		{Waiting: true, Created: now - 3600, Planned: "n"},
		{Waiting: true, Created: now - 60},
		{Waiting: true, Created: now - 3600},                        // refused
		{Waiting: true, Created: now - int64(restless/time.Second)}, // it was young a second ago
		{Waiting: true, Created: now - 60, Gated: true},
		{Waiting: true, Created: now - 60, DaemonSet: "d"},
		{Created: now - 60}, // kube-scheduler has not looked at it
	} {
		p.Key = world.Key{Namespace: "d", Name: fmt.Sprint("p", i)}
		if err := b.SetPod(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := backlogged(b.Snapshot(now)); got != 2 {
		t.Errorf("%d wait for their places, want 2", got)
	}
}
