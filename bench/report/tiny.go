package report

import (
	"fmt"
	"strings"
)

// Tiny is worlds so small that the least cost is known.
type Tiny struct {
	Ours  []float64 `json:"ours"`  // cost over optimum
	Peer  []float64 `json:"peer"`  // the same, where it placed all pods
	Above []string  `json:"above"` // worlds whose bound was above the optimum
	Left  int       `json:"left"`  // worlds of which the peer refused pods
}

// tinyLine says how far plans for a handful are from the best.
func tinyLine(b *strings.Builder, t Tiny) {
	if len(t.Ours) == 0 {
		return
	}
	mo, wo := middle(t.Ours)
	mp, wp := middle(t.Peer)
	fmt.Fprintf(b, "\n%d worlds of 2 to 12 pods, of which the least cost is found by trying every way to share machines: Tenon's plans cost %.3f times that in the median and %.3f at worst, and exactly that in %d; Karpenter's %.3f and %.3f, and exactly that in %d of %d. Tenon weighs a machine more with 0.02 USD an hour against price; these figures are price alone.\n",
		len(t.Ours), mo, wo, exact(t.Ours), mp, wp, exact(t.Peer), len(t.Peer))
	if t.Left > 0 {
		fmt.Fprintf(b, "Of %d worlds Karpenter refused pods.\n", t.Left)
	}
}

func exact(ratios []float64) int {
	n := 0
	for _, r := range ratios {
		if r < 1.0000005 {
			n++
		}
	}
	return n
}

func tinyGoals(t Tiny) []goal {
	if len(t.Ours) == 0 {
		return nil
	}
	m, w := middle(t.Ours)
	return []goal{
		{"cost / optimum of tiny worlds: median 1.00, worst 1.05", fmt.Sprintf("median %.3f, worst %.3f of %d", m, w, len(t.Ours)), m <= 1.005 && w <= 1.05},
		{"no bound above the optimum", fmt.Sprintf("%d of %d", len(t.Above), len(t.Ours)), len(t.Above) == 0},
	}
}
