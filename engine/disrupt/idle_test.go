package disrupt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// marked puts the mark on a node.
func marked(n *world.Node, _ *world.Claim) { n.Taints = append(n.Taints, begun.Mark()) }

// What is empty is marked, and goes once the mark is known everywhere; what is too old goes as it is. A mark that nothing
// accounts for comes off.
func TestMarksOfIdle(t *testing.T) {
	old := func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 60 }
	both := func(changes ...func(*world.Node, *world.Claim)) func(*world.Node, *world.Claim) {
		return func(n *world.Node, c *world.Claim) {
			for _, change := range changes {
				change(n, c)
			}
		}
	}
	for name, tc := range map[string]struct {
		why    string
		change func(*world.Node, *world.Claim)
		pods   []world.Pod
		known  int64 // for how many milliseconds the mark is known; 0: not yet
		want   string
	}{
		"New":       {"It is marked.", nil, nil, 0, "a Empty begin"},
		"Unknown":   {"A mark that was there before us is waited for as if it were new.", marked, nil, 0, "a Empty wait, begun, again in 2000"},
		"Young":     {"It may not be known everywhere.", marked, nil, 1999, "a Empty wait, begun, again in 1"},
		"Known":     {"It is.", marked, nil, 2000, "a Empty carry-on, begun"},
		"Old":       {"What is too old is not waited for.", old, nil, 0, "a Expired carry-on"},
		"OldMarked": {"Nor for its mark.", both(old, marked), nil, 0, "a Expired carry-on"},
		"Used":      {"A pod came after all: it stays.", marked, []world.Pod{{}}, 9000, "a take-back, begun"},
		"Going":     {"It ends already.", both(marked, func(_ *world.Node, c *world.Claim) { c.Deleting = true }), []world.Pod{{}}, 9000, ""},
		"Leaving":   {"Its node ends already.", both(marked, func(n *world.Node, _ *world.Claim) { n.Deleting = true }), []world.Pod{{}}, 9000, ""},
		"Intended":  {"It is of a command, which is judged elsewhere.", both(marked, func(_ *world.Node, c *world.Claim) { c.Going = plan.Drifted }), []world.Pod{{}}, 9000, ""},
		"Foreign":   {"The mark of what is not ours is not ours.", both(marked, func(n *world.Node, _ *world.Claim) { n.Claim = "" }), []world.Pod{{}}, 9000, ""},
		"Similar": {"A taint of that name which lets pods come is no mark.", func(n *world.Node, _ *world.Claim) {
			n.Taints = []world.Taint{{Key: begun.Mark().Key, Effect: world.PreferNoSchedule}}
		}, []world.Pod{{}}, 9000, ""},
		"Other": {"Another taint is none either.", func(n *world.Node, _ *world.Claim) {
			n.Taints = []world.Taint{{Key: "team", Effect: world.NoSchedule}}
		}, []world.Pod{{}}, 9000, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, wait := world.NewBuilder(), int64(30)
			must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{EmptyAfter: &wait}}))
			machine(b, "a", tc.change, tc.pods...)
			if name == "Foreign" {
				b.DeleteClaim("a")
			}
			o := disrupt.Options{Only: []disrupt.Part{disrupt.Idling}, AsIs: true}
			if tc.known > 0 {
				o.Marked = map[string]int64{"a": tc.known}
			}
			var got []string
			for _, c := range disrupt.Decide(b.Snapshot(noon), o).Commands {
				line := strings.TrimSpace(c.Nodes()[0]+" "+c.Reason) + " " + string(c.Verdict)
				if c.Begun {
					line += ", begun"
				}
				if c.Again > 0 {
					line += fmt.Sprintf(", again in %d", c.Again)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
	if begun.Marked(nil) || begun.Marked(&world.Place{Claim: &world.Claim{}}) {
		t.Error("what has no node carries no mark")
	}
}

// Of several things that are due later the first is when it is decided again.
func TestAgainIsTheFirst(t *testing.T) {
	b, wait := world.NewBuilder(), int64(30)
	must(b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Disruption: world.PoolDisruption{EmptyAfter: &wait}}))
	for name, since := range map[string]int64{"a": 10, "b": 25, "c": 15, "d": 30} {
		machine(b, name, func(_ *world.Node, c *world.Claim) { c.LastPodEvent = noon - since })
	}
	p := disrupt.Decide(b.Snapshot(noon), disrupt.Options{Only: []disrupt.Part{disrupt.Idling}})
	if diff := cmp.Diff([]string{"d Empty"}, back(p)); diff != "" {
		t.Errorf("only what has waited goes: -want +got\n%s", diff)
	}
	if p.Again != noon+5 {
		t.Errorf("it is decided again after %d, want 5", p.Again-noon)
	}
}

