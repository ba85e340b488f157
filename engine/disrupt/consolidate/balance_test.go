package consolidate

import (
	"math"
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
		"Half":   {"A third of all and two thirds of all: just half.", []int{0, 2}, 111, []plan.Score{{Pool: p, Saved: 277_500, Moved: 555_555}}, "it saves 27.7 % of the pool's cost and disrupts 55.6 % of it, and has to save half as large a share"},
		"Enough": {"A little more than that.", []int{0, 2}, 112, []plan.Score{{Pool: p, Saved: 280_000, Moved: 555_555}}, ""},
		"Exact":  {"All of it goes, for half of what it costs.", []int{0, 1, 2, 3}, 200, []plan.Score{{Pool: p, Saved: 500_000, Moved: 1_000_000}}, ""},
		"Less":   {"And for less.", []int{0, 1, 2, 3}, 199, []plan.Score{{Pool: p, Saved: 497_500, Moved: 1_000_000}}, "it saves 49.7 % of the pool's cost and disrupts 100.0 % of it, and has to save half as large a share"},
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

// A command that saves just half as large a share as it disrupts is enough, and one that saves a millionth less is
// not, however the shares divide and however large the prices are.
func TestBalancedAtTheBorder(t *testing.T) {
	p, q := world.PoolID{Kind: world.NodePool, Name: "p"}, world.PoolID{Kind: world.NodePool, Name: "q"}
	b := world.NewBuilder()
	must(t, b.SetPool(world.Pool{ID: p, Disruption: world.PoolDisruption{Balanced: true}}))
	w := b.Snapshot(1)
	at := func(pool world.PoolID, price money.Micro, pods int) machine {
		m := machine{price: price, place: &world.Place{Node: &world.Node{Pool: pool}}}
		for range pods {
			m.place.Pods = append(m.place.Pods, &world.Pod{})
		}
		return m
	}
	for name, tc := range map[string]struct {
		why      string
		machines []machine // of which the first two go
		just     money.Micro
		short    string
	}{
		"Fifths": {
			"A fifth of the pool's cost for two fifths of its weight: divided in floats it is a little less than half.",
			[]machine{at(p, 100, 1), at(q, 400, 0), at(p, 200, 2)},
			300, "it saves 19.9 % of the pool's cost and disrupts 40.0 % of it",
		},
		"Thirds": {
			"A third of the pool's cost for two thirds of its weight.",
			[]machine{at(p, 1_000_000, 1), at(p, 1_000_000, 1), at(p, 1_000_000, 1)},
			1_000_000, "it saves 33.3 % of the pool's cost and disrupts 66.7 % of it",
		},
		"Large": {
			"A float cannot tell these prices from those a millionth below.",
			[]machine{at(p, 1<<60, 1), at(p, 1<<60, 1)},
			1 << 60, "it saves 49.9 % of the pool's cost and disrupts 100.0 % of it",
		},
		"TooLarge": {
			"What cannot be counted is as much as can be.",
			[]machine{at(p, math.MaxInt64, 1), at(p, math.MaxInt64, 1)},
			math.MaxInt64/2 + 1, "it saves 49.9 % of the pool's cost and disrupts 100.0 % of it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &search{world: w, machines: tc.machines}
			if why := s.unbalanced(w.Pool(p), draft{machines: []int{0, 1}, saving: tc.just}); why != nil {
				t.Errorf("just enough is held up by %v: %s", why, tc.why)
			}
			why := s.unbalanced(w.Pool(p), draft{machines: []int{0, 1}, saving: tc.just - 1})
			if why == nil || !strings.HasPrefix(why.Detail, tc.short) {
				t.Errorf("a millionth less is held up by %v, want %q: %s", why, tc.short, tc.why)
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
