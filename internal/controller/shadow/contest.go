package shadow

import (
	"time"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// outcomeTimeout is how long pods may take to run before what was bought for them is no longer asked.
const outcomeTimeout = 15 * time.Minute

// contest is what would have been bought for pods, until they run on what
// the controller in charge bought for them.
type contest struct {
	since int64 // when the first of them was decided about
	asks  []plan.Ask
	pods  map[world.Key]bool
}

// outcome is what became of a contest.
type outcome struct {
	Pods          int
	Ours, Theirs  int         // nodes
	Cost, TheyPay money.Micro // millionths an hour
}

// enter adds what a plan would buy. As long as nothing has been bought since
// the contest began, the plan takes the place of what was planned before: the
// same pods still wait, perhaps with others.
func (c *contest) enter(w *world.World, p plan.Plan) {
	if len(p.New) == 0 {
		return
	}
	if len(c.asks) == 0 || !c.answered(w) {
		since := c.since
		if len(c.asks) == 0 {
			since = w.At()
		}
		*c = contest{since: since, pods: map[world.Key]bool{}}
	}
	for _, a := range p.New {
		known := false
		for _, k := range a.Pods {
			known = known || c.pods[k]
		}
		if known {
			continue
		}
		c.asks = append(c.asks, a)
		for _, k := range a.Pods {
			c.pods[k] = true
		}
	}
}

// answered reports whether a machine was asked for since the contest began.
func (c *contest) answered(w *world.World) bool {
	for _, p := range w.Places() {
		if p.Claim != nil && p.Claim.Created >= c.since {
			return true
		}
	}
	return false
}

// settle returns what became of the contest once each of its pods runs or is
// gone, and begins again; false until then.
func (c *contest) settle(w *world.World) (outcome, bool) {
	if len(c.asks) == 0 {
		return outcome{}, false
	}
	theirs := map[string]*world.Place{}
	run := 0
	for k := range c.pods {
		p := w.Pod(k)
		switch {
		case p == nil || p.Done:
		case p.Node == "" && w.At()-c.since < int64(outcomeTimeout/time.Second):
			return outcome{}, false
		case p.Node != "":
			run++
			if at := w.Place(p.Node); at != nil && at.Claim != nil && at.Claim.Created >= c.since {
				theirs[p.Node] = at
			}
		}
	}
	o := outcome{Pods: run, Ours: len(c.asks), Theirs: len(theirs)}
	for _, a := range c.asks {
		o.Cost += a.Price
	}
	for _, p := range theirs {
		o.TheyPay += plan.PriceOf(w, p)
	}
	*c = contest{}
	return o, run > 0
}
