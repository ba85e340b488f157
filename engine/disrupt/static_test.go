package disrupt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// fixed has three nodes, which is what their pool is to have, two of them with a pod.
const fixed = `type large cpu=2 memory=8Gi price=0.10 zones=a
type xlarge cpu=4 memory=16Gi price=0.20 zones=a
pool p replicas=3
node n1 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n2 cpu=4 memory=16Gi zone=a pool=p type=xlarge
node n3 cpu=4 memory=16Gi zone=a pool=p type=xlarge
pod a cpu=3 app=web node=n1
pod b cpu=1 node=n2`

func TestStaticDrift(t *testing.T) {
	all := claim(drifted, "n1", "n2", "n3")
	budget := func(nodes string) func(*editor) {
		return pool(func(p *world.Pool) { p.Disruption.Budgets = []world.Budget{{Nodes: nodes}} })
	}
	limit := func(n int64) func(*editor) {
		return pool(func(p *world.Pool) { p.Limits = p.Limits.With(amount.Nodes, n*amount.Unit) })
	}
	replicas := func(n int) func(*editor) { return pool(func(p *world.Pool) { p.Replicas = &n }) }
	dynamic := func(e *editor) {
		e.must(e.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "q"}, Template: "t"}))
	}
	// begun has n3 be what was bought for n1.
	begun := func(more ...func(*editor)) []func(*editor) {
		return append([]func(*editor){
			claim(func(c *world.Claim) { c.Drifted, c.Going = "NodePoolDrifted", plan.Drifted }, "n1"), replicas(2),
			claim(func(c *world.Claim) { c.Replaces, c.Created = []string{"n1"}, now-60 }, "n3"),
		}, more...)
	}
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		skip    []string
		want    string
	}{
		"Nothing":   {"Nothing has drifted.", nil, nil, ""},
		"All":       {"All that have drifted are replaced at once, what is empty first; each by one that holds its pods.", []func(*editor){all}, nil, "n3 + large; n1 + xlarge; n2 + large"},
		"Budget":    {"As many as the budget lets go.", []func(*editor){all, budget("1")}, nil, "n3 + large; n1 stays: disruption-budget; n2 stays: disruption-budget"},
		"Limit":     {"As many as the limit leaves room for.", []func(*editor){all, limit(5)}, nil, "n3 + large; n1 + xlarge; n2 stays: limit"},
		"Full":      {"None if it leaves none, and each is told so.", []func(*editor){claim(drifted, "n1"), limit(3)}, nil, "n1 stays: limit"},
		"Forbidden": {"What must stay stays.", []func(*editor){all, pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")}, nil, "n3 + large; n2 + large; n1 stays: do-not-disrupt"},
		"Ends":      {"But for a drain that ends in any case.", []func(*editor){all, ends("n1"), pod(func(p *world.Pod) { p.Disruption.Forbidden = true }, "a")}, nil, "n3 + large; n1 + large; n2 + large"},
		"Guarded":   {"Nor is anything bought for what cannot be evicted now.", []func(*editor){claim(drifted, "n1"), guard(0)}, nil, "n1 stays: pod-disruption-budget"},
		"Skipped":   {"What was tried in vain waits.", []func(*editor){all}, []string{"n1", "n3"}, "n2 + large"},
		"SoldOut":   {"Nothing can be bought.", []func(*editor){claim(drifted, "n1"), pool(func(p *world.Pool) { p.NotReady = "its class is broken" })}, nil, "n1 stays: no-place"},
		"Fewer":     {"First those go that are too many.", []func(*editor){all, replicas(2)}, nil, ""},
		"More":      {"First those are bought that are missing: they take of the same limit.", []func(*editor){all, replicas(4)}, nil, ""},
		"Bound":     {"A pod that runs nowhere else keeps its node.", []func(*editor){claim(drifted, "n1"), pod(func(p *world.Pod) { p.NodeSelector = label.SetOf(label.Is(label.Hostname, "n1")) }, "a")}, nil, "n1 stays: no-place"},
		"Both":      {"What keeps it is told, and not the budget.", []func(*editor){claim(drifted, "n1"), forbid("n1"), budget("0")}, nil, "n1 stays: do-not-disrupt"},
		"Beside":    {"Pools that follow their pods are none of these.", []func(*editor){claim(drifted, "n1"), dynamic}, nil, "n1 + xlarge"},
		"Coming": {"What has no node yet is too old already: nothing goes there.", []func(*editor){claim(drifted, "n1"), func(e *editor) {
			e.must(e.SetClaim(world.Claim{Name: "x", Pool: world.PoolID{Kind: world.NodePool, Name: "q"}, Template: "t", Created: now - 3600, ExpireAfter: 60}))
		}}, nil, "n1 + xlarge"},
		"Under way": {"While one is replaced the next may be, within the budget.", begun(claim(drifted, "n2"), budget("2")), nil, "n2 + large"},
		"OneByOne":  {"And not if the budget is one.", begun(claim(drifted, "n2"), budget("1")), nil, "n2 stays: disruption-budget"},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, fixed, tc.changes...)
			p := disrupt.Decide(w, disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}, Skip: tc.skip})
			var got []string
			for _, c := range p.Commands {
				line := strings.Join(c.Nodes(), " ")
				for _, a := range c.New {
					line += " + " + a.Shape
				}
				if got = append(got, line); c.Reason != plan.Drifted || c.Verdict != plan.Begin || !disrupt.Replaceable(w, c) {
					t.Errorf("%s: %+v", line, c)
				}
			}
			for _, k := range p.Kept {
				got = append(got, fmt.Sprintf("%s stays: %s", k.Node, k.Why.Code))
				if k.Why.Hint == "" && k.Why.Code == "limit" {
					t.Error("it is not said what would help")
				}
			}
			if diff := cmp.Diff(tc.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("%s -want +got\n%s", tc.why, diff)
			}
		})
	}
}

