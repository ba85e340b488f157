package consolidate_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// after is the World in which the commands that may start now, and what goes anyway, have been carried out.
func after(w *world.World, p consolidate.Plan) *world.World {
	b := w.Edit()
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	bind := func(keys []world.Key, node string) {
		for _, k := range keys {
			pod := *w.Pod(k)
			pod.Node = node
			must(b.SetPod(pod))
		}
	}
	q := started(p)
	for _, a := range q.New {
		shapes := w.CatalogFor(a.Pool, a.Template).Shapes
		i := slices.IndexFunc(shapes, func(s world.Shape) bool { return s.Name == a.Shape })
		name := "new-" + p.World[:6] + "-" + a.Name
		enginetest.Join(b, w.Pool(a.Pool), &shapes[i], name, a.Zone, a.CapacityType)
		bind(a.Pods, name)
	}
	for _, f := range q.Filled {
		bind(f.Pods, f.Node)
	}
	draw(w, b, q.New)
	for _, g := range slices.Concat(q.Back, p.Going) {
		place := w.Place(g.Node)
		b.DeleteNode(g.Node)
		b.DeleteClaim(g.Claim)
		for _, pod := range place.Pods {
			if !pod.Moves() {
				b.DeletePod(pod.Key)
			}
		}
	}
	return b.Snapshot(w.At())
}

// draw takes what the asks drew from reservations off what catalogues say is left.
func draw(w *world.World, b *world.Builder, asks []plan.Ask) {
	drawn := map[string]int{}
	for _, a := range asks {
		if a.Reservation != "" {
			drawn[a.Reservation]++
		}
	}
	for _, c := range w.Catalogs() {
		next := *c
		next.Shapes = slices.Clone(c.Shapes)
		for i := range next.Shapes {
			s := &next.Shapes[i]
			s.Offers = slices.Clone(s.Offers)
			for j := range s.Offers {
				s.Offers[j].Count -= drawn[s.Offers[j].Reservation]
			}
		}
		if err := b.SetCatalog(next); err != nil {
			panic(err)
		}
	}
}

// A plan that has been carried out leaves little to gain, and machines never go
// round: what a second and a third plan find is less and less.
func TestPlansComeToRest(t *testing.T) {
	w := enginetest.Shrunk(2000, 7)
	o := consolidate.Options{Unbudgeted: true}
	first := consolidate.Decide(w, o)
	start, last := first.Price-first.Saving(), first.Saving()
	for n := range 4 {
		w = after(w, consolidate.Decide(w, o))
		p := consolidate.Decide(w, o)
		t.Logf("plan %d: %d commands of %d pods save %.2f %%", n+2, len(p.Commands), p.Moved(), 100*float64(p.Saving())/float64(start))
		if p.Saving() > last {
			t.Fatalf("plan %d saves %d, the one before it %d", n+2, p.Saving(), last)
		}
		last = p.Saving()
	}
	if last > start/200 {
		t.Errorf("after five plans there are still %d of %d to gain", last, start)
	}
}

// In any small cluster a few plans come to an end: no machine is bought that the next plan gives back.
func TestNothingGoesRound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		w := enginetest.Settled(s.world)
		b := w.Edit()
		for _, p := range w.Pools() {
			p := *p
			p.Disruption.Budgets = nil
			if err := b.SetPool(p); err != nil {
				t.Fatal(err)
			}
		}
		w = b.Snapshot(w.At())
		for range 6 {
			p := consolidate.Decide(w, consolidate.Options{SpotToSpot: true})
			if p.Saving() == 0 && len(p.Going) == 0 {
				return
			}
			w = after(w, p)
		}
		t.Fatalf("there is no end of it\n%s", s.text)
	})
}
