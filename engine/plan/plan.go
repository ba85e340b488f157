// Package plan is what was decided: capacity to ask for, capacity to give back, and what was refused, each with its reasons and its price.
//
// A Plan is a value. It holds names, codes and numbers, nothing that can be
// called, and the same World and Options always give the same Plan.
package plan

import (
	"fmt"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plan is one decision.
type Plan struct {
	World      string      `json:"world"`                // digest of the World it was made from
	At         int64       `json:"at"`                   // the World's time, seconds since 1970
	Currency   string      `json:"currency,omitempty"`   // of every price here; empty means USD/h
	New        []Ask       `json:"new,omitempty"`        // capacity to ask for, in order of name
	Filled     []Fill      `json:"filled,omitempty"`     // existing nodes and claims that receive waiting pods
	Held       []Fill      `json:"held,omitempty"`       // waiting pods that the scheduler has already promised a place
	Refused    []Refusal   `json:"refused,omitempty"`    // waiting pods that found no place
	GivenUp    []Loss      `json:"givenUp,omitempty"`    // soft terms that were not honoured
	Cost       money.Micro `json:"cost,omitempty"`       // of New, millionths an hour
	Bound      money.Micro `json:"bound,omitempty"`      // no plan that places these pods on new machines can cost less on average; 0: nothing proven
	SpendBound money.Micro `json:"spendBound,omitempty"` // the same of price and charge together within limits and in the order of pools, if that was asked for
	Charge     money.Micro `json:"charge,omitempty"`     // the node charge used, millionths an hour a node; 0 where pools have their own, which New has
	Steps      int         `json:"steps,omitempty"`      // counted work
	Waiting    int         `json:"waiting,omitempty"`    // pods considered
	Commands   []Command   `json:"commands,omitempty"`   // machines to give back: those that have begun first, then those that may begin, those that save most for each move first
	Spare      []Spare     `json:"spare,omitempty"`      // machines that were bought for commands that were taken back
	Kept       []Kept      `json:"kept,omitempty"`       // every other machine of a pool, and why it stays
	Price      money.Micro `json:"price,omitempty"`      // of all machines of pools, millionths an hour
	Least      money.Micro `json:"least,omitempty"`      // what the pods of machines that could move would cost at least on new machines; 0: nothing proven
	Static     []Static    `json:"static,omitempty"`     // how each static pool stands, by name
	Again      int64       `json:"again,omitempty"`      // when more may be due although nothing changes; 0: never
}

// Refusal is a waiting pod that found no place.
type Refusal struct {
	Pod world.Key   `json:"pod"`
	UID string      `json:"uid,omitempty"`
	Why *reason.Why `json:"why,omitempty"`
}

// Gated reports whether the pod waits for its scheduling gates, so that it may not be placed yet.
func (r Refusal) Gated() bool { return r.Why != nil && r.Why.Code == reason.Gated }

// Unplaced counts the pods that the plan refuses: those that wait for their scheduling gates, and the others.
// The room of a CapacityBuffer is no pod: its status says how it stands.
func (p Plan) Unplaced(w *world.World) (gated, refused int) {
	for _, r := range p.Refused {
		switch pod := w.Pod(r.Pod); {
		case pod != nil && pod.Virtual:
		case r.Gated():
			gated++
		default:
			refused++
		}
	}
	return gated, refused
}

// Gated is how many of the pods considered wait for their scheduling gates.
func (p Plan) Gated() int {
	n := 0
	for _, r := range p.Refused {
		if r.Gated() {
			n++
		}
	}
	return n
}

// Loss is a soft term of a pod that was given up, and what honouring it would have cost or broken.
type Loss struct {
	Pod  world.Key `json:"pod"`
	Term string    `json:"term,omitempty"` // path and text of the term
	Why  string    `json:"why,omitempty"`

	Of spread.Soft `json:"-"` // the same as data, for those that make sentences of it
}

// Expected is what the new machines cost on average: their price, and more for
// those that may be refused or taken back.
func (p Plan) Expected() money.Micro {
	sum := p.Cost
	for _, a := range p.New {
		if a.Expected > 0 {
			sum = amount.Plus(sum, a.Expected-a.Price)
		}
	}
	return sum
}

// Spend is what plans make small: what the new machines cost on average, and the charge for each.
func (p Plan) Spend() money.Micro {
	sum := amount.Plus(p.Expected(), p.Charge.Times(len(p.New)))
	for _, a := range p.New {
		sum = amount.Plus(sum, a.Charge)
	}
	return sum
}

// Gap is how far the expected cost is above the bound, as a share of the bound; false if it says nothing.
func (p Plan) Gap() (float64, bool) {
	cost := p.Expected()
	if p.Bound <= 0 || p.Bound < cost/2 {
		return 0, false
	}
	return float64(cost-p.Bound) / float64(p.Bound), true
}

// Proven is the share of the expected cost that is proven to be necessary, for
// a person; empty if the bound says nothing. Of the rest it is not known whether
// a better plan would save it.
func (p Plan) Proven() string {
	if _, known := p.Gap(); !known {
		return ""
	}
	return provenShare(p.Bound, p.Expected())
}

// provenSpend is the same of what is spent, the charge for each node included; empty if nothing is proven of that.
func (p Plan) provenSpend() string {
	spend := p.Spend()
	if p.SpendBound <= 0 || spend == p.Expected() {
		return ""
	}
	return provenShare(p.SpendBound, spend)
}

// provenShare is a share that is proven, for a person. What is rounded up would be proven wholly.
func provenShare(bound, cost money.Micro) string {
	out := 100 * float64(bound) / float64(cost)
	if bound < cost {
		out = min(out, 99.9)
	}
	return fmt.Sprintf("%.1f %%", out)
}