// A node of a static pool ends once what was bought instead is ready, and stays if that is gone.
func TestJudgeStatic(t *testing.T) {
	begun := []func(*editor){claim(func(c *world.Claim) { c.Drifted, c.Going = "NodePoolDrifted", plan.Drifted }, "n1"), pool(func(p *world.Pool) { n := 2; p.Replicas = &n })}
	bought := claim(func(c *world.Claim) { c.Replaces, c.Created = []string{"n1"}, now-60 }, "n3")
	for name, tc := range map[string]struct {
		why     string
		changes []func(*editor)
		known   int64
		want    string
	}{
		"Ready":  {"Its pods have room there.", []func(*editor){bought}, 10_000, "may"},
		"Coming": {"It is waited for.", []func(*editor){bought, claim(func(c *world.Claim) { c.Initialized = false }, "n3")}, 10_000, "waits"},
		"Bigger": {"Another pod has taken the room.", []func(*editor){bought, pod(func(p *world.Pod) { p.Node, p.Requests = "n3", p.Requests.Plus(p.Requests) }, "b"), func(e *editor) {
			n := *e.Snapshot(now).Place("n2").Node
			n.Cordoned = true
			e.must(e.SetNode(n))
		}}, 10_000, "no: default/a: no-place (the pod has no place elsewhere any more)"},
		"Just":    {"The mark has only just been seen: what was bought may not be.", nil, 0, "waits"},
		"Gone":    {"Nothing was bought, or it is gone: the pool keeps its number.", nil, 10_000, "no: n1: static-pool (its replacement is gone, and its static pool keeps its replicas)"},
		"Guarded": {"What passes by itself is waited for.", []func(*editor){guard(0)}, 10_000, "passing: default/a: pod-disruption-budget (PodDisruptionBudget default/g allows no eviction now)"},
		"Instead": {"It does not go by itself, although its pods have places.", []func(*editor){func(e *editor) { e.DeletePod(world.Key{Namespace: "default", Name: "a"}) }}, 10_000, "no: n1: static-pool (its replacement is gone, and its static pool keeps its replicas)"},
	} {
		t.Run(name, func(t *testing.T) {
			o := judging()
			o.Marked["n1"] = tc.known
			c := disrupt.Decide(told(t, fixed, append(begun, tc.changes...)...), o).Commands[0]
			if got := text(c); got != tc.want {
				t.Errorf("%s got %q, want %q", tc.why, got, tc.want)
			}
		})
	}
}

