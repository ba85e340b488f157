package shadow

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

const start = 1_800_000_000

// scene is a World at a moment: pods by name on nodes by name, a node of a claim made at a time.
func scene(t *testing.T, at int64, pods map[string]string, made map[string]int64) *world.World {
	t.Helper()
	b := world.NewBuilder()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(b.SetCatalog(world.Catalog{Template: "t", Shapes: []world.Shape{{Name: "small", Offers: []world.Offer{{Zone: "a", CapacityType: label.Spot, Price: 70}}}}}))
	for name, node := range pods {
		must(b.SetPod(world.Pod{Key: world.Key{Name: name}, Node: node, Waiting: node == ""}))
	}
	for name, created := range made {
		must(b.SetNode(world.Node{Name: name, Claim: name, Labels: map[string]string{label.InstanceType: "small", label.Zone: "a", label.CapacityType: label.Spot}}))
		must(b.SetClaim(world.Claim{Name: name, Created: created}))
	}
	return b.Snapshot(at)
}

// buys is a plan of one node for each argument, which names its pods.
func buys(nodes ...string) plan.Plan {
	var p plan.Plan
	for _, pods := range nodes {
		a := plan.Ask{Price: 100}
		for _, name := range pods {
			a.Pods = append(a.Pods, world.Key{Name: string(name)})
		}
		p.New = append(p.New, a)
	}
	return p
}

func TestContest(t *testing.T) {
	waits := map[string]string{"a": "", "b": "", "c": ""}
	tests := map[string]struct {
		why  string
		play func(*testing.T, *contest)
		at   int64
		pods map[string]string
		made map[string]int64
		want *outcome
	}{
		"Settled": {
			why:  "What was bought instead is what the pods run on that came after.",
			play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), buys("ab", "c")) },
			at:   start + 60, pods: map[string]string{"a": "n", "b": "n", "c": "m"}, made: map[string]int64{"n": start + 1, "m": start + 2},
			want: &outcome{Pods: 3, Ours: 2, Theirs: 2, Cost: 200, TheyPay: 140},
		},
		"OldNode": {
			why:  "A node that was there is nothing bought.",
			play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), buys("ab")) },
			at:   start + 60, pods: map[string]string{"a": "n", "b": "m"}, made: map[string]int64{"n": start + 1, "m": start - 100},
			want: &outcome{Pods: 2, Ours: 1, Theirs: 1, Cost: 100, TheyPay: 70},
		},
		"Waiting": {
			why:  "While one waits nothing is settled.",
			play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), buys("ab")) },
			at:   start + 60, pods: map[string]string{"a": "n", "b": ""}, made: map[string]int64{"n": start + 1},
		},
		"TooLong": {
			why:  "A pod that waits for good holds nothing up.",
			play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), buys("ab")) },
			at:   start + 1000, pods: map[string]string{"a": "n", "b": ""}, made: map[string]int64{"n": start + 1},
			want: &outcome{Pods: 1, Ours: 1, Theirs: 1, Cost: 100, TheyPay: 70},
		},
		"Replanned": {
			why: "The same pods with one more are one plan, not two.",
			play: func(t *testing.T, c *contest) {
				c.enter(scene(t, start, waits, nil), buys("ab"))
				c.enter(scene(t, start+1, waits, nil), buys("abc"))
			},
			at: start + 60, pods: map[string]string{"a": "n", "b": "n", "c": "n"}, made: map[string]int64{"n": start + 1},
			want: &outcome{Pods: 3, Ours: 1, Theirs: 1, Cost: 100, TheyPay: 70},
		},
		"Further": {
			why: "Pods that come after something was bought are added.",
			play: func(t *testing.T, c *contest) {
				c.enter(scene(t, start, waits, nil), buys("ab"))
				c.enter(scene(t, start+5, waits, map[string]int64{"n": start + 1}), buys("c"))
			},
			at: start + 60, pods: map[string]string{"a": "n", "b": "n", "c": "n"}, made: map[string]int64{"n": start + 1},
			want: &outcome{Pods: 3, Ours: 2, Theirs: 1, Cost: 200, TheyPay: 70},
		},
		"Gone": {
			why:  "Pods that are gone settle nothing worth telling.",
			play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), buys("ab")) },
			at:   start + 60,
		},
		"Nothing": {why: "Nothing planned is no contest.", play: func(t *testing.T, c *contest) { c.enter(scene(t, start, waits, nil), plan.Plan{}) }, at: start + 60, pods: waits},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var c contest
			tc.play(t, &c)
			o, settled := c.settle(scene(t, tc.at, tc.pods, tc.made))
			if settled != (tc.want != nil) {
				t.Fatalf("%s\nsettled %v: %+v", tc.why, settled, o)
			}
			if tc.want == nil {
				return
			}
			if diff := cmp.Diff(*tc.want, o); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			if _, again := c.settle(scene(t, tc.at, tc.pods, tc.made)); again {
				t.Error("it is told twice")
			}
		})
	}
}
