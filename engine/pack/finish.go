package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/refuse"
	"github.com/tenon-sh/tenon/engine/world"
)

// finish turns the packing into a plan.
func (k *packer) finish() plan.Plan {
	p := plan.Plan{World: k.World.Digest(), At: k.World.At(), Charge: k.Market.Every, Waiting: k.Waiting, Bound: k.bound, SpendBound: k.spend, Steps: k.Steps}
	if c := k.World.Currencies(); len(c) > 0 {
		p.Currency = c[0]
	}
	writer := &menu.Writer{Packing: k.Packing}
	for _, b := range k.Planned {
		ask := writer.Ask(b)
		p.Cost += ask.Price
		p.New = append(p.New, ask)
	}
	for _, b := range k.Existing {
		fill(b, &p)
	}
	slices.SortFunc(p.New, func(a, b plan.Ask) int { return strings.Compare(a.Name, b.Name) })
	byMachine := func(a, b plan.Fill) int {
		return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Claim, b.Claim))
	}
	slices.SortFunc(p.Filled, byMachine)
	p.Refused = append(k.refused, refuse.All(k.Packing)...)
	slices.SortFunc(p.Refused, func(a, b plan.Refusal) int { return a.Pod.Compare(b.Pod) })
	p.GivenUp = losses(k.Packing)
	if len(p.Refused) > 0 {
		p.Again = k.Backoffs.Next()
	}
	return p
}

// fill writes the pods that go to a machine that is there or on its way.
func fill(b *packing.Bin, p *plan.Plan) {
	if len(b.Pods) == 0 {
		return
	}
	f := plan.Fill{}
	if b.Machine.Node != nil {
		f.Node = b.Machine.Node.Name
	}
	if b.Machine.Claim != nil {
		f.Claim = b.Machine.Claim.Name
	}
	var held []world.Key
	for _, x := range b.Pods {
		if x.Held {
			held = append(held, x.Pod.Key)
			continue
		}
		f.Pods = append(f.Pods, x.Pod.Key)
	}
	if len(f.Pods) > 0 {
		slices.SortFunc(f.Pods, world.Key.Compare)
		p.Filled = append(p.Filled, f)
	}
	if len(held) > 0 {
		slices.SortFunc(held, world.Key.Compare)
		p.Held = append(p.Held, plan.Fill{Node: f.Node, Claim: f.Claim, Pods: held})
	}
}

// losses are the soft terms that are not honoured.
func losses(k *packing.Packing) []plan.Loss {
	if k.Options.PreferencePolicy == packing.Ignore {
		return nil
	}
	var out []plan.Loss
	for _, bins := range [][]*packing.Bin{k.Existing, k.Planned} {
		for _, b := range bins {
			for _, x := range b.Pods {
				packing.Lost(k, b, x, func(weight int, loss plan.Loss) {
					loss.Why = fmt.Sprintf("weight %d: honouring it would cost more than it is worth", weight)
					out = append(out, loss)
				})
			}
		}
	}
	slices.SortFunc(out, func(a, b plan.Loss) int {
		return cmp.Or(a.Pod.Compare(b.Pod), strings.Compare(a.Term, b.Term))
	})
	return out
}
