package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/static"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pool is the answer about a pool.
type Pool struct {
	Kind     string   `json:"kind"`
	Name     string   `json:"name"`
	Weight   int32    `json:"weight,omitempty"`
	Problems []string `json:"problems"` // why it buys nothing, or less than it might
	Requires string   `json:"requires,omitempty"`

	Nodes    int     `json:"nodes"` // there or on their way
	Pods     int     `json:"pods"`
	Price    float64 `json:"pricePerHour"`       // of all of them
	Currency string  `json:"currency,omitempty"` // of the prices; empty means USD

	Limits   []Limit        `json:"limits"`
	Types    int            `json:"types"` // that it may buy now
	Barred   int            `json:"typesOverLimit,omitempty"`
	Cheapest *CheapestOffer `json:"cheapest,omitempty"`
	Waiting  int            `json:"newNodes"` // that are to be bought for waiting pods
	Budgets  []Budget       `json:"budgets"`
	Gives    GivesBack      `json:"givesBack"`

	Static *plan.Static `json:"static,omitempty"` // how a pool with replicas stands; nil: it has none
}

// Limit is how much of a resource a pool's nodes may have together.
type Limit struct {
	Resource string `json:"resource"`
	Limit    string `json:"limit"`
	Used     string `json:"used"`
}

// CheapestOffer is the cheapest that a pool may buy.
type CheapestOffer struct {
	InstanceType string  `json:"instanceType"`
	Zone         string  `json:"zone"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"pricePerHour"`
	Synthetic    bool    `json:"syntheticPrice,omitempty"`
}

// Budget is how many nodes may go at once for a reason, and how many do.
type Budget struct {
	Reason  string `json:"reason"`
	Allowed int    `json:"allowed"`
	Going   int    `json:"going"` // or not ready
	// Next is when another number of nodes may go, and Then how many; 0 if that does not change within some days.
	Next int64 `json:"next,omitempty"`
	Then int   `json:"then,omitempty"`
}

// GivesBack is when a pool gives nodes back. Seconds as a span of time; empty means never.
type GivesBack struct {
	EmptyAfter string `json:"emptyAfter,omitempty"`
	MoveAfter  string `json:"consolidateAfter,omitempty"`
	Expires    string `json:"expireAfter,omitempty"`
	Replicas   *int   `json:"replicas,omitempty"` // a static pool keeps so many
}

// Pool answers about a pool; false if there is none of that id.
func (e *Explainer) Pool(id world.PoolID) (Pool, bool) {
	p := e.world.Pool(id)
	if p == nil {
		return Pool{}, false
	}
	available := e.available(p)
	out := Pool{
		Kind: id.Kind, Name: id.Name, Weight: p.Weight, Requires: p.Requirements.String(), Problems: []string{}, Limits: []Limit{}, Budgets: []Budget{},
		Currency: e.currency(), Types: available.Types, Barred: available.Barred, Gives: givesBack(p),
	}
	for _, m := range e.world.Places() {
		if m.Pool() == id {
			out.Nodes++
			out.Pods += len(m.Pods)
			out.Price += plan.PriceOf(e.world, m).Units()
		}
	}
	for _, l := range p.Limits {
		out.Limits = append(out.Limits, Limit{l.Name, amount.Text(l.Name, l.Value), amount.Text(l.Name, available.Used.Value(l.Name))})
	}
	if c := available.Cheapest; c.Shape != "" {
		out.Cheapest = &CheapestOffer{c.Shape, c.Zone, c.CapacityType, c.Price.Units(), c.Synthetic}
	}
	for _, a := range e.plan().New {
		if a.Pool == id {
			out.Waiting++
		}
	}
	for _, r := range hold.Reasons(p.Disruption.Budgets) {
		room := hold.RoomOf(e.world, p, r)
		next, then := hold.Next(p.Disruption.Budgets, r, room.Machines, e.world.At())
		out.Budgets = append(out.Budgets, Budget{r, min(room.Allowed, room.Machines), room.Going, next, min(then, room.Machines)})
	}
	out.Problems = append(out.Problems, e.problems(p, available)...)
	if p.Replicas == nil {
		return out, true
	}
	if s, ok := static.Decide(e.world, e.options).StaticOf(id); ok {
		out.Static = &s
		if s.Why != nil && p.NotReady == "" {
			out.Problems = append(out.Problems, fmt.Sprintf("%s cannot be asked for now: %s", amount.Count(s.Missing, "node"), kept(s.Why)))
		}
	}
	return out, true
}

// available is what a pool may buy, or might if it were ready: a user who mends what keeps it from being ready is to see the next problem now.
func (e *Explainer) available(p *world.Pool) market.Availability {
	if p.NotReady == "" {
		return market.Available(e.world)[p.ID]
	}
	ready := *p
	ready.NotReady = ""
	b := e.world.Edit()
	if b.SetPool(ready) != nil { // it was accepted once
		return market.Availability{}
	}
	return market.Available(b.Snapshot(e.world.At()))[p.ID]
}

// unregistered is what is wrong with a pool whose machines come to nothing.
const unregistered = "machines of it were launched lately and did not register as nodes: its condition NodeRegistrationHealthy says why"

// problems is why a pool buys nothing, and what of it is passed over.
func (e *Explainer) problems(p *world.Pool, s market.Availability) []string {
	var out []string
	if p.Deleting {
		out = append(out, "it is being deleted")
	}
	if p.NotReady != "" {
		out = append(out, "it is not ready: "+p.NotReady)
	}
	for _, wrong := range hold.Unreadable(p.Disruption.Budgets) {
		out = append(out, wrong+": until it is mended no node goes that budgets count")
	}
	if l := p.Disruption.Level; !consolidate.IsLevel(l) {
		out = append(out, fmt.Sprintf("its annotation says consolidation level %q, want %s: it is passed over", l, consolidate.AnyLevel()))
	}
	switch {
	case p.Unhealthy && e.options.UnhealthyLast:
		out = append(out, unregistered+"; other pools are bought from first")
	case p.Unhealthy:
		out = append(out, unregistered)
	}
	c := e.world.CatalogFor(p.ID, p.Template)
	switch {
	case p.Deleting || p.Replicas != nil || p.NotReady != "" && c == nil:
	case c == nil:
		out = append(out, "nothing is known of the machines it may buy: its class is not there, or not looked at yet")
	case s.Types == 0 && s.Barred > 0:
		out = append(out, "its limits leave no room for another node")
	case s.Types == 0:
		out = append(out, "no type meets its requirements and is sold now")
	}
	return out
}

func givesBack(p *world.Pool) GivesBack {
	text := func(after *int64) string {
		if after == nil {
			return ""
		}
		return hold.Span(*after)
	}
	d := p.Disruption
	return GivesBack{text(d.EmptyAfter), text(d.MoveAfter), text(d.ExpireAfter), p.Replicas}
}

// FindPools returns the pools of a name, of whichever kind.
func (e *Explainer) FindPools(name string) []world.PoolID {
	var out []world.PoolID
	for _, p := range e.world.Pools() {
		if p.ID.Name == name {
			out = append(out, p.ID)
		}
	}
	slices.SortFunc(out, func(a, b world.PoolID) int { return cmp.Compare(strings.ToLower(a.Kind), strings.ToLower(b.Kind)) })
	return out
}
