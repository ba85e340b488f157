package consolidate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/families"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// halved is a cluster that a family's pods had bought for them, after more than half of them are gone.
func halved(family string, pods int, seed uint64) *world.World {
	f, ok := families.Find(family)
	if !ok {
		panic("there is no family " + family)
	}
	w := f.World(pods, seed)
	w = enginetest.Bound(w, provision.Decide(w, provision.Options{Steps: 100_000}))
	b, none, dice := w.Edit(), int64(0), rand.New(rand.NewPCG(seed, 0))
	for _, p := range w.Pools() {
		p := *p
		p.Disruption = world.PoolDisruption{EmptyAfter: &none, MoveAfter: &none}
		if err := b.SetPool(p); err != nil {
			panic(err)
		}
	}
	for _, p := range w.Pods() {
		if p.Node == "" || dice.IntN(20) >= 9 {
			b.DeletePod(p.Key)
		}
	}
	return b.Snapshot(w.At() + hour)
}

// What keeps pods of many nodes apart must not keep all nodes for ever: where the plan for all of them cannot be
// begun anywhere, single nodes go. Plan after plan comes as far as one node after the other does.
func TestComesAsFarAsOneByOne(t *testing.T) {
	for _, family := range []string{"sharing", "halffull", "upstream", "everything"} {
		for seed := range uint64(2) {
			w := halved(family, 400, seed)
			s := enginetest.NewSerial(w)
			for s.Step() {
			}
			start, ours, plans := money.Micro(0), money.Micro(0), 0
			for ; plans < 100; plans++ {
				p := decide(w, consolidate.Options{Unbudgeted: true, SpotToSpot: true})
				if ours = p.Price; plans == 0 {
					start = p.Price
				}
				if back, _ := started(p); len(back)+len(idle(p)) == 0 {
					break
				}
				w = carriedOut(w, p)
			}
			t.Logf("%s %d: %.2f an hour come to %.2f in %d plans, one by one to %.2f", family, seed, start.Units(), ours.Units(), plans, s.Cost().Units())
			if plans == 100 || float64(ours) > 1.1*float64(s.Cost()) {
				t.Errorf("%s %d: plans come to rest at %.2f, one by one at %.2f", family, seed, ours.Units(), s.Cost().Units())
			}
		}
	}
}