// The dearest of what is empty goes first where budgets let not all of it go, and what stays for that is told.
func TestDearestGoesFirst(t *testing.T) {
	w := told(t, town, pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: "1"}} }), func(e *editor) {
		for _, name := range []string{"a", "b", "c"} {
			e.DeletePod(world.Key{Namespace: "default", Name: name})
		}
		for _, name := range []string{"n1", "n3"} {
			n := *e.Snapshot(now).Place(name).Node
			n.Labels = map[string]string{}
			for k, v := range e.Snapshot(now).Place(name).Node.Labels {
				n.Labels[k] = v
			}
			n.Labels["node.kubernetes.io/instance-type"] = "large"
			e.must(e.SetNode(n))
		}
	})
	o := disrupt.Options{Only: []disrupt.Part{disrupt.Idling}}
	p := disrupt.Decide(w, o)
	if diff := cmp.Diff([]string{"n2 Empty"}, back(p)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	var kept []string
	for _, k := range p.Kept {
		kept = append(kept, k.Node+" "+string(k.Why.Code))
	}
	if diff := cmp.Diff([]string{"n1 disruption-budget", "n3 disruption-budget"}, kept); diff != "" {
		t.Errorf("what stays: -want +got\n%s", diff)
	}
	o.Consolidate.Unbudgeted = true
	if diff := cmp.Diff([]string{"n1 Empty", "n2 Empty", "n3 Empty"}, back(disrupt.Decide(w, o))); diff != "" {
		t.Errorf("without budgets: -want +got\n%s", diff)
	}
}

// A machine reaches its age to the second, and others are bought first only for pods that would move, of a pool that buys for pods.
func TestAge(t *testing.T) {
	one := 1
	for name, tc := range map[string]struct {
		why         string
		pool        *world.Pool
		change      func(*world.Node, *world.Claim)
		pod         world.Pod
		old, bought bool
	}{
		"Never":   {why: "It has no age.", change: func(*world.Node, *world.Claim) {}, bought: true},
		"Young":   {why: "It has a second left.", change: func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3601 }, bought: true},
		"Old":     {why: "It has none.", change: func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3600 }, old: true, bought: true},
		"Daemons": {why: "Nothing moves.", change: func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3600 }, pod: world.Pod{DaemonSet: "log"}, old: true},
		"Static":  {why: "Its pool buys what it lacks by itself.", pool: &world.Pool{Replicas: &one}, change: func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3600 }, old: true},
		"Starting": {why: "It is not complete, and what waits for it is planned elsewhere.", change: func(_ *world.Node, c *world.Claim) {
			c.ExpireAfter, c.Initialized = 3600, false
		}, old: true},
		"Gone": {why: "There is no pool to buy for.", pool: &world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "q"}}, change: func(_ *world.Node, c *world.Claim) { c.ExpireAfter = 3600 }, old: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			p := world.Pool{}
			if tc.pool != nil {
				p = *tc.pool
			}
			if p.ID.Name == "" {
				p.ID = world.PoolID{Kind: world.NodePool, Name: "p"}
			}
			must(b.SetPool(p))
			machine(b, "a", tc.change, tc.pod)
			w := b.Snapshot(noon)
			at := w.Place("a")
			if got := disrupt.TooOld(w, at); got != tc.old {
				t.Errorf("%s It is too old: %t", tc.why, got)
			}
			if got := disrupt.Replaced(w, at); got != tc.bought {
				t.Errorf("%s Others can be bought first: %t", tc.why, got)
			}
			goes := tc.old && !tc.bought
			if got := back(disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Idling}})); (len(got) > 0) != goes {
				t.Errorf("%s It goes as it is: %v, want %t", tc.why, got, goes)
			}
		})
	}
}
