package provision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// priced is the World with every offer at a price.
func priced(t *testing.T, w *world.World, price func(i int) money.Micro) *world.World {
	t.Helper()
	b := w.Edit()
	for _, c := range w.Catalogs() {
		c := *c
		c.Shapes = slices.Clone(c.Shapes)
		for i := range c.Shapes {
			c.Shapes[i].Offers = slices.Clone(c.Shapes[i].Offers)
			for j := range c.Shapes[i].Offers {
				c.Shapes[i].Offers[j].Price = price(i)
			}
		}
		if err := b.SetCatalog(c); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot(w.At())
}

// looking is the World whose pods look at all pods there are.
func looking(t *testing.T, w *world.World, shape func(*world.Pod)) *world.World {
	t.Helper()
	b := w.Edit()
	for _, p := range w.Waiting() {
		q := *p
		shape(&q)
		if err := b.SetPod(q); err != nil {
			t.Fatal(err)
		}
	}
	return b.Snapshot(w.At())
}

// Prices that tell nothing, and pods that look at all others, end with a plan that can be bound, with a place for every pod and within
// twice the steps that the search is given.
func TestEdges(t *testing.T) {
	const steps = 50_000
	all := world.Selector{Some: true}
	pairs := func(n int) *world.World { return enginetest.Deployments(n/2, 2) }
	at := func(price func(int) money.Micro) func(int) *world.World {
		return func(n int) *world.World { return priced(t, pairs(n), price) }
	}
	with := func(shape func(*world.Pod)) func(int) *world.World {
		return func(n int) *world.World { return looking(t, pairs(n), shape) }
	}
	spread := func(key string) func(*world.Pod) {
		return func(p *world.Pod) { p.Spread = []world.Spread{{Key: key, MaxSkew: 1, Selector: all}} }
	}
	term := func(anti bool, key string) func(*world.Pod) {
		return func(p *world.Pod) {
			p.PodTerms = []world.PodTerm{{Anti: anti, Key: key, Selector: all, Namespaces: []string{p.Namespace}}}
		}
	}
	tests := map[string]func(n int) *world.World{
		"EqualPrices":       at(func(int) money.Micro { return 100_000 }),
		"ZeroPrices":        at(func(int) money.Micro { return 0 }),
		"SomeForFree":       at(func(i int) money.Micro { return money.Micro(i%2) * 50_000 }),
		"UnlikeAll":         func(n int) *world.World { return enginetest.Deployments(n, 1) },
		"SpreadOfAll":       with(spread(label.Zone)),
		"SpreadOfAllByHost": with(spread(label.Hostname)),
		"AwayFromAll":       with(term(true, label.Hostname)),
		"NearAll":           with(term(false, label.Zone)),
	}
	for name, draw := range tests {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{60, 240} {
				w := draw(n)
				p := provision.Decide(w, provision.Options{Steps: steps})
				if faults := enginetest.Check(w, p); len(faults)+len(p.Refused) > 0 {
					t.Errorf("%d pods, of which %d are refused: %s", n, len(p.Refused), strings.Join(faults, "\n"))
				}
				if p.Bound > p.Cost || p.Steps > 2*steps {
					t.Errorf("%d pods cost %d, at least %d, in %d steps", n, p.Cost, p.Bound, p.Steps)
				}
			}
		})
	}
}
