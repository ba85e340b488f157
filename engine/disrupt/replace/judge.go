// Package replace decides whether a command that has been begun may be carried on, and which machine that is too old or has drifted is replaced next, and by what.
package replace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Patience is how long a machine that is bought may take until it is complete, in seconds.
const Patience = 15 * 60

// Options are what a caller may choose. The zero value works.
type Options struct {
	Pack    pack.Options `json:"pack,omitzero"`
	Planned []string     `json:"planned,omitempty"` // machines, by the names of their places, that waiting pods are on their way to
	Skip    []string     `json:"skip,omitempty"`    // claims of machines that are not to be replaced now
	// Meant is where pods are to go, as far as whoever began that remembers it: others would take their places otherwise.
	Meant map[world.Key]string `json:"-"`
	Busy  bool                 `json:"busy,omitempty"` // pods have just begun to wait, so nobody knows yet what room they leave
}

// Standing is how a command stands. If it says neither, it has to wait.
type Standing struct {
	// May: every pod that would have to move has a place on a machine that is complete.
	May bool
	// Why it cannot be carried on; nil if it can.
	Why *reason.Why
	// Passing: that may pass by itself.
	Passing bool
	// Missing: there are no places, but something that was bought may only not be seen yet.
	Missing bool
}

// fewSteps bounds the search for what to buy for pods that wait anyway: what matters is where pods have places that are there.
const fewSteps = 10_000

// Judge returns how each of the commands stands. It packs the pods that would
// wait if the machines of commands that may go were ending, as is done when they
// are: so nothing is bought for them then.
func Judge(w *world.World, b disrupt.Begun, o Options) []Standing {
	o.Pack.Steps = fewSteps
	out := make([]Standing, len(b.Commands))
	book := hold.Open(w, o.Planned)
	var whole []int
	for i, c := range b.Commands {
		s, is := judge(w, c, book)
		if out[i] = s; is && !o.Busy {
			whole = append(whole, i)
		}
	}
	if len(whole) > 0 {
		seat(w, b, o, whole, out)
	}
	for i, c := range b.Commands {
		out[i] = out[i].within(w, c)
	}
	return out
}

// rounds is how often it is tried to find commands that may all go at once.
const rounds = 3

// seat says of commands how they stand with places for their pods. Those may go
// of which all pods have places if they alone go. Others wait if there are
// places where their pods are meant to go: these may be free again later.
func seat(w *world.World, b disrupt.Begun, o Options, whole []int, out []Standing) {
	ending := b.Ending(w)
	all := places(pack.Pack(ending, o.Pack))
	mayNot := func(where map[world.Key]string) func(int) bool {
		return func(i int) bool { return !placed(w, b.Commands[i], where).May }
	}
	set := slices.DeleteFunc(slices.Clone(whole), mayNot(all))
	for n := 0; n < rounds && len(set) > 0; n++ {
		var back []*world.Place
		for _, i := range set {
			back = append(back, b.Commands[i].Back...)
		}
		left := slices.DeleteFunc(slices.Clone(set), mayNot(places(pack.Pack(disrupt.Ending(w, back...), o.Pack))))
		if len(left) == len(set) {
			break
		}
		if set = left; n == rounds-1 {
			set = nil
		}
	}
	var hinted map[world.Key]string
	for _, i := range whole {
		s := placed(w, b.Commands[i], all)
		switch {
		case slices.Contains(set, i):
			s = Standing{May: true}
		case s.May:
			s = Standing{}
		case s.Missing:
			if hinted == nil {
				hinted = places(pack.Pack(meant(ending, o.Meant), o.Pack))
			}
			if h := placed(w, b.Commands[i], hinted); !h.Missing {
				s = Standing{}
			}
		}
		out[i] = s
	}
}

// meant tells of pods that run where they are to go.
func meant(w *world.World, to map[world.Key]string) *world.World {
	e := w.Edit()
	for key, name := range to {
		p := w.Pod(key)
		if p == nil || p.Node == "" || p.Planned != "" {
			continue
		}
		next := *p
		next.Planned = name
		if err := e.SetPod(next); err != nil {
			panic("a pod of a World is refused: " + err.Error()) // it was taken before
		}
	}
	return e.Snapshot(w.At())
}