// What was decided about an earlier World is not begun if the pool has changed its mind meanwhile.
func TestReplaceable(t *testing.T) {
	limit := pool(func(p *world.Pool) { p.Limits = p.Limits.With(amount.Nodes, 4*amount.Unit) })
	c := disrupt.Decide(told(t, fixed, claim(drifted, "n1"), limit), disrupt.Options{Only: []disrupt.Part{disrupt.Replacing}}).Commands[0]
	replicas := func(n int) func(*editor) { return pool(func(p *world.Pool) { p.Replicas = &n }) }
	for name, tc := range map[string]struct {
		changes []func(*editor)
		want    bool
	}{
		"Same":  {nil, true},
		"More":  {[]func(*editor){replicas(4)}, false},
		"Fewer": {[]func(*editor){replicas(2)}, false},
		"Bought": {[]func(*editor){replicas(4), func(e *editor) {
			e.must(e.SetClaim(world.Claim{Name: "n4", Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Created: now}))
		}}, false},
		"Gone":    {[]func(*editor){func(e *editor) { e.DeletePool(world.PoolID{Kind: world.NodePool, Name: "p"}) }}, true},
		"Dynamic": {[]func(*editor){pool(func(p *world.Pool) { p.Replicas = nil })}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := disrupt.Replaceable(told(t, fixed, append([]func(*editor){limit}, tc.changes...)...), c); got != tc.want {
				t.Errorf("replaceable is %t, want %t", got, tc.want)
			}
		})
	}
}

// What counts for the number of a static pool is what is there and stays, or what it is replaced by.
func TestReplicas(t *testing.T) {
	names := func(places []*world.Place) (out string) {
		for _, p := range places {
			out += p.Name()
		}
		return out
	}
	for name, tc := range map[string]struct {
		why      string
		changes  []func(*editor)
		want     string // those that are here, that are being replaced, and that stay
		missing  int
		surplus  int
		replicas int
	}{
		"All":       {"All count.", nil, "n1n2n3 () n1n2n3", 0, 0, 3},
		"Missing":   {"One more is wanted.", nil, "n1n2n3 () n1n2n3", 1, 0, 4},
		"Surplus":   {"Two fewer are wanted.", nil, "n1n2n3 () n1n2n3", 0, 2, 1},
		"Deleting":  {"One goes.", []func(*editor){claim(func(c *world.Claim) { c.Deleting = true }, "n1")}, "n2n3 () n2n3", 1, 0, 3},
		"Replacing": {"One goes once another has come.", []func(*editor){claim(func(c *world.Claim) { c.Drifted, c.Going = "x", plan.Drifted }, "n1"), claim(func(c *world.Claim) { c.Replaces = []string{"n1"} }, "n3")}, "n1n2n3 (n1) n2n3", 0, 0, 2},
		"Stray":     {"One was bought for another that stays.", []func(*editor){claim(func(c *world.Claim) { c.Replaces = []string{"n1"} }, "n3")}, "n1n2 () n1n2", 0, 0, 2},
		"Others": {"One is of another pool, one of none.", []func(*editor){claim(func(c *world.Claim) { c.Pool.Name = "q" }, "n1"), strangers, func(e *editor) {
			e.must(e.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "q"}}))
		}}, "n2n3 () n2n3", 0, 0, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := told(t, fixed, append([]func(*editor){pool(func(p *world.Pool) { p.Replicas = &tc.replicas })}, tc.changes...)...)
			id := world.PoolID{Kind: world.NodePool, Name: "p"}
			all := begun.In(w).Replicas(w)
			r := all[id]
			if got := fmt.Sprintf("%s (%s) %s", names(r.Here), names(r.Replacing), names(r.Staying())); got != tc.want || len(all) != 1 {
				t.Errorf("%s of %d pools: %s, want %s", tc.why, len(all), got, tc.want)
			}
			if r.Missing(w.Pool(id)) != tc.missing || r.Surplus(w.Pool(id)) != tc.surplus {
				t.Errorf("%s %d are missing, want %d, and %d too many, want %d", tc.why, r.Missing(w.Pool(id)), tc.missing, r.Surplus(w.Pool(id)), tc.surplus)
			}
		})
	}
}
