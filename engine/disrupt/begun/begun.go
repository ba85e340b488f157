// Package begun says which commands have begun, and how many machines static pools have besides, as the objects of a cluster show it.
package begun

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Begun is what has been begun and not ended, as the objects of a cluster show it.
type Begun struct {
	Commands []Command
	Strays   []*world.Place // machines that were bought for commands that were taken back
	Awaited  []string       // claims that were bought for pods which are still elsewhere
}

// Command is machines that go together once their pods have other places.
type Command struct {
	Reason string
	Back   []*world.Place // that are to go and whose end has not been asked for, by name
	New    []*world.Place // that were bought for their pods and stay, by name
	Broken bool           // one of its machines was taken back
}

// Intended reports whether a machine is to go once its pods have other places: what it says of itself is an intention until then.
func Intended(p *world.Place) bool {
	return p.Claim != nil && !p.Deleting() && (p.Claim.Going == plan.Underutilized || p.Claim.Going == plan.Drifted || p.Claim.Going == plan.Expired)
}

// In returns what has been begun. Machines that nothing was bought for go each by itself.
func In(w *world.World) Begun {
	var b Begun
	claims := map[string]*world.Place{}
	var bought []*world.Place
	free := map[string]*world.Place{} // machines that are to go, and that no command has yet
	for _, p := range w.Places() {
		if p.Claim == nil {
			continue
		}
		claims[p.Claim.Name] = p
		if Intended(p) {
			free[p.Claim.Name] = p
		}
		if len(p.Claim.Replaces) > 0 && !p.Deleting() {
			bought = append(bought, p)
		}
	}
	for same := range groups(bought) {
		b.gather(same, claims, free)
	}
	for _, p := range free {
		b.Commands = append(b.Commands, Command{Reason: p.Claim.Going, Back: []*world.Place{p}})
	}
	slices.SortFunc(b.Commands, func(x, y Command) int { return byName(x.Back[0], y.Back[0]) })
	slices.Sort(b.Awaited)
	return b
}

// groups yields the machines that were bought for the same ones.
func groups(bought []*world.Place) func(yield func([]*world.Place) bool) {
	key := func(p *world.Place) string { return strings.Join(p.Claim.Replaces, " ") }
	slices.SortStableFunc(bought, func(a, b *world.Place) int { return strings.Compare(key(a), key(b)) })
	return func(yield func([]*world.Place) bool) {
		for len(bought) > 0 {
			n := slices.IndexFunc(bought, func(p *world.Place) bool { return key(p) != key(bought[0]) })
			if n < 0 {
				n = len(bought)
			}
			if !yield(bought[:n:n]) {
				return
			}
			bought = bought[n:]
		}
	}
}

// gather finds the command that machines were bought for.
func (b *Begun) gather(bought []*world.Place, claims, free map[string]*world.Place) {
	c := Command{New: bought}
	late := false // some are gone, or their end has been asked for: pods may be on their way from there
	leaving := false
	for _, name := range bought[0].Claim.Replaces {
		switch p := claims[name]; {
		case p == nil:
			late = true
		case p.Deleting():
			late, leaving = true, true
		case free[name] != nil:
			c.Back = append(c.Back, p)
			c.Reason = p.Claim.Going
			delete(free, name)
		default:
			c.Broken = true
		}
	}
	switch {
	case len(c.Back) > 0:
		slices.SortFunc(c.Back, byName)
		b.Commands = append(b.Commands, c)
	case !late:
		b.Strays = append(b.Strays, bought...)
	}
	if len(c.Back) > 0 || leaving {
		for _, p := range bought {
			b.Awaited = append(b.Awaited, p.Claim.Name)
		}
	}
}

func byName(a, b *world.Place) int { return strings.Compare(a.Name(), b.Name()) }

// Ending returns the World in which the end of every machine of the commands has
// been asked for: their pods wait for places, and nothing else counts on these.
func (b Begun) Ending(w *world.World) *world.World {
	if len(b.Commands) == 0 {
		return w
	}
	var back []*world.Place
	for _, c := range b.Commands {
		back = append(back, c.Back...)
	}
	return Ending(w, back...)
}

// Ending returns the World in which the end of the machines has been asked for.
func Ending(w *world.World, machines ...*world.Place) *world.World {
	e := w.Edit()
	for _, p := range machines {
		c := *p.Claim
		c.Deleting = true
		if err := e.SetClaim(c); err != nil {
			panic("a claim of a World is refused: " + err.Error()) // it was taken before
		}
	}
	return e.Snapshot(w.At())
}
