package disrupt

import (
	"fmt"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/disrupt/begun"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// maxPassingMillis is for how many milliseconds a command that buys nothing waits for what
	// passes by itself, such as a pod disruption budget that allows nothing now.
	maxPassingMillis = 5 * 60 * 1000
	// judgeAgainMillis is after how many milliseconds a command is judged again that waits, whatever happens.
	judgeAgainMillis = 5000
)

// judge says of every command that has begun what is to be done about it, and
// what becomes of machines that were bought for commands that are no more.
func (d *decision) judge() bool {
	standings := d.standings()
	newest := int64(math.MaxInt64) // how long the latest mark is known of machines that nothing was bought for: these may be of one command, of which not all is seen
	for _, c := range d.begun.Commands {
		if len(c.New) == 0 {
			newest = min(newest, d.known(c))
		}
	}
	for i, c := range d.begun.Commands {
		known := d.known(c)
		if len(c.New) == 0 {
			known = newest
		}
		d.command(d.verdict(c, standings[i], known))
	}
	for _, p := range d.begun.Strays {
		used := !hold.IsEmpty(p) || slices.Contains(d.options.Planned, p.Name()) || slices.Contains(d.options.Planned, p.Claim.Name)
		if !used && begun.Overdue(d.world, p) {
			continue // it shows what is wrong, and may come yet; while it is there nothing more is bought in its place
		}
		used = used || p.Claim.InitializedAt-p.Claim.Created > begun.Patience // it came after all, and the next command finds it
		d.plan.Spare = append(d.plan.Spare, plan.Spare{Claim: p.Claim.Name, Used: used})
	}
	return true
}

// known is for how many milliseconds the marks are known that the command's machines carry. One that carries none
// does not count: it is marked first, and others need not wait for that.
func (d *decision) known(c begun.Command) int64 {
	known := int64(math.MaxInt64)
	for _, p := range c.Back {
		if begun.Marked(p) {
			known = min(known, d.options.Marked[p.Node.Name])
		}
	}
	return known
}

// verdict is what is to be done about a command that stands so, of which the last machine is known to be marked for so long.
func (d *decision) verdict(of begun.Command, s standing, known int64) plan.Command {
	c := plan.Command{Reason: of.Reason, Verdict: plan.Wait, Begun: true, Why: s.why}
	bare := false // some are not marked, or not any more
	for _, p := range of.Back {
		c.Back = append(c.Back, plan.GiveOf(d.world, p, of.Reason))
		bare = bare || p.Node != nil && !begun.Marked(p)
		for _, pod := range p.Pods {
			if pod.Moves() {
				c.Pods++
			}
		}
	}
	for _, p := range of.New {
		c.Bought = append(c.Bought, p.Claim.Name)
	}
	switch {
	case s.why != nil && !s.passing && !s.missing:
		c.Verdict = plan.TakeBack
	case bare:
		c.Verdict, c.Why, c.Again = plan.Begin, nil, markSettleMillis
	case known < markSettleMillis:
		c.Why, c.Again = nil, max(markSettleMillis-known, 1) // pods that came just before the mark, or what was bought, may not be seen yet
	case s.may:
		c.Verdict = plan.CarryOn
	case s.missing, len(of.New) == 0 && known >= maxPassingMillis:
		c.Verdict = plan.TakeBack
	default:
		c.Again = judgeAgainMillis
	}
	return c
}

// standing is how a command stands. If it says neither, it has to wait.
type standing struct {
	may     bool        // every pod that would have to move has a place on a machine that is complete
	why     *reason.Why // why it cannot be carried on; nil if it can
	passing bool        // that may pass by itself
	missing bool        // there are no places, but something that was bought may only not be seen yet
}

// maxPurchaseSteps bounds the search for what to buy for pods that wait anyway: what matters is where pods have places that are there.
const maxPurchaseSteps = 10_000

// standings says how each of the commands stands. It packs the pods that would
// wait if the machines of commands that may go were ending, as is done when they
// are: so nothing is bought for them then.
func (d *decision) standings() []standing {
	w, b := d.world, d.begun
	out := make([]standing, len(b.Commands))
	if d.options.Stay {
		return slices.Repeat([]standing{{why: &reason.Why{Code: reason.Policy, Detail: "moving pods is switched off"}}}, len(b.Commands))
	}
	book := hold.Open(w, d.options.Planned)
	var whole []int
	for i, c := range b.Commands {
		s, is := look(w, c, book)
		if out[i] = s; is && !d.options.Busy {
			whole = append(whole, i)
		}
	}
	if len(whole) > 0 {
		d.seat(whole, out)
	}
	for i, c := range b.Commands {
		out[i] = out[i].within(w, c)
	}
	return out
}

// maxJointRounds is how often it is tried to find commands that may all go at once.
const maxJointRounds = 3

