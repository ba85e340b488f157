package provision_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
)

// ordered is a tiny World of two pools: one sells machines of 2 and 4 cores, the other of 4 and 8.
type ordered struct {
	tiny

	weight int // of the pool of small machines; that of the other is 0
	nodes  int // that the pool of small machines may have; below 0: any number
}

func (w ordered) lines() []string {
	lines := w.tiny.lines()
	lines[0] += " require=cores:4|8"
	small := fmt.Sprintf("pool small require=cores:2|4 weight=%d", w.weight)
	if w.nodes >= 0 {
		small += fmt.Sprintf(" limit=nodes:%d", w.nodes)
	}
	return append(lines, small)
}

// most is how many small machines are worth counting.
func (w ordered) most() int {
	if w.nodes < 0 {
		return 0
	}
	return min(w.nodes, len(w.pods))
}

// optimum is the least price of the pods' machines with a charge for each, in thousandths, and no pod on a machine
// of the lighter pool that fits on one of the heavier, which has no limit; below 0 if limits leave no way.
func (w ordered) optimum(charge int) int {
	least := make([][]int, 1<<len(w.pods)) // for each set of pods, by the number of small machines that may be counted
	least[0] = make([]int, w.most()+1)
	for set := 1; set < len(least); set++ {
		least[set] = make([]int, w.most()+1)
		for n := range least[set] {
			least[set][n] = math.MaxInt / 2
		}
		for part := set; part > 0; part = (part - 1) & set {
			if part&set&-set == 0 {
				continue
			}
			for n := range least[set] {
				if price, ok := w.cheapest(uint(part), func(cpu int) bool { return cpu >= 4 && !w.leaves(uint(part)) }); ok {
					least[set][n] = min(least[set][n], price+charge+least[set&^part][n])
				}
				after := n
				if w.nodes >= 0 {
					after--
				}
				if price, ok := w.cheapest(uint(part), func(cpu int) bool { return cpu <= 4 }); ok && after >= 0 {
					least[set][n] = min(least[set][n], price+charge+least[set&^part][after])
				}
			}
		}
	}
	if out := least[len(least)-1][w.most()]; out < math.MaxInt/2 {
		return out
	}
	return -1
}

// leaves reports whether one of the pods is left to the heavier pool of small machines, which has no limit.
func (w ordered) leaves(set uint) bool {
	if w.weight == 0 || w.nodes >= 0 {
		return false
	}
	for ; set > 0; set &= set - 1 {
		if _, ok := w.cheapest(set&-set, func(cpu int) bool { return cpu <= 4 }); ok {
			return true
		}
	}
	return false
}

// cheapest is the price of the cheapest machine of so many cores that takes the pods together.
func (w ordered) cheapest(set uint, cores func(int) bool) (price int, ok bool) {
	some := w.tiny
	some.types = nil
	for _, t := range w.types {
		if cores(t.cpu) {
			some.types = append(some.types, t)
		}
	}
	return some.host(set, func(tinyType) int { return 0 })
}

// The bounds are never above the least that there is, whatever pools weigh and limit, and not far below it where order is all there is.
func TestTinyWorldsOfPoolsInOrder(t *testing.T) {
	close, all := 0, 0
	chance.Check(t, func(t *rapid.T) {
		w := ordered{tinies().Draw(t, "world"), rapid.SampledFrom([]int{0, 10}).Draw(t, "weight"), rapid.IntRange(-1, 3).Draw(t, "nodes")}
		least := w.optimum(tinyCharge)
		p := provision.Decide(tell(t, w.lines()), provision.Options{ProveSpend: true})
		if len(p.Refused) > 0 {
			return // the bound is of those that are placed
		}
		best := money.Micro(least) * 1000
		if least < 0 || p.SpendBound > best || p.Bound > money.Micro(w.optimum(0))*1000 || p.SpendBound > p.Spend() {
			t.Fatalf("optimum %d, bounds %d and %d, spent %d:\n%s\n%v", best, p.Bound, p.SpendBound, p.Spend(), p, w.lines())
		}
		if w.nodes < 0 && w.weight > 0 {
			all++
			if float64(p.SpendBound) > 0.95*float64(best) {
				close++
			}
		}
	})
	if close < all*3/4 {
		t.Errorf("of %d worlds in which order matters the bound is within 5 %% of the least in %d", all, close)
	}
}
