// Package consolidate decides which machines could be given back although pods run on them, because these pods fit elsewhere or on something cheaper.
//
// It decides and changes nothing. A Plan is made for the World as it is; whoever
// acts on one of its commands asks again first.
package consolidate

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Plan is what could be given back.
type Plan struct {
	World    string      `json:"world"` // digest of the World it was made from
	At       int64       `json:"at"`
	Currency string      `json:"currency,omitempty"` // of every price here; empty means USD/h
	Commands []Command   `json:"commands,omitempty"` // those that may start now first, then those that save most for each move
	Going    []plan.Give `json:"going,omitempty"`    // machines that go anyway: empty, or too old
	Kept     []Kept      `json:"kept,omitempty"`     // every other machine of a pool, by name
	Price    int64       `json:"price"`              // of all machines of pools, millionths an hour
	Bound    int64       `json:"bound,omitempty"`    // what the pods of machines that could move would cost at least on new machines; 0: nothing proven
	Steps    int         `json:"steps,omitempty"`    // counted work
	Again    int64       `json:"again,omitempty"`    // when more may be possible although nothing changes; 0: never
}

// Command is machines that go together, and where their pods go. No command
// needs another one.
type Command struct {
	Back   []plan.Give `json:"back"`             // machines that go, by claim
	New    []plan.Ask  `json:"new,omitempty"`    // machines to be bought before that
	Moves  []plan.Fill `json:"moves,omitempty"`  // machines that stay, and the pods they receive
	Pods   int         `json:"pods"`             // that move
	Saving int64       `json:"saving"`           // millionths an hour
	Effort int64       `json:"effort,omitempty"` // what the moves cost by Options.MoveCost, millionths an hour
	Why    *reason.Why `json:"why,omitempty"`    // what holds it up now; nil if nothing does
}

// Kept is a machine that stays.
type Kept struct {
	Claim string       `json:"claim,omitempty"`
	Node  string       `json:"node,omitempty"`
	Pool  world.PoolID `json:"pool,omitzero"`
	Price int64        `json:"price,omitempty"` // millionths an hour
	Why   *reason.Why  `json:"why"`
}

// Saving is what the commands that may start now save an hour.
func (p Plan) Saving() int64 {
	sum := int64(0)
	for _, c := range p.Commands {
		if c.Why == nil {
			sum += c.Saving
		}
	}
	return sum
}

// Possible is what all commands together save an hour.
func (p Plan) Possible() int64 {
	sum := int64(0)
	for _, c := range p.Commands {
		sum += c.Saving
	}
	return sum
}

// Moved is how many pods the commands that may start now move.
func (p Plan) Moved() int {
	sum := 0
	for _, c := range p.Commands {
		if c.Why == nil {
			sum += c.Pods
		}
	}
	return sum
}

// Of leaves of the plan what it says of one machine, by the name of its node or claim.
func (p Plan) Of(name string) Plan {
	is := func(g plan.Give) bool { return g.Node == name || g.Claim == name }
	out := p
	out.Commands, out.Going, out.Kept, out.Price, out.Bound = nil, nil, nil, 0, 0
	for _, c := range p.Commands {
		if slices.ContainsFunc(c.Back, is) {
			out.Commands = append(out.Commands, c)
			for _, g := range c.Back {
				out.Price += g.Price
			}
		}
	}
	for _, g := range p.Going {
		if is(g) {
			out.Going = append(out.Going, g)
			out.Price += g.Price
		}
	}
	for _, k := range p.Kept {
		if k.Node == name || k.Claim == name {
			out.Kept = append(out.Kept, k)
			out.Price += k.Price
		}
	}
	return out
}
