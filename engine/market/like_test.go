package market_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// Of pools that no pod can tell apart only so many are filled as have room for a machine for each pod.
func TestPoolsThatAreAlikeAreFilledOnce(t *testing.T) {
	const pools, pods = 6, 10
	last := fmt.Sprintf("team-%04d", pools-1) // which comes first
	term := world.PodTerm{Anti: true, Key: "team", Selector: world.Selector{Some: true}, Namespaces: []string{"default"}}
	for name, tc := range map[string]struct {
		why  string
		pool func(i int, p *world.Pool)
		pod  func(p *world.Pod)
		more func(b *world.Builder) error
		want int
	}{
		"alike":         {why: "a label that nothing asks for tells no pool apart", want: 1},
		"weight":        {why: "a pool that only weighs less is bought from where the heavier is full", pool: func(i int, p *world.Pool) { p.Weight = int32(i % 100) }, want: 1},
		"node selector": {why: "a pod may go to one of the pools only", pod: func(p *world.Pod) { p.NodeSelector = label.SetOf(label.Is("team", "team-0002")) }, want: 2},
		"pool's name":   {why: "pods know pools by name", pod: func(p *world.Pod) { p.NodeSelector = label.SetOf(label.Is(label.NodePool, "team-0002")) }, want: 2},
		"wish": {why: "a pod would rather be in one of the pools", want: 2, pod: func(p *world.Pod) {
			p.NodeWishes = []world.NodeWish{{Weight: 1, Term: world.NodeTerm{Labels: label.SetOf(label.Is("team", "team-0002"))}}}
		}},
		"spread": {why: "pods are counted by team", want: pools, pod: func(p *world.Pod) {
			p.Spread = []world.Spread{{Key: "team", MaxSkew: 1, Selector: world.Selector{Some: true}}}
		}},
		"pod term": {why: "pods keep away from each other's team", want: pools, pod: func(p *world.Pod) { p.PodTerms = []world.PodTerm{term} }},
		"pod that runs": {why: "a pod that runs keeps others away from its team", want: pools, more: func(b *world.Builder) error {
			return b.SetPod(world.Pod{Key: world.Key{Namespace: "default", Name: "runs"}, Node: "n", PodTerms: []world.PodTerm{term}})
		}},
		"daemon set": {why: "a daemon set runs on the nodes of one pool only", want: 2, more: func(b *world.Builder) error {
			d := world.DaemonSet{Key: world.Key{Namespace: "default", Name: "d"}}
			d.Pod.NodeSelector = label.SetOf(label.Is("team", "team-0002"))
			return b.SetDaemonSet(d)
		}},
		"taint": {why: "some pods may not tolerate it", want: 2, pool: func(i int, p *world.Pool) {
			if i%2 == 0 {
				p.Taints = []world.Taint{{Key: "t", Effect: world.PreferNoSchedule}}
			}
		}},
		"requirement": {why: "other types are sold", want: 2, pool: func(i int, p *world.Pool) {
			if i%2 == 0 {
				p.Requirements = label.SetOf(label.Is(label.CapacityType, label.OnDemand))
			}
		}},
		"open requirement": {why: "only pods could settle it, and none does", want: 1, pool: func(i int, p *world.Pool) {
			p.Requirements = label.SetOf(label.Is("colour", fmt.Sprint("red-", i)))
		}},
		"limits": {why: "three pools have room for twelve machines", want: 3, pool: func(_ int, p *world.Pool) {
			p.Limits = amount.Of(amount.Entry{Name: amount.Nodes, Value: 4 * amount.Unit})
		}},
		"small limits": {why: "no pool has room for the largest machine", want: pools, pool: func(_ int, p *world.Pool) {
			p.Limits = amount.Of(amount.Entry{Name: amount.CPU, Value: 4 * amount.Unit})
		}},
		"back-off": {why: "the first has to wait, for whatever pod", want: 2, more: func(b *world.Builder) error {
			return b.SetBackoff(world.Backoff{BackoffID: world.BackoffID{Pool: world.PoolID{Kind: world.NodePool, Name: last}, Template: "t"}, Times: 1, Last: 1})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := enginetest.Open(pools, pods)
			b := w.Edit()
			for i, p := range w.Pools() {
				if p := *p; tc.pool != nil {
					tc.pool(i, &p)
					must(t, b.SetPool(p))
				}
			}
			for i, p := range w.Pods() {
				if p := *p; tc.pod != nil && i == 0 {
					tc.pod(&p)
					must(t, b.SetPod(p))
				}
			}
			must(t, b.SetNode(world.Node{Name: "n"}))
			if tc.more != nil {
				must(t, tc.more(b))
			}
			w = b.Snapshot(1)
			m := market.New(w, []string{amount.CPU}, market.Options{For: w.Waiting()})
			filled, all := 0, market.New(w, []string{amount.CPU}, market.Options{})
			for i, p := range m.Pools {
				if !p.Like() {
					filled++
				}
				if got, want := names(p.Filled()), names(all.Pools[i]); !slices.Equal(got, want) {
					t.Errorf("%s may buy\n%s", p.ID.Name, cmp.Diff(want, got))
				}
			}
			if filled != tc.want {
				t.Errorf("%d pools were filled, want %d: %s", filled, tc.want, tc.why)
			}
		})
	}
}

// names are the types that a pool may buy, the cheapest first.
func names(p *market.Pool) []string {
	var out []string
	for _, t := range p.ByPrice {
		out = append(out, t.Shape.Name)
	}
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
