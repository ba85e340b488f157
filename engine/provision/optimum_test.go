package provision_test

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/solve"
)

// tiny is a World of a few pods, told twice: in lines, and in numbers from which the optimum is found by looking at every way.
type tiny struct {
	types []tinyType
	small int // the charge for each node of a pool that buys only machines of few cores, in thousandths; below 0: there is none
	large int // the same of the pool that buys any; below 0: it does not say
	pods  []tinyPod
}

type tinyType struct{ cpu, memory, price int }

type tinyPod struct {
	cpu, memory int // thousandths of a core, GiB
	zone        string
	port        bool
}

func (w tiny) lines() []string {
	lines := []string{"pool general"}
	if w.large >= 0 {
		lines[0] += fmt.Sprintf(" charge=%.3f", float64(w.large)/1000)
	}
	if w.small >= 0 {
		lines = append(lines, fmt.Sprintf("pool small require=cores:2|4 charge=%.3f", float64(w.small)/1000))
	}
	for i, x := range w.types {
		lines = append(lines, fmt.Sprintf("type t%d cpu=%d cores=%d memory=%dGi price=%.3f zones=a,b", i, x.cpu, x.cpu, x.memory, float64(x.price)/1000))
	}
	for i, p := range w.pods {
		line := fmt.Sprintf("pod p%d cpu=%dm memory=%dGi", i, p.cpu, p.memory)
		if p.zone != "" {
			line += " select=zone:" + p.zone
		}
		if p.port {
			line += " port=80"
		}
		lines = append(lines, line)
	}
	return lines
}

// optimum is the least price of the pods' machines, in thousandths, with the charge for each, whatever pools say.
func (w tiny) optimum(charge int) int {
	return w.least(func(tinyType) int { return charge })
}

// charge is the least that a node of the type counts beside its price, as the pools say.
func (w tiny) charge(x tinyType) int {
	out := w.large
	if out < 0 {
		out = tinyCharge
	}
	if w.small >= 0 && x.cpu <= 4 {
		out = min(out, w.small)
	}
	return out
}

// least is the least price of the pods' machines, in thousandths, with a charge for each.
func (w tiny) least(charge func(tinyType) int) int {
	least := make([]int, 1<<len(w.pods))
	for set := 1; set < len(least); set++ {
		least[set] = math.MaxInt / 2
		first := set & -set
		for part := set; part > 0; part = (part - 1) & set {
			if part&first == 0 {
				continue
			}
			if price, ok := w.host(uint(part), charge); ok {
				least[set] = min(least[set], price+least[set&^part])
			}
		}
	}
	return least[len(least)-1]
}

// host is the price, charge included, of the cheapest machine that takes the pods together.
func (w tiny) host(set uint, charge func(tinyType) int) (price int, ok bool) {
	var sum tinyPod
	ports := 0
	for ; set > 0; set &= set - 1 {
		p := w.pods[bits.TrailingZeros(set)]
		if p.zone != "" && sum.zone != "" && p.zone != sum.zone {
			return 0, false
		}
		sum.zone = max(sum.zone, p.zone)
		sum.cpu, sum.memory = sum.cpu+p.cpu, sum.memory+p.memory
		if p.port {
			ports++
		}
	}
	for _, t := range w.types {
		if each := t.price + charge(t); ports <= 1 && sum.cpu <= t.cpu*1000 && sum.memory <= t.memory && (!ok || each < price) {
			price, ok = each, true
		}
	}
	return price, ok
}

func tinies() *rapid.Generator[tiny] {
	return rapid.Custom(func(t *rapid.T) tiny {
		w := tiny{small: -1, large: -1}
		for _, memory := range []int{2, 4, 8} {
			for cpu := 2; cpu <= 8; cpu *= 2 {
				price := cpu*20 + cpu*memory*3 + rapid.IntRange(-5, 5).Draw(t, "premium")
				w.types = append(w.types, tinyType{cpu, cpu * memory, price})
			}
		}
		kinds := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) tinyPod {
			return tinyPod{
				cpu:    rapid.SampledFrom([]int{100, 500, 1000, 1500, 3000, 3900}).Draw(t, "cpu"),
				memory: rapid.IntRange(1, 16).Draw(t, "memory"),
				zone:   rapid.SampledFrom([]string{"", "", "", "a", "b"}).Draw(t, "zone"),
				port:   rapid.IntRange(0, 5).Draw(t, "port") == 0,
			}
		}), 1, 5).Draw(t, "kinds")
		w.pods = rapid.SliceOfN(rapid.SampledFrom(kinds), 1, 8).Draw(t, "pods")
		return w
	})
}

// tinyCharge is what a node counts beside its price by default, in thousandths.
const tinyCharge = 20

// A few pods cost hardly more than the least there is, most often exactly that with the charge.
func TestTinyWorldsAgainstTheOptimum(t *testing.T) {
	var ratios []float64
	chance.Check(t, func(t *rapid.T) {
		w := tinies().Draw(t, "world")
		p := provision.Decide(tell(t, w.lines()), provision.Options{ProveSpend: true})
		if len(p.Refused) > 0 {
			t.Fatalf("refused:\n%s", p)
		}
		price, least := p.Expected(), money.Micro(w.optimum(0))*1000
		if price < least || price > solve.PriceCeiling(least) || p.Bound > least {
			t.Fatalf("price %d, optimum %d, bound %d:\n%s\n%v", price, least, p.Bound, p, w.lines())
		}
		spent, best := price+money.Micro(tinyCharge*1000).Times(len(p.New)), money.Micro(w.optimum(tinyCharge))*1000
		if p.SpendBound > best || p.SpendBound < p.Bound {
			t.Fatalf("with the charge optimum %d, bound %d, without %d:\n%s\n%v", best, p.SpendBound, p.Bound, p, w.lines())
		}
		ratios = append(ratios, float64(spent)/float64(best))
	})
	slices.Sort(ratios)
	if median := ratios[len(ratios)/2]; median > 1 {
		t.Errorf("with the charge, half of the plans cost more than %.3f times the least", median)
	}
}

// Where pools have charges of their own, plans minimise price and charge together, however few the pods are.
func TestTinyWorldsOfPoolsWithCharges(t *testing.T) {
	var ratios []float64
	chance.Check(t, func(t *rapid.T) {
		w := tinies().Draw(t, "world")
		charges := rapid.SampledFrom([]int{-1, 0, 5, 30, 100, 400})
		w.small, w.large = charges.Draw(t, "small"), charges.Draw(t, "large")
		if w.small < 0 && w.large < 0 {
			return
		}
		p := provision.Decide(tell(t, w.lines()), provision.Options{ProveSpend: true})
		if len(p.Refused) > 0 {
			t.Fatalf("refused:\n%s", p)
		}
		best := money.Micro(w.least(w.charge)) * 1000
		if least := money.Micro(w.optimum(0)) * 1000; p.Bound > least || p.SpendBound > best || p.SpendBound < p.Bound || p.Spend() < best {
			t.Fatalf("optimum %d, with the charge %d; bounds %d, %d; spent %d:\n%s\n%v", least, best, p.Bound, p.SpendBound, p.Spend(), p, w.lines())
		}
		ratios = append(ratios, float64(p.Spend())/float64(best))
	})
	slices.Sort(ratios)
	if median, worst := ratios[len(ratios)/2], ratios[len(ratios)-1]; median > 1 || worst > 1.05 {
		t.Errorf("price and charge are %.3f times the least in the median, %.3f at worst", median, worst)
	}
}
