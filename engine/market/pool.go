package market

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pool is a pool that may be bought from.
type Pool struct {
	*world.Pool
	Precedence   int32 // of those with more is bought first: its weight, or less than any weight
	number       int
	title        string // number, in a text that sorts as it does
	Catalog      *world.Catalog
	Known        map[string]bool // keys that some shape of the catalogue, or some offer, defines
	shaping      label.Set       // its requirements that shapes meet or not, maybe by what their offers add
	selling      label.Set       // its requirements that offers meet or not
	Open         label.Set       // demands on labels that only the pods' wishes settle
	Cut          []string        // labels of its own that tell its offers apart
	Left         amount.List     // of the limits
	Types        []*Type         // that its requirements allow, in the order of the catalogue
	ByPrice      []*Type         // the first of each shape, by what the cheapest offer of the shape costs
	Offers       Set
	Levy         money.Micro // what its nodes weigh beside their price: their charge where some pool has its own
	Exotic       []*Type     // of types that are bought only where no other would do
	HasMinValues bool        // some requirement has minValues
	SoftTaints   int         // PreferNoSchedule taints
	Named        int         // machines named so far
	like         *Pool       // that it is like, and that is bought from instead; nil if it has been filled itself
}

// Type is one shape as one pool buys it: all of its offers, or of those
// that daemon sets tell apart the ones where the same run.
type Type struct {
	Pool     *Pool
	Shape    *world.Shape
	Cheapest money.Micro // the price of its cheapest offer
	Least    money.Micro // that of the cheapest offer of the whole shape
	Room     []int64     // for pods, by dimension, daemon sets taken off
	Daemon   amount.List
	Runs     []*world.DaemonSet // on its nodes
	Ports    []world.Port
	Full     bool // there is no room for the daemon sets alone, for the lack of short
	Short    amount.Shortage
	First    int // its offers are Market.Offers[First:Last]
	Last     int
	From     int // those of the whole shape are Market.Offers[From:To]
	To       int

	place   *fit.Place // a node of it as far as shape and pool settle that; made when asked for
	Rank    int        // among its pool's types, by name
	variety int8       // whether enough types are as large, for minValues; 0: not asked yet
}

// Sells reports whether the set has an offer of one of the types.
func (p *Pool) Sells(types []*Type, offers Set) bool {
	return slices.ContainsFunc(types, func(t *Type) bool {
		for i := t.First; i < t.Last; i++ {
			if offers.Has(i) {
				return true
			}
		}
		return false
	})
}

// In reports whether the set has an offer of the pool.
func (p *Pool) In(offers Set) bool {
	if len(p.Types) == 0 {
		return false
	}
	// Those of a pool lie side by side.
	return offers.Between(p.Types[0].First, p.Types[len(p.Types)-1].Last)
}

// offered reports whether an offer of the shape has a label that satisfies r.
func offered(s *world.Shape, r label.Requirement) bool {
	return slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
		v, ok := o.Labels[r.Key]
		return ok && r.Has(v)
	})
}

// accepts reports whether the pool's requirements on zone, capacity type and the offer's own labels allow it.
func (p *Pool) accepts(o *world.Offer) bool {
	for _, r := range p.selling {
		switch r.Key {
		case label.Zone:
			if !r.Has(o.Zone) {
				return false
			}
		case label.CapacityType:
			if !r.Has(o.CapacityType) {
				return false
			}
		default:
			if v, ok := o.Labels[r.Key]; ok && !r.Has(v) {
				return false
			}
		}
	}
	return true
}

// at is a node of the type as far as shape and pool settle it; it is not to be changed.
func (t *Type) at() *fit.Place {
	if t.place == nil {
		t.place = t.Pool.place(t.Shape)
	}
	return t.place
}

// morePlaceLabels is about how many labels a node has beyond those of its shape and its pool.
const morePlaceLabels = 8

// place is a node of the shape as far as shape and pool settle it; zone and capacity type are open.
func (p *Pool) place(s *world.Shape) *fit.Place {
	at := &fit.Place{
		Planned: true, Labels: make(map[string]string, len(s.Labels)+len(p.Labels)+morePlaceLabels), Taints: p.Taints,
		Caps: fit.CapsOf(p.Pool, s), NodeDevices: fit.NodeDevices{Devices: fit.DevicesOf(p.Pool, s)},
	}
	for _, r := range s.Labels {
		if q, ok := p.Requirements.Find(r.Key); ok {
			r = r.Meet(q)
		}
		at.Settle(r)
	}
	for _, r := range p.Requirements {
		if _, ok := s.Labels.Find(r.Key); !ok {
			at.Settle(r)
		}
	}
	if _, ok := at.Labels[label.Region]; !ok && p.Catalog.Region != "" {
		at.Labels[label.Region] = p.Catalog.Region
	}
	for k, v := range p.Labels {
		at.Labels[k] = v
	}
	at.Labels[label.Registered], at.Labels[label.Initialized] = "true", "true"
	at.Labels[fit.PoolLabel(p.ID)] = p.ID.Name
	at.Labels[label.InstanceType] = s.Name
	return at
}

// Fixed is the value of a label that all nodes of the pool have.
func (p *Pool) Fixed(key string) (string, bool) {
	if v, ok := p.Labels[key]; ok {
		return v, true
	}
	switch key {
	case fit.PoolLabel(p.ID):
		return p.ID.Name, true
	case label.Registered, label.Initialized:
		return "true", true
	}
	return "", false
}

// Label is what the shape says of a label of its nodes.
func (t *Type) Label(key string) (label.Requirement, bool) {
	l, ok := t.Shape.Labels.Find(key)
	if !ok && key == label.Region && t.Pool.Catalog.Region != "" {
		return label.Is(key, t.Pool.Catalog.Region), true
	}
	return l, ok
}

// FitsBoth reports whether room has enough for need beside used.
func FitsBoth(need, used, room []int64) bool {
	for i, n := range need {
		if n = amount.Plus(n, used[i]); n > room[i] && n > 0 {
			return false
		}
	}
	return true
}

// Times is how often need fits into room; at least once.
func Times(need, room []int64) int {
	n := 1 << 20
	for i, v := range need {
		if v > 0 {
			n = min(n, int(room[i]/v))
		}
	}
	return max(n, 1)
}

// Fits reports whether room has as much of everything as need wants.
func Fits(need, room []int64) bool {
	for i, n := range need {
		if n > room[i] && n > 0 {
			return false
		}
	}
	return true
}
