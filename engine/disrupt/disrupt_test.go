package disrupt_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// noon is a Thursday.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC).Unix()

// machine is an initialized machine of pool p, quiet for a minute.
func machine(b *world.Builder, name string, change func(*world.Node, *world.Claim), pods ...world.Pod) {
	n := world.Node{Name: name, Ready: true, Claim: name, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}}
	c := world.Claim{Name: name, Pool: n.Pool, Node: name, Launched: true, Registered: true, Initialized: true, Created: noon - 3600, InitializedAt: noon - 60}
	if change != nil {
		change(&n, &c)
	}
	must(b.SetNode(n))
	must(b.SetClaim(c))
	for i, p := range pods {
		p.Key, p.Node = world.Key{Namespace: "d", Name: name + string(rune('a'+i))}, name
		must(b.SetPod(p))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func back(p plan.Plan) []string {
	var out []string
	for _, g := range p.Back() {
		out = append(out, g.Claim+" "+g.Reason)
	}
	return out
}

func TestDecide(t *testing.T) {
	wait := int64(30)
	usual := func(b *world.Builder) {
		must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{EmptyAfter: &wait}}))
	}
	tests := map[string]struct {
		why   string
		build func(*world.Builder)
		opts  disrupt.Options
		want  []string
		again int64 // after noon
	}{
		"Empty": {"Nothing runs there.", func(b *world.Builder) { machine(b, "a", nil) }, disrupt.Options{}, []string{"a Empty"}, 0},
		"Daemons": {
			"What runs on every node keeps none.",
			func(b *world.Builder) { machine(b, "a", nil, world.Pod{DaemonSet: "log"}, world.Pod{Static: true}) },
			disrupt.Options{},
			[]string{"a Empty"},
			0,
		},
		"Used": {"A pod keeps its machine.", func(b *world.Builder) { machine(b, "a", nil, world.Pod{}) }, disrupt.Options{}, nil, 0},
		"Worthless": {"A pod that says it is worth nothing does not.", func(b *world.Builder) {
			machine(b, "a", nil, world.Pod{Disruption: world.PodDisruption{DeletionCost: -1 << 31}})
		}, disrupt.Options{}, []string{"a Empty"}, 0},
		"Ending":   {"A pod that ends does not.", func(b *world.Builder) { machine(b, "a", nil, world.Pod{Terminating: true}) }, disrupt.Options{}, []string{"a Empty"}, 0},
		"Stateful": {"Unless it will be made again.", func(b *world.Builder) { machine(b, "a", nil, world.Pod{Terminating: true, StatefulOwner: true}) }, disrupt.Options{}, nil, 0},
		"Recent": {
			"It waits after the last pod came or went.",
			func(b *world.Builder) {
				machine(b, "a", func(_ *world.Node, c *world.Claim) { c.LastPodEvent = noon - 10 })
			},
			disrupt.Options{},
			nil, 20,
		},
		"Planned": {"Pods are on their way there.", func(b *world.Builder) { machine(b, "a", nil) }, disrupt.Options{Planned: []string{"a"}}, nil, 0},
		"Nominated": {"kube-scheduler promised it to a pod.", func(b *world.Builder) {
			machine(b, "a", nil)
			must(b.SetPod(world.Pod{Key: world.Key{Name: "w"}, Nominated: "a"}))
		}, disrupt.Options{}, nil, 0},
		"Forbidden": {"Its owner forbids it.", func(b *world.Builder) { machine(b, "a", func(n *world.Node, _ *world.Claim) { n.DoNotDisrupt = true }) }, disrupt.Options{}, nil, 0},
		"ForNow": {
			"A daemon pod forbids it for another while.",
			func(b *world.Builder) {
				machine(b, "a", nil, world.Pod{DaemonSet: "log", Started: noon - 60, Disruption: world.PodDisruption{ForbiddenFor: 100}})
			},
			disrupt.Options{},
			nil, 40,
		},
		"Starting": {"It is not initialized yet.", func(b *world.Builder) { machine(b, "a", func(_ *world.Node, c *world.Claim) { c.Initialized = false }) }, disrupt.Options{}, nil, 0},
		"Foreign": {
			"A node of someone else is never given back.",
			func(b *world.Builder) { must(b.SetNode(world.Node{Name: "x", Ready: true})) },
			disrupt.Options{},
			nil, 0,
		},
		"Static": {
			"A static pool keeps its number.",
			func(b *world.Builder) {
				n := 1
				must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Replicas: &n, Disruption: world.PoolDisruption{EmptyAfter: &wait}}))
				machine(b, "a", nil)
			},
			disrupt.Options{},
			nil, 0,
		},
		"Budget": {
			"Those that go already count.",
			func(b *world.Builder) {
				must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{EmptyAfter: &wait, Budgets: []world.Budget{{Nodes: "2"}}}}))
				machine(b, "a", nil)
				machine(b, "b", nil)
				machine(b, "c", func(n *world.Node, _ *world.Claim) { n.Deleting = true })
			},
			disrupt.Options{},
			[]string{"a Empty"},
			0,
		},
		"Expired": {
			"Age has no budget, and needs no node.",
			func(b *world.Builder) {
				must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{Budgets: []world.Budget{{Nodes: "0"}}}}))
				machine(b, "a", func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3600 }, world.Pod{Disruption: world.PodDisruption{Forbidden: true}})
				must(b.SetClaim(world.Claim{Name: "b", Created: noon - 100, ExpireAfter: 90}))
				must(b.SetClaim(world.Claim{Name: "c", Created: noon - 80, ExpireAfter: 90}))
			},
			disrupt.Options{AsIs: true},
			[]string{"a Expired", "b Expired"},
			10,
		},
		"BuyFirst": {
			"Where pods get another machine first, the old one waits for it, and for so long only; what has no pods that move goes at once.",
			func(b *world.Builder) {
				machine(b, "late", func(_ *world.Node, c *world.Claim) { c.ExpireAfter = noon - c.Created - disrupt.Overstay }, world.Pod{})
				machine(b, "soon", func(_ *world.Node, c *world.Claim) { c.ExpireAfter = noon - c.Created - disrupt.Overstay + 7 }, world.Pod{})
				machine(b, "daemons", func(_ *world.Node, c *world.Claim) { c.ExpireAfter = noon - c.Created }, world.Pod{DaemonSet: "d"})
				must(b.SetClaim(world.Claim{Name: "lost", Created: noon - 100, ExpireAfter: 90}))
			},
			disrupt.Options{},
			[]string{"daemons Expired", "late Expired", "lost Expired"},
			7,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			usual(b)
			tc.build(b)
			tc.opts.Only = []disrupt.Part{disrupt.Idling}
			p := disrupt.Decide(b.Snapshot(noon), tc.opts)
			if diff := cmp.Diff(tc.want, back(p)); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
			again := p.Again
			if again != 0 {
				again -= noon
			}
			if again != tc.again {
				t.Errorf("again after %d, want %d: %s", again, tc.again, tc.why)
			}
		})
	}
}

func FuzzSchedule(f *testing.F) {
	f.Add("*/5 0-23/2 ? jan-dec sun", int64(3600))
	f.Add("@weekly", int64(1<<40))
	f.Fuzz(func(_ *testing.T, text string, duration int64) {
		hold.Allowed([]world.Budget{{Nodes: "1", Schedule: text, Duration: duration % 1e8}}, plan.Empty, 5, noon)
	})
}
