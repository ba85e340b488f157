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
	for i, x := range w.types {
		lines = append(lines, fmt.Sprintf("type t%d cpu=%d memory=%dGi price=%.3f zones=a,b", i, x.cpu, x.memory, float64(x.price)/1000))
	}
	for i, p := range w.pods {
		line := fmt.Sprintf("pod p%d cpu=%dm memory=%dGi", i, p.cpu, p.memory)
		if p.zone != "" {
			line += " zone=" + p.zone
		}
		if p.port {
			line += " port=80"
		}
		lines = append(lines, line)
	}
	return lines
}

// optimum is the least price of the pods' machines, in thousandths, with the charge for each.
func (w tiny) optimum(charge int) int {
	least := make([]int, 1<<len(w.pods))
	for set := 1; set < len(least); set++ {
		least[set] = math.MaxInt / 2
		first := set & -set
		for part := set; part > 0; part = (part - 1) & set {
			if part&first == 0 {
				continue
			}
			if price, ok := w.host(uint(part)); ok {
				least[set] = min(least[set], price+charge+least[set&^part])
			}
		}
	}
	return least[len(least)-1]
}

// host is the price of the cheapest machine that takes the pods together.
func (w tiny) host(set uint) (price int, ok bool) {
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
		if ports <= 1 && sum.cpu <= t.cpu*1000 && sum.memory <= t.memory && (!ok || t.price < price) {
			price, ok = t.price, true
		}
	}
	return price, ok
}

func tinies() *rapid.Generator[tiny] {
	return rapid.Custom(func(t *rapid.T) tiny {
		var w tiny
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

// A few pods cost hardly more than the least there is, most often exactly that with the charge.
func TestTinyWorldsAgainstTheOptimum(t *testing.T) {
	const charge = 20 // thousandths, as by default
	var ratios []float64
	chance.Check(t, func(t *rapid.T) {
		w := tinies().Draw(t, "world")
		p := provision.Decide(tell(t, w.lines()), provision.Options{ProveSpend: true})
		if len(p.Refused) > 0 {
			t.Fatalf("refused:\n%s", p)
		}
		price, least := p.Expected(), money.Micro(w.optimum(0))*1000
		if price > solve.Bearable(least) || p.Bound > least {
			t.Fatalf("price %d, optimum %d, bound %d:\n%s\n%v", price, least, p.Bound, p, w.lines())
		}
		spent, best := price+money.Micro(charge*1000).Times(len(p.New)), money.Micro(w.optimum(charge))*1000
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