// seat says of commands how they stand with places for their pods. Those may go
// of which all pods have places if they alone go. Others wait if there are
// places where their pods are meant to go: these may be free again later.
func (d *decision) seat(whole []int, out []standing) {
	w, b, o := d.world, d.begun, d.options.Pack
	o.Steps = maxPurchaseSteps
	all := places(pack.Pack(d.ending, o))
	mayNot := func(where map[world.Key]string) func(int) bool {
		return func(i int) bool { return !placed(w, b.Commands[i], where).may }
	}
	set := slices.DeleteFunc(slices.Clone(whole), mayNot(all))
	for n := 0; n < maxJointRounds && len(set) > 0; n++ {
		var back []*world.Place
		for _, i := range set {
			back = append(back, b.Commands[i].Back...)
		}
		left := slices.DeleteFunc(slices.Clone(set), mayNot(places(pack.Pack(begun.Ending(w, back...), o))))
		if len(left) == len(set) {
			break
		}
		if set = left; n == maxJointRounds-1 {
			set = nil
		}
	}
	var hinted map[world.Key]string
	for _, i := range whole {
		s := placed(w, b.Commands[i], all)
		switch {
		case slices.Contains(set, i):
			s = standing{may: true}
		case s.may:
			s = standing{}
		case s.missing:
			if hinted == nil {
				hinted = places(pack.Pack(meant(d.ending, b), o))
			}
			if h := placed(w, b.Commands[i], hinted); !h.missing {
				s = standing{}
			}
		}
		out[i] = s
	}
}

// meant returns the World with running pods planned for where they are to go, as their nodes say: others would take their places otherwise.
func meant(w *world.World, b begun.Begun) *world.World {
	e := w.Edit()
	for _, c := range b.Commands {
		for _, p := range c.Back {
			if p.Node == nil {
				continue
			}
			for _, m := range p.Node.Moves {
				for _, key := range m.Pods {
					pod := w.Pod(key)
					if pod == nil || pod.Node == "" || pod.Planned != "" {
						continue
					}
					next := *pod
					next.Planned = m.To
					if err := e.SetPod(next); err != nil {
						panic("a pod of a World is refused: " + err.Error()) // it was taken before
					}
				}
			}
		}
	}
	return e.Snapshot(w.At())
}

// look says how one command stands, but for the places of its pods. It reports
// whether these are what is left to be looked at.
func look(w *world.World, c begun.Command, book *hold.Book) (s standing, whole bool) {
	if c.Broken {
		return standing{why: &reason.Why{Code: reason.Policy, Detail: "the taint karpenter.sh/disrupted of one of its nodes was removed by hand"}}, false
	}
	for _, p := range c.Back {
		if c.Reason == plan.Drifted && len(c.New) > 0 && unknown(w, p) {
			s = standing{why: &reason.Why{Code: reason.NotReady, Subject: p.Name(), Detail: "what its pool asks for cannot be read now, so it is not known whether it has drifted"}, passing: true}
			continue
		}
		if why := unwanted(book, w, p, c.Reason); why != nil {
			return standing{why: why}, false
		}
		if c.Reason == plan.Expired {
			continue // age asks nothing: it goes in any case
		}
		switch why, passing := forbidden(book, p, c.Reason); {
		case why != nil && !passing:
			return standing{why: why}, false
		case why != nil:
			s = standing{why: why, passing: true}
		}
	}
	if s.why == nil && len(c.New) == 0 && c.Reason == plan.Drifted && slices.ContainsFunc(c.Back, func(p *world.Place) bool { return begun.Static(w, p) }) {
		return standing{missing: true, why: &reason.Why{Code: reason.Static, Subject: c.Back[0].Name(), Detail: "its replacement is gone, and its static pool keeps its replicas"}}, false
	}
	coming := slices.ContainsFunc(c.New, func(p *world.Place) bool { return !complete(p) })
	return s, s.why == nil && !coming
}

// within ends the patience with what was bought long ago.
func (s standing) within(w *world.World, c begun.Command) standing {
	tooLong := slices.ContainsFunc(c.New, func(p *world.Place) bool { return w.At()-p.Claim.Created > begun.Patience })
	if !tooLong || s.may || s.why != nil && !s.passing {
		return s
	}
	return standing{why: &reason.Why{
		Code: reason.Starting, Subject: c.New[0].Name(), Detail: fmt.Sprintf("its replacement did not become usable within %d minutes", begun.Patience/60), Causes: s.causes(),
	}}
}

// causes is what is known of why a command cannot be carried on.
func (s standing) causes() []*reason.Why {
	if s.why == nil {
		return nil
	}
	return []*reason.Why{s.why}
}

// placed says whether every pod of the command has a place on a machine that is complete.
func placed(w *world.World, c begun.Command, where map[world.Key]string) standing {
	out := standing{may: true}
	for _, p := range c.Back {
		for _, pod := range p.Pods {
			if !packing.Leaves(w, pod) {
				continue
			}
			at := w.Place(where[pod.Key])
			if at == nil && pod.Virtual && c.Reason != plan.Underutilized {
				continue // room for pods to come is bought again
			}
			if at == nil {
				return standing{missing: true, why: &reason.Why{Code: reason.NoPlace, Subject: pod.String(), Detail: "the pod has no place elsewhere any more"}}
			}
			out.may = out.may && complete(at) // or it is on its way for another command
		}
	}
	return out
}

func complete(p *world.Place) bool { return p.Whole() && p.Node.Ready }

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
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: "it is no longer drifted"}
	case why == plan.Expired && !TooOld(w, p):
		return &reason.Why{Code: reason.Policy, Subject: p.Name(), Detail: "its expireAfter is longer now"}
	case why == plan.Expired:
		return nil // no budget holds it up
	case b.Room(pool, why).Allowed == 0:
		return &reason.Why{Code: reason.Budget, Subject: pool.ID.Name, Detail: "its budgets let no node go now"}
	}
	return nil
}
