// Package pack puts waiting pods onto machines that are there, on their way, or to be bought.
package pack

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

// placer places pods one by one.
type placer struct {
	*packing.Packing
	lured int // pods that were moved for the sake of others
}

// searcher places classes of pods at once.
type searcher struct {
	*placer
	proof *proof
	loose bool // what is searched now may use what an earlier search left free, so that search proves nothing of it
}

// repairer mends a packing once all pods have been placed.
type repairer struct{ *placer }

// Packer makes one packing, step by step.
type Packer struct {
	*searcher
	repair  *repairer
	refused []plan.Refusal
	bounds  int64
}

// retries is how often pods without a place are tried again with what trimming gave back to limits.
const retries = 4

// Pack decides where the waiting pods of w go.
func Pack(w *world.World, o packing.Options) plan.Plan {
	k := fairly(w, o)
	k.bounds = k.bound()
	if !o.ExactOnly && k.Waiting <= few {
		k = k.orExact()
	}
	k.repair.unstack()
	return k.finish()
}

// manner is how pods take their turns.
type manner struct {
	strictly bool // all of a priority before those of a lower one
	secluded bool // those first who keep away from others by domain
}

// fairly packs the pods, and again strictly by priority if that is fairer.
func fairly(w *world.World, o packing.Options) *Packer {
	strict := manner{strictly: true}
	k := pack(w, o, manner{})
	switch {
	case k.unfair():
		return pack(w, o, strict).seclude(strict)
	case k.usurped():
		if e := pack(w, o, strict); e.fairer(k) {
			return e.seclude(strict)
		}
	}
	return k.seclude(manner{})
}

// few is how many pods are also placed one by one, in case that comes out cheaper.
const few = 200

// orExact returns the packing of the exact tier alone if that is better.
func (k *Packer) orExact() *Packer {
	o := k.Options
	o.ExactOnly = true
	e := fairly(k.World, o)
	if len(e.Unplaced) > len(k.Unplaced) || len(e.Unplaced) == len(k.Unplaced) && (e.Spend() >= k.Spend() || k.tooDear(e.Price())) {
		return k
	}
	e.bounds, e.Steps = e.bound(), e.Steps+k.Steps
	return e
}

// tooDear reports whether a price is not to be borne for the sake of fewer machines.
func (k *Packer) tooDear(price int64) bool {
	return k.Waiting <= solve.Handful && price > max(k.Price(), solve.Bearable(k.bounds))
}

// pack places all pods at once, or those of each priority before those of a lower one, and in each those first who keep away from others.
func pack(w *world.World, o packing.Options, m manner) *Packer {
	p := &placer{Packing: packing.New(w, o)}
	k := &Packer{searcher: &searcher{placer: p}, repair: &repairer{p}}
	pods, refused := packing.Admit(w)
	k.refused, k.Waiting = refused, len(pods)+len(refused)
	k.Ready(pods)
	if !m.strictly {
		k.keep()
	}
	k.proof = k.newProof()
	k.place(m.strictly, m.secluded)
	k.repair.verify()
	for range retries {
		changed, before := k.repair.trimAll(), len(k.Unplaced)
		k.exact()
		if !changed && len(k.Unplaced) == before {
			break
		}
		k.repair.verify()
	}
	k.repair.exchange()
	return k
}

// unfair reports whether a pod has no place while one of lower priority uses up limits.
func (k *Packer) unfair() bool {
	limited := slices.ContainsFunc(k.Market.Pools, func(p *market.Pool) bool { return len(p.Limits) > 0 })
	if !limited || len(k.Unplaced) == 0 {
		return false
	}
	highest := slices.MaxFunc(k.Unplaced, func(a, b *packing.Pod) int { return cmp.Compare(a.Pod.Priority, b.Pod.Priority) }).Pod.Priority
	for _, b := range k.Planned {
		if len(k.Market.Offers[b.Offer].Type.Pool.Limits) == 0 {
			continue
		}
		for _, y := range b.Pods {
			if y.Pod.Priority >= highest {
				continue
			}
			for _, x := range k.Unplaced {
				if x.Pod.Priority > y.Pod.Priority && x.Class.Offers.Meets(k.Market.Offers[b.Offer].Type.Pool.Offers) {
					return true
				}
			}
		}
	}
	return false
}

// place gives every pod a place, as far as there is one.
func (k *searcher) place(strictly, secluded bool) {
	all := k.Unplaced
	packing.SortPods(all)
	var homeless []*packing.Pod
	for len(all) > 0 {
		n := len(all)
		for strictly && n > 0 && all[n-1].Pod.Priority != all[0].Pod.Priority {
			n--
		}
		k.Unplaced = slices.Clone(all[:n])
		all = all[n:]
		if secluded {
			k.settleRecluses()
			k.loose = true
		}
		if !k.Options.ExactOnly {
			k.fillOld()
			if k.NeedsExotic {
				k.searchNeedy()
			}
			k.search()
			k.loose = true
		}
		k.exact()
		homeless = append(homeless, k.Unplaced...)
	}
	if k.Unplaced = homeless; strictly {
		k.exact()
	}
}
