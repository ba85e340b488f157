package disrupt

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// maxDrifted is how many machines that have drifted one decision has replaced at most, whatever budgets let go: what is written for them
	// takes an API server some seconds.
	maxDrifted = 1000
	// maxExpired is the same for machines that are too old. No budget bounds these, and what is bought for all of them is there beside them for a while.
	maxExpired = 100
	// triesEach is how many machines are tried at most for each that may be replaced.
	triesEach = 2
	// maxAwaiting is how many are tried at most that have to await what was bought before.
	maxAwaiting = 10
	// maxReplaceSteps bounds the work of one decision: it is some seconds of a processor.
	maxReplaceSteps = 500_000_000
	// stepsEach bounds the search for what to buy for one machine's pods, unless the caller does.
	stepsEach = 20_000
	// triedAlone is how many machines are tried each by itself, if none could be replaced together with others.
	triedAlone = 3
)

// replacer has machines replaced: each by a command of its own, and all of them in one packing, in which no place is given twice.
type replacer struct {
	*decision
	world    *world.World
	book     *hold.Book
	of       string // the reason
	most     int    // of them
	cluster  *whatif.Cluster
	at       map[string]int // positions in the cluster, by the names of the machines
	going    []replaced
	homeless []*world.Place // machines whose pods found no place
	whys     []*reason.Why

	awaiting int // machines that are kept until what was bought in their place, or for another, has come or gone
}

// replaced is a machine that is replaced, and what becomes of its pods.
type replaced struct {
	machine *world.Place
	to      whatif.Replacement
}

// replace has the machines replaced, in their order, as many as budgets and bounds let go. It reports whether there are any.
func (r *replacer) replace(machines []*world.Place) bool {
	most := r.most
	if r.straying() {
		most = 1 // they all wait until that has been given back
	}
	machines = machines[:min(len(machines), triesEach*r.most)]
	for _, p := range machines {
		if len(r.going) == most || r.awaiting == maxAwaiting || r.cluster != nil && r.cluster.Steps() > maxReplaceSteps {
			break
		}
		if r.of == plan.Drifted && r.book.Room(r.world.Pool(p.Pool()), r.of).Left() == 0 {
			continue // those before it go first
		}
		r.try(p, machines)
	}
	r.settle()
	if len(r.going) == 0 {
		r.tryAlone()
	}
	for i, p := range r.homeless {
		r.stays(p, r.of, r.whys[i])
	}
	for _, x := range r.going {
		r.propose(x.command(r.world, r.of))
	}
	return len(r.going) > 0
}

// try has one machine replaced, if its pods have other places beside those of the machines before it.
func (r *replacer) try(p *world.Place, machines []*world.Place) {
	var to whatif.Replacement
	if slices.ContainsFunc(p.Pods, func(pod *world.Pod) bool { return packing.Leaves(r.world, pod) }) {
		if r.cluster == nil {
			r.gather(machines)
		}
		var why *reason.Why
		if stranded := r.cluster.Stranded(); len(stranded) > 0 {
			why = strandedWhy(stranded[0])
		} else {
			to, why = r.cluster.Replace(r.at[p.Name()])
		}
		if why != nil {
			r.homeless, r.whys = append(r.homeless, p), append(r.whys, why)
			return
		}
	}
	x := replaced{p, to}
	if why := r.awaits(x.command(r.world, r.of)); why != nil {
		r.awaiting++
		r.stays(p, r.of, why)
		return
	}
	r.book.Give(p)
	r.going = append(r.going, x)
}

// settle leaves those for later whose pods could not be bound once those of all others are.
func (r *replacer) settle() {
	if r.cluster == nil {
		return
	}
	for _, i := range r.cluster.Unsettled() {
		r.going = slices.DeleteFunc(r.going, func(x replaced) bool { return r.at[x.machine.Name()] == i })
	}
}

// tryAlone tries the first of the machines whose pods found no place each by itself, with all that packing can do.
func (r *replacer) tryAlone() {
	for i, p := range r.homeless[:min(len(r.homeless), triedAlone)] {
		to, why := instead(r.world, p, r.options.Pack)
		if why == nil {
			why = r.awaits(replaced{p, to}.command(r.world, r.of))
		}
		if r.whys[i] = why; why == nil {
			r.homeless, r.whys = slices.Delete(r.homeless, i, i+1), slices.Delete(r.whys, i, i+1)
			r.going = append(r.going, replaced{p, to})
			return
		}
	}
}

// gather makes the packing in which pods of the machines are given other places.
func (r *replacer) gather(machines []*world.Place) {
	mine := make(map[string]bool, len(machines))
	for _, p := range machines {
		mine[p.Name()] = true
	}
	o := r.options.Pack
	if o.Steps == 0 {
		o.Steps = stepsEach
	}
	r.cluster = whatif.Draining(r.world, o, func(p *world.Place) bool { return mine[p.Name()] }, func(p *world.Place) bool {
		return outdated(r.world, p) || begun.Overdue(r.world, p) // the one would soon go, the other may never come
	})
	r.at = make(map[string]int, len(machines))
	for i, p := range r.cluster.Places() {
		r.at[p.Name()] = i
	}
}

// command is the command that begins a replacement.
func (x replaced) command(w *world.World, of string) plan.Command {
	c := replacement(w, x.machine, of, x.to.Bought)
	received := map[string]int{}
	for _, m := range x.to.Moves {
		if m.To.Node == nil {
			continue // it is on its way, and known by no name that stays
		}
		i, known := received[m.To.Node.Name]
		if !known {
			i = len(c.Moves)
			received[m.To.Node.Name] = i
			f := plan.Fill{Node: m.To.Node.Name}
			if m.To.Claim != nil {
				f.Claim = m.To.Claim.Name
			}
			c.Moves = append(c.Moves, f)
		}
		c.Moves[i].Pods = append(c.Moves[i].Pods, m.Pod.Key)
	}
	for _, f := range c.Moves {
		slices.SortFunc(f.Pods, world.Key.Compare)
	}
	slices.SortFunc(c.Moves, func(a, b plan.Fill) int { return strings.Compare(a.Node, b.Node) })
	return c
}
