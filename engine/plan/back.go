package plan

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Back are the machines that the plan has go: what was begun before and ends now, and what begins to.
func (p Plan) Back() []Give {
	var out []Give
	for _, c := range p.Commands {
		if c.Verdict == Begin || c.Verdict == CarryOn {
			out = append(out, c.Back...)
		}
	}
	return out
}

// Asks are the machines that the plan buys, for waiting pods and for those of machines that go.
func (p Plan) Asks() []Ask {
	out := slices.Clone(p.New)
	for _, c := range p.Commands {
		if c.Verdict == Begin {
			out = append(out, c.New...)
		}
	}
	return out
}

// StaticOf is how a static pool stands; false if the plan says nothing of it.
func (p Plan) StaticOf(pool world.PoolID) (Static, bool) {
	for _, s := range p.Static {
		if s.Pool == pool {
			return s, true
		}
	}
	return Static{}, false
}

// Missing is how many machines static pools want that cannot be asked for now.
func (p Plan) Missing() int {
	n := 0
	for _, s := range p.Static {
		n += s.Missing
	}
	return n
}

// Acts reports whether the plan has anything done.
func (p Plan) Acts() bool {
	return len(p.New)+len(p.Spare) > 0 || slices.ContainsFunc(p.Commands, Command.Acts)
}

// Saving is what the commands save an hour that begin now.
func (p Plan) Saving() money.Micro {
	return sum(p, func(c Command) bool { return c.Verdict == Begin }, func(c Command) money.Micro { return c.Saving })
}

// Possible is what all commands together save an hour that have not begun.
func (p Plan) Possible() money.Micro {
	return sum(p, func(Command) bool { return true }, func(c Command) money.Micro { return c.Saving })
}

// Moved is how many pods the commands move that begin now.
func (p Plan) Moved() int {
	return sum(p, func(c Command) bool { return c.Verdict == Begin }, func(c Command) int { return c.Pods })
}

// sum adds up what commands come to that move pods and have not begun.
func sum[T int | money.Micro](p Plan, of func(Command) bool, what func(Command) T) T {
	var sum T
	for _, c := range p.Commands {
		if !c.Begun && !c.Idle() && of(c) {
			sum += what(c)
		}
	}
	return sum
}

// Of leaves of the plan what it says of one machine, by the name of its node or claim.
func (p Plan) Of(name string) Plan {
	out := p
	out.Commands, out.Kept, out.Spare, out.Price, out.Least = nil, nil, nil, 0, 0
	for _, c := range p.Commands {
		if slices.ContainsFunc(c.Back, func(g Give) bool { return g.Node == name || g.Claim == name }) {
			out.Commands = append(out.Commands, c)
			for _, g := range c.Back {
				out.Price += g.Price
			}
		}
	}
	for _, k := range p.Kept {
		if k.Node == name || k.Claim == name {
			out.Kept = append(out.Kept, k)
			out.Price += k.Price
		}
	}
	for _, s := range p.Spare {
		if s.Claim == name {
			out.Spare = append(out.Spare, s)
		}
	}
	return out
}
