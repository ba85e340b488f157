// Package families draws Worlds of many kinds, each kind made on an idea of its own of what clusters are like.
//
// A planner that is tuned on one generator is good at that generator. These disagree with each other: in how sizes are
// distributed, whether CPU and memory go together, how many pods are alike, which of them look at each other, what prices do
// and what is there already. Nothing of a World is chosen but its family: sizes, shares, skews, prices and pools are drawn from the seed.
//
// The shapes of the distributions are those of published traces, not their values. Google's of 2019 and Alibaba's of 2018 tell of
// requests over several orders of magnitude with tails heavier than exponential, of CPU and memory that go together only loosely, and of
// many jobs of one task beside a few of thousands; Alibaba's of 2023 of GPUs in ones, and few in eights.
package families

import (
	"hash/fnv"
	"math/rand/v2"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/world"
)

// Family is one kind of World.
type Family struct {
	Name string
	Says string // what it is, in a line
	draw func(d *drawer, n int)
}

// World returns the World of the seed, in which n pods wait.
func (f Family) World(n int, seed uint64) *world.World {
	h := fnv.New64a()
	h.Write([]byte(f.Name))
	d := &drawer{dice: rand.New(rand.NewPCG(seed, h.Sum64())), b: world.NewBuilder(), catalog: enginetest.Market()}
	f.draw(d, n)
	must(d.b.SetCatalog(d.catalog))
	return d.b.Snapshot(now)
}

// All returns every family.
func All() []Family {
	return []Family{
		{"lognormal", "log-normal sizes, CPU and memory that go together, or not, or against each other; heavy-tailed numbers of replicas; no constraints", logNormal},
		{"pareto", "Pareto sizes and numbers of replicas: a few pods and a few Deployments are most of it; no constraints", pareto},
		{"few", "one to six Deployments of thousands of replicas, some spread over zones or hosts", few},
		{"singles", "Deployments of one replica each, no two alike", singles},
		{"sharing", "workloads with constraints and workloads without that carry the same labels: canaries, jobs, and one tiny pod for each", sharing},
		{"spot", "spot and on demand, with spot prices that are independent by zone, go together, or are absurd", spot},
		{"pools", "many pools with overlapping requirements, weights, taints and limits", pools},
		{"gpus", "pods with GPUs beside pods without", gpus},
		{"halffull", "a cluster of nodes of all sizes and ages, half full, and a burst of what runs there already", halfFull},
		{"upstream", "the mix of the peer's own benchmark: a sixth each plain, spread by zone and by host, together by zone and by host, apart; labels drawn of seven", upstream},
		{"everything", "some of each of the others, in one World", everything},
	}
}

// Find returns the family of that name.
func Find(name string) (Family, bool) {
	for _, f := range All() {
		if f.Name == name {
			return f, true
		}
	}
	return Family{}, false
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
