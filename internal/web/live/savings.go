package live

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/internal/journal"
)

// mostSavings is how many moves, and how many reasons to stay, are shown.
const mostSavings = 5

// Savings are what consolidation could save, by the last decision that looked for it. Money is in millionths of the currency an hour.
type Savings struct {
	At       int64       `json:"at"`
	Decision string      `json:"decision"`
	Price    money.Micro `json:"price"`           // of the nodes of all pools
	Bound    money.Micro `json:"bound,omitempty"` // that nodes for the pods which can move cost at least, all of them new; 0: nothing is proven
	Now      money.Micro `json:"now"`             // that moves save which may begin at once
	Held     money.Micro `json:"held"`            // that moves would save which something holds up
	Best     []Saving    `json:"best"`            // the moves that save most, first
	Stay     []Stay      `json:"stay"`            // what keeps the other nodes, by what they cost together
}

// Saving is a move: nodes that could go.
type Saving struct {
	Nodes  []string    `json:"nodes"`
	Reason string      `json:"reason"`
	Saves  money.Micro `json:"saves"`
	Pods   int         `json:"pods"`             // that move
	Buys   int         `json:"buys,omitempty"`   // nodes that are bought for them
	HeldUp string      `json:"heldUp,omitempty"` // why it waits
}

// Stay is a reason for which nodes are kept.
type Stay struct {
	Code  string      `json:"code"`
	Nodes int         `json:"nodes"`
	Price money.Micro `json:"price"`
	Such  string      `json:"such"` // the dearest of the nodes, and what is said of it
}

// savingsOf are those of the last decision that looked for them; nil if none did.
func savingsOf(decided []journal.Entry) *Savings {
	i := slices.IndexFunc(decided, func(e journal.Entry) bool { return e.Kind == journal.GiveBack && e.Plan.Price > 0 })
	if i < 0 {
		return nil
	}
	e := decided[i]
	p := e.Plan
	s := &Savings{
		At: e.World.At(), Decision: e.World.Digest(), Price: p.Price, Bound: p.Least, Now: p.Saving(), Held: p.Possible() - p.Saving(),
		Best: []Saving{}, Stay: staysOf(p),
	}
	for _, c := range p.Commands {
		if c.Begun || c.Saving <= 0 {
			continue
		}
		best := Saving{Nodes: c.Nodes(), Reason: c.Reason, Saves: c.Saving, Pods: c.Pods, Buys: len(c.New)}
		if c.Verdict == plan.Wait && c.Why != nil {
			best.HeldUp = c.Why.Line()
		}
		s.Best = append(s.Best, best)
	}
	slices.SortStableFunc(s.Best, func(a, b Saving) int { return cmp.Compare(b.Saves, a.Saves) })
	s.Best = s.Best[:min(len(s.Best), mostSavings)]
	return s
}

// staysOf groups the nodes that stay by what keeps them, each counted once.
func staysOf(p plan.Plan) []Stay {
	dearest := map[string]money.Micro{}
	by := map[string]*Stay{}
	named := map[string]bool{}
	for _, k := range p.Kept {
		if k.Reason != plan.Underutilized || k.Why == nil || named[k.Claim] {
			continue
		}
		named[k.Claim] = true
		code := string(k.Why.Code)
		s := by[code]
		if s == nil {
			s = &Stay{Code: code}
			by[code] = s
		}
		s.Nodes++
		s.Price += k.Price
		if s.Such == "" || k.Price > dearest[code] {
			s.Such, dearest[code] = k.Why.Line(), k.Price
		}
	}
	out := []Stay{}
	for _, s := range by {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b Stay) int { return cmp.Or(cmp.Compare(b.Price, a.Price), cmp.Compare(a.Code, b.Code)) })
	return out[:min(len(out), mostSavings)]
}