// judge is Judge for one command, but for the places of its pods. It reports
// whether these are what is left to be looked at.
func judge(w *world.World, c disrupt.Command, book *hold.Book) (s Standing, whole bool) {
	if c.Broken {
		return Standing{Why: &reason.Why{Code: reason.Policy, Detail: "somebody has taken the mark from one of its nodes"}}, false
	}
	for _, p := range c.Back {
		if c.Reason == plan.Drifted && len(c.New) > 0 && unknown(w, p) {
			s = Standing{Why: &reason.Why{Code: reason.NotReady, Subject: p.Name(), Detail: "what its pool asks for cannot be read now, so it is not known whether it has drifted"}, Passing: true}
			continue
		}
		if why := unwanted(book, w, p, c.Reason); why != nil {
			return Standing{Why: why}, false
		}
		if c.Reason == plan.Expired {
			continue // age asks nothing: it goes in any case
		}
		switch why, passing := forbidden(book, p); {
		case why != nil && !passing:
			return Standing{Why: why}, false
		case why != nil:
			s = Standing{Why: why, Passing: true}
		}
	}
	coming := slices.ContainsFunc(c.New, func(p *world.Place) bool { return !complete(p) })
	return s, s.Why == nil && !coming
}

// within ends the patience with what was bought long ago.
func (s Standing) within(w *world.World, c disrupt.Command) Standing {
	late := slices.ContainsFunc(c.New, func(p *world.Place) bool { return w.At()-p.Claim.Created > Patience })
	if !late || s.May || s.Why != nil && !s.Passing {
		return s
	}
	return Standing{Why: &reason.Why{
		Code: reason.Starting, Subject: c.New[0].Name(), Detail: fmt.Sprintf("what was bought instead was of no use for %d minutes", Patience/60), Causes: s.causes(),
	}}
}

// causes is what is known of why a command cannot be carried on.
func (s Standing) causes() []*reason.Why {
	if s.Why == nil {
		return nil
	}
	return []*reason.Why{s.Why}
}

// placed says whether every pod of the command has a place on a machine that is complete.
func placed(w *world.World, c disrupt.Command, where map[world.Key]string) Standing {
	out := Standing{May: true}
	for _, p := range c.Back {
		for _, pod := range p.Pods {
			if !packing.Leaves(w, pod) {
				continue
			}
			at := w.Place(where[pod.Key])
			if at == nil {
				return Standing{Missing: true, Why: &reason.Why{Code: reason.NoPlace, Subject: pod.String(), Detail: "the pod has no place elsewhere any more"}}
			}
			out.May = out.May && complete(at) // or it is on its way for somebody else
		}
	}
	return out
}

func complete(p *world.Place) bool { return p.Whole() && p.Node.Ready }

// places are where a plan has pods that are not bought for.
func places(p plan.Plan) map[world.Key]string {
	out := map[world.Key]string{}
	for _, fills := range [][]plan.Fill{p.Filled, p.Held} {
		for _, f := range fills {
			for _, k := range f.Pods {
				out[k] = cmp.Or(f.Node, f.Claim)
			}
		}
	}
	return out
}

// unknown reports whether a machine is said not to have drifted while nothing is
// known of what its pool sells: that may be for the lack of it.
func unknown(w *world.World, p *world.Place) bool {
	pool := w.Pool(p.Pool())
	return pool != nil && p.Claim.Drifted == "" && (pool.NotReady != "" || w.CatalogFor(pool.ID, pool.Template) == nil)
}

// unwanted says that there is no longer a reason for the machine to go; nil if there is.
func unwanted(b *hold.Book, w *world.World, p *world.Place, why string) *reason.Why {
	pool := w.Pool(p.Pool())
	switch {
	case pool == nil:
		return b.Unmoved(p)
	case why == plan.Underutilized && (pool.Disruption.MoveAfter == nil || pool.Replicas != nil):
		return b.Unmoved(p)
	case why == plan.Drifted && p.Claim.Drifted == "":
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: "it is what its pool asks for again"}
	case why == plan.Expired && !disrupt.TooOld(w, p):
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: "it may be older now"}
	case why == plan.Expired:
		return nil // no budget holds it up
	case hold.Allowed(pool.Disruption.Budgets, why, hold.RoomOf(w, pool, why).Machines, w.At()) == 0:
		return &reason.Why{Code: reason.Budget, Subject: pool.ID.Name, Detail: "its budgets let no node go now"}
	}
	return nil
}

// forbidden says what forbids that a machine goes now, and whether that passes by itself.
func forbidden(b *hold.Book, p *world.Place) (why *reason.Why, passing bool) {
	for _, h := range b.Any(p) {
		why, passing = b.Why(p, h), h.Code == reason.Guarded || h.Code == reason.Promised
		if !passing {
			return why, false
		}
	}
	if why == nil {
		if not := hold.Unplannable(p); len(not) > 0 {
			return not[0], false
		}
	}
	return why, passing
}
