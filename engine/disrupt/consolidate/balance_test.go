package consolidate

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Of a balanced pool a command has to save at least half as large a share as it disrupts,
// where a machine weighs as much as a pod, and a pod as much as its eviction costs.
func TestBalanced(t *testing.T) {
	p, q := world.PoolID{Kind: world.NodePool, Name: "p"}, world.PoolID{Kind: world.NodePool, Name: "q"}
	for name, tc := range map[string]struct {
		why    string
		goes   []int
		saving money.Micro
		score  []plan.Score // of p and q
		says   string       // of p; empty if it does not hold the command up
	}{
		// p has machines 0 to 3 of 100 each with a pod each, and 2 has a costly pod: it weighs 4 × 1 + 3 × 1 + 2.
		// q has machine 4 of 300.
		"Whole":  {"A machine that needs no other saves a fourth and disrupts two ninths.", []int{0}, 100, []plan.Score{{Pool: p, Saved: 250_000, Moved: 222_222}}, ""},
		"Half":   {"A third of all and two thirds of all: just half.", []int{0, 2}, 111, []plan.Score{{Pool: p, Saved: 277_500, Moved: 555_555}}, "it saves 27.8 % of the pool's cost and disrupts 55.6 % of it, and has to save half as large a share"},
		"Enough": {"A little more than that.", []int{0, 2}, 112, []plan.Score{{Pool: p, Saved: 280_000, Moved: 555_555}}, ""},
		"Exact":  {"All of it goes, for half of what it costs.", []int{0, 1, 2, 3}, 200, []plan.Score{{Pool: p, Saved: 500_000, Moved: 1_000_000}}, ""},
		"Less":   {"And for less.", []int{0, 1, 2, 3}, 199, []plan.Score{{Pool: p, Saved: 497_500, Moved: 1_000_000}}, "it saves 49.8 % of the pool's cost and disrupts 100.0 % of it, and has to save half as large a share"},
		"Shared": {"What is saved is shared by what machines cost.", []int{0, 4}, 200, []plan.Score{{Pool: p, Saved: 125_000, Moved: 222_222}, {Pool: q, Saved: 500_000, Moved: 1_000_000}}, ""},
		"Other":  {"Nothing of the pool goes.", []int{4}, 1, []plan.Score{{Pool: q, Saved: 3_333, Moved: 1_000_000}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := world.NewBuilder()
			for _, id := range []world.PoolID{p, q} {
				must(t, b.SetPool(world.Pool{ID: id, Disruption: world.PoolDisruption{Balanced: true}}))
			}
			must(t, b.SetPool(world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "usual"}}))
			s := &search{world: b.Snapshot(1)}
			for i := range 5 {
				m := machine{price: 100, place: &world.Place{Node: &world.Node{Name: string(rune('a' + i)), Pool: p}}}
				if i == 4 {
					m.price, m.place.Node.Pool = 300, q
				} else {
					pod := &world.Pod{}
					if i == 2 {
						pod.Disruption.DeletionCost = 1 << 27 // it costs twice as much
					}
					m.place.Pods = []*world.Pod{pod, {DaemonSet: "agent"}}
				}
				s.machines = append(s.machines, m)
			}
			d := draft{machines: tc.goes, saving: tc.saving}
			if diff := cmp.Diff(tc.score, s.scores(d)); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
			why := s.unbalanced(s.world.Pool(p), d)
			if (why == nil) != (tc.says == "") || why != nil && !strings.HasSuffix(why.Detail, tc.says) {
				t.Errorf("held up by %v, want %q: %s", why, tc.says, tc.why)
			}
			if why := s.unbalanced(s.world.Pool(world.PoolID{Kind: world.NodePool, Name: "usual"}), d); why != nil {
				t.Errorf("a pool that is not balanced says %v", why)
			}
		})
	}
}

// What costs nothing has no shares, as where all of a pool, or of a command, is paid for by reservations.
func TestBalancedForNothing(t *testing.T) {
	p := world.PoolID{Kind: world.NodePool, Name: "p"}
	b := world.NewBuilder()
	must(t, b.SetPool(world.Pool{ID: p, Disruption: world.PoolDisruption{Balanced: true}}))
	at := func(name string, pool world.PoolID, price money.Micro) machine {
		return machine{price: price, place: &world.Place{Node: &world.Node{Name: name, Pool: pool}}}
	}
	for name, machines := range map[string][]machine{
		"All":     {at("free", p, 0)},
		"Command": {at("free", p, 0), at("paid", p, 100)},
		"Pool":    {at("free", p, 0), at("other", world.PoolID{Kind: world.NodePool, Name: "q"}, 100)},
	} {
		goes := []int{0}
		if name == "Pool" {
			goes = []int{0, 1}
		}
		s := &search{world: b.Snapshot(1), machines: machines}
		if why := s.unbalanced(s.world.Pools()[0], draft{machines: goes, saving: 10}); why != nil {
			t.Errorf("%s: it says %v", name, why)
		}
	}
}
