package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	helper "k8s.io/component-helpers/resource"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/ours"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/report"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// tinyChild is the child that plans for a handful of pods, often.
const tinyChild = "tiny"

// tiny has a child plan for worlds of which the optimum is known.
func (o *options) tiny(ctx context.Context, progress io.Writer) (report.Tiny, error) {
	var t report.Tiny
	err := child(ctx, &t, tinyChild, "-tiny", strconv.Itoa(o.tinies), "-cap", o.cap.String())
	fmt.Fprintf(progress, "tiny: %d worlds, %d of them of both sides; bounds above the optimum: %q\n", len(t.Ours), len(t.Peer), t.Above)
	return t, err
}

// tinyWorlds plans for them by each side, as JSON.
func (o *options) tinyWorlds(w io.Writer) error {
	var t report.Tiny
	s, _ := scenario.Find("tiny")
	c, err := market.Load()
	if err != nil {
		return err
	}
	for seed := range uint64(o.tinies) { //nolint:gosec // a small number
		in := s.Make(c, 2+int(seed%11), seed+1) //nolint:gosec // a dozen at most
		least := optimum(in, c).Units()
		us, err := ours.Run(in, c, provision.Options{Steps: o.steps})
		if err != nil {
			return err
		}
		them, err := peer.Run(in, c, peer.Options{Workers: o.workers, Cap: o.cap})
		if err != nil {
			return err
		}
		if us.Placed() < len(in.Pending) {
			return fmt.Errorf("tiny world %d: Tenon refused pods: %v", seed+1, us.Refused)
		}
		t.Ours = append(t.Ours, us.Cost()/least)
		if us.Bound > least*1.0000001 {
			t.Above = append(t.Above, fmt.Sprintf("seed %d: bound %f, optimum %f", seed+1, us.Bound, least))
		}
		if them.Placed() < len(in.Pending) {
			t.Left++
		} else {
			t.Peer = append(t.Peer, them.Cost()/least)
		}
	}
	return json.NewEncoder(w).Encode(t)
}

// sale is a machine that may be bought.
type sale struct {
	room  amount.List
	zone  string
	price money.Micro
}

// optimum is the least price of machines for all pods of a tiny world, by trying every way to share them.
func optimum(in scenario.Input, c world.Catalog) money.Micro {
	sold := forSale(observe.NodePool(in.Pools[0]), c)
	pods := make([]handful, len(in.Pending))
	for i, p := range in.Pending {
		pods[i] = alone(p)
	}
	least, price := make([]money.Micro, 1<<len(pods)), make([]money.Micro, 1<<len(pods))
	for set := 1; set < len(least); set++ {
		price[set], least[set] = cheapest(sold, pods, set), math.MaxInt64
		first := set & -set
		for part := set; part > 0; part = (part - 1) & set {
			if part&first != 0 && price[part] > 0 {
				least[set] = min(least[set], price[part]+least[set&^part])
			}
		}
	}
	return least[len(least)-1]
}

// handful is what pods on one machine need of it.
type handful struct {
	need  amount.List
	zone  string   // empty: any
	apart []string // applications of which there may be only one pod here
}

// alone is what a pod needs. The only affinity there is in a tiny world keeps pods of an application from each other's host.
func alone(p *corev1.Pod) handful {
	h := handful{zone: p.Spec.NodeSelector[corev1.LabelTopologyZone]}
	h.need = observe.Amounts(helper.PodRequests(p, helper.PodResourcesOptions{})).Plus(amount.Of(amount.Entry{Name: amount.Pods, Value: amount.Unit}))
	if p.Spec.Affinity != nil {
		h.apart = []string{p.Labels["app"]}
	}
	return h
}

// and is what both need; ok is false if they cannot be together.
func (h handful) and(g handful) (both handful, ok bool) {
	if h.zone != "" && g.zone != "" && h.zone != g.zone || slices.ContainsFunc(g.apart, func(a string) bool { return slices.Contains(h.apart, a) }) {
		return handful{}, false
	}
	return handful{h.need.Plus(g.need), max(h.zone, g.zone), slices.Concat(h.apart, g.apart)}, true
}

// forSale lists what a pool may buy, the cheapest first.
func forSale(p world.Pool, c world.Catalog) []sale {
	var out []sale
	for _, s := range c.Shapes {
		for _, o := range s.Offers {
			fits := !o.Gone
			for _, r := range p.Requirements {
				switch has, ok := s.Labels.Find(r.Key); {
				case r.Key == label.Zone:
					fits = fits && r.Has(o.Zone)
				case r.Key == label.CapacityType:
					fits = fits && r.Has(o.CapacityType)
				default:
					fits = fits && ok && has.Meets(r)
				}
			}
			if fits {
				out = append(out, sale{s.Allocatable(), o.Zone, o.Price})
			}
		}
	}
	slices.SortFunc(out, func(a, b sale) int { return cmp.Compare(a.price, b.price) })
	return out
}

// cheapest is the price of a machine that takes the pods of a set together; 0 if none does.
func cheapest(sold []sale, pods []handful, set int) money.Micro {
	var all handful
	for ; set > 0; set &= set - 1 {
		both, ok := all.and(pods[bits.TrailingZeros(uint(set))]) //nolint:gosec // never negative
		if !ok {
			return 0
		}
		all = both
	}
	for _, m := range sold {
		if (all.zone == "" || all.zone == m.zone) && all.need.Fits(m.room) {
			return m.price
		}
	}
	return 0
}
