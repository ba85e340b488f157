package consolidate

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Begun is a command that is being carried out: its machines are marked, so
// that nothing comes to them any more, and what it buys has been asked for.
//
// Everything but Back may be empty. Whoever remembers no more after a restart
// than which machines go and what was bought for them loses nothing but speed.
type Begun struct {
	Back   []string    `json:"back"`             // claims of the machines that go
	Bought []string    `json:"bought,omitempty"` // claims of the machines that are bought for their pods
	Moves  []plan.Fill `json:"moves,omitempty"`  // where the pods were to go, as the command said it
}

// Begun is the command as it is being carried out, given the claims that were made of its asks.
func (c Command) Begun(bought ...string) Begun {
	b := Begun{Bought: bought, Moves: c.Moves}
	for _, g := range c.Back {
		b.Back = append(b.Back, g.Claim)
	}
	return b
}

// Holds says of each command that was begun, told in the options, why it is not
// to be carried on; nil if it is. Each is looked at as if those before it that hold had been carried out.
//
// A command holds if nothing forbids that its machines go, all pods that are on
// them now have places by the exact rules beside those that wait, and what was
// bought still costs less than what goes. Whether it has been quiet for long
// enough is not asked again, nor are budgets, which count it already. A
// PodDisruptionBudget that allows nothing now, reason.Guarded, passes by itself.
//
// It can be asked while machines that were bought are still on their way: then
// the answer is what it would be once they have come as planned.
func Holds(w *world.World, o Options) []*reason.Why {
	s := open(w, o, func(looker, *world.Place) *reason.Why { return &reason.Why{} }, nil)
	out := make([]*reason.Why, len(o.Begun))
	for n, b := range o.Begun {
		if out[n] = s.may(b); out[n] == nil {
			out[n] = s.begin(b)
		}
	}
	return out
}

// resume does what is left to do of the commands that were begun and hold.
func (s *search) resume() {
	for _, b := range s.options.Begun {
		s.begin(b)
	}
	for i := range s.machines {
		if m := &s.machines[i]; m.why == nil && s.yard.Count(i) > len(s.yard.Lodgers(i)) {
			m.why = &reason.Why{Code: reason.Promised, Subject: m.place.Name(), Detail: "pods of a command that was begun are to go there"}
		}
	}
}

// may says why machines of a command that was begun may not go any more, or why that no longer pays.
func (s *search) may(b Begun) *reason.Why {
	saving, known, late := int64(0), true, false
	for _, name := range b.Back {
		i := s.find(name)
		if i < 0 || s.machines[i].place.Deleting() {
			late = true // its end has been asked for: there is no way back
			continue
		}
		m := &s.machines[i]
		if whys := s.looker.forbids(m.place); len(whys) > 0 {
			return gather(m.place, whys)
		}
		saving += m.price
	}
	for _, name := range b.Bought {
		if i := s.find(name); i >= 0 {
			saving -= s.machines[i].price
			known = known && s.machines[i].offer.CapacityType != ""
		}
	}
	if saving < s.options.leastSaving() && known && !late {
		return &reason.Why{Code: reason.NotCheaper, Detail: fmt.Sprintf("with what was bought instead it saves %s an hour, and a command has to save %s", money(saving), money(s.options.leastSaving()))}
	}
	return nil
}

// begin does what is left to do of a command that was begun, so that nobody
// counts on the room its pods need. It says why that cannot be; then nothing is done.
func (s *search) begin(b Begun) *reason.Why {
	order := s.receivers(b)
	why := s.vacate(b, order, s.meant(b))
	if why != nil {
		why = s.vacate(b, order, nil)
	}
	return why
}

// vacate clears the machines of b, and puts their pods where they are meant to
// go, or else onto the first machine in the order that takes them.
func (s *search) vacate(b Begun, order []int, meant map[world.Key]int) *reason.Why {
	y := s.yard
	mark := y.Mark()
	for _, name := range b.Bought {
		if i := s.find(name); i >= 0 {
			y.Bar(i, false)
		}
	}
	for _, name := range b.Back {
		if i := s.find(name); i >= 0 && !s.machines[i].place.Deleting() {
			y.Clear(i)
		}
	}
	y.Send(meant)
	var why *reason.Why
	if left := y.Settle(order); left > 0 {
		why = &reason.Why{Code: reason.NoPlace, Detail: count(left, "pod") + " of its machines would find no place", Causes: y.Objections()}
		y.Undo(mark)
	}
	for _, name := range b.Bought {
		if i := s.find(name); i >= 0 {
			y.Bar(i, !s.machines[i].takes)
		}
	}
	return why
}

// receivers are the machines that may receive pods of b: what was bought, where they were meant to go, and any other.
func (s *search) receivers(b Begun) []int {
	var out []int
	add := func(i int) {
		if i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	for _, name := range b.Bought {
		add(s.find(name))
	}
	for _, f := range b.Moves {
		if i := s.find(f.Node); i >= 0 && s.machines[i].takes {
			add(i)
		}
	}
	chosen := len(out)
	for i := range s.machines {
		if s.machines[i].takes && !slices.Contains(out[:chosen], i) {
			out = append(out, i)
		}
	}
	return out
}

// meant is where the pods of b were meant to go.
func (s *search) meant(b Begun) map[world.Key]int {
	out := map[world.Key]int{}
	for _, f := range b.Moves {
		if i := s.find(f.Node); i >= 0 {
			for _, key := range f.Pods {
				out[key] = i
			}
		}
	}
	for _, name := range b.Bought {
		if i := s.find(name); i >= 0 {
			for _, key := range s.machines[i].place.Claim.Pods {
				out[key] = i
			}
		}
	}
	return out
}

// find is the machine of a node or a claim; -1 if there is none.
func (s *search) find(name string) int {
	if i, known := s.named[name]; known {
		return i
	}
	return -1
}
