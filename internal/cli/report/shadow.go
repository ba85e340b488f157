package report

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/estimate"
	"github.com/tenon-sh/tenon/internal/journal"
)

// Shadow is what a shadow's decisions would have come to, beside what the controller in charge did. It is estimated:
// see package estimate.
type Shadow struct {
	Cost      float64           `json:"cost"`  // of the same nodes with its decisions
	Saved     float64           `json:"saved"` // below zero: they would have cost more
	Bought    int               `json:"bought"`
	Hourly    float64           `json:"boughtHourly"`
	Instead   int               `json:"boughtInstead"` // machines that the controller in charge bought for the same pods
	TheyPaid  float64           `json:"boughtInsteadHourly"`
	GivenBack int               `json:"givenBack"`
	Moved     int               `json:"moved"`
	Days      []estimate.OneDay `json:"days"`
}

// settleWithin is for how many seconds it is waited for pods to run before what was bought for them is no longer asked.
const settleWithin = 15 * 60

// wanted is a machine that a shadow would have bought, until its pods run on what was bought instead.
type wanted struct {
	at   int64
	ask  plan.Ask
	uids map[world.Key]string
}

// contest compares what a shadow wanted with what was done.
type contest struct {
	estimate *estimate.Estimate
	open     []wanted
	known    map[string]bool // pods that a machine was wanted for
	counted  map[string]bool // nodes whose price is counted
	instead  int
	theirs   money.Micro
}

func newContest() *contest {
	return &contest{estimate: estimate.New(), known: map[string]bool{}, counted: map[string]bool{}}
}

// add takes over a decision of a shadow.
func (c *contest) add(e journal.Entry) {
	w := e.World
	was, is := plan.Plan{}, plan.Plan{Commands: e.Plan.Commands}
	rest := c.open[:0]
	for _, x := range c.open {
		nodes, settled := x.settled(w)
		if !settled {
			rest = append(rest, x)
			continue
		}
		ours, theirs := x.ask, x.ask
		theirs.Price = 0
		bought := 0
		for _, n := range nodes {
			if !c.counted[n.Name()] {
				c.counted[n.Name()] = true
				theirs.Price += plan.PriceOf(w, n)
				bought++
			}
		}
		c.instead, c.theirs = c.instead+bought, c.theirs+theirs.Price
		is.New, was.New = append(is.New, ours), append(was.New, theirs)
	}
	c.open = rest
	c.enter(w, e.Plan)
	e.Kind, e.Plan = journal.GiveBack, was // how long pods were refused is known of one side alone
	c.estimate.Add(e, is)
}

// enter adds what is wanted now, and was not before for the same pods. As long as nothing came since, it takes the place
// of what was wanted before: the same pods still wait, perhaps with others.
func (c *contest) enter(w *world.World, p plan.Plan) {
	if len(p.New) == 0 {
		return
	}
	if len(c.open) > 0 && !came(w, c.open[0].at) {
		for _, x := range c.open {
			for k, uid := range x.uids {
				delete(c.known, uid+" "+k.String())
			}
		}
		c.open = nil
	}
	for _, a := range p.New {
		x := wanted{at: w.At(), ask: a, uids: map[world.Key]string{}}
		again := len(a.Pods) == 0
		for _, k := range a.Pods {
			if pod := w.Pod(k); pod != nil {
				x.uids[k] = pod.UID
			}
			id := x.uids[k] + " " + k.String()
			again = again || c.known[id]
			c.known[id] = true
		}
		if !again {
			c.open = append(c.open, x)
		}
	}
}

// came reports whether a machine was asked for, or joined, at or after a time.
func came(w *world.World, since int64) bool {
	return slices.ContainsFunc(w.Places(), func(p *world.Place) bool {
		return p.Claim != nil && p.Claim.Created >= since || p.Claim == nil && p.Node.Created >= since
	})
}

// settled returns the nodes that came since and run the pods; false while one of these waits. Where none runs in the
// end there is nothing to compare, and nothing was bought by either.
func (x wanted) settled(w *world.World) (nodes []*world.Place, ok bool) {
	seen := map[string]bool{}
	for k, uid := range x.uids {
		p := w.Pod(k)
		if p == nil || p.UID != uid || p.Done {
			continue
		}
		if p.Node == "" {
			if w.At()-x.at < settleWithin {
				return nil, false
			}
			continue
		}
		if at := w.Place(p.Node); at != nil && !seen[p.Node] && at.Node != nil && at.Node.Created >= x.at {
			seen[p.Node] = true
			nodes = append(nodes, at)
		}
	}
	return nodes, true
}

// shadow is what came of it.
func (c *contest) shadow() *Shadow {
	d := c.estimate.Day()
	return &Shadow{
		Cost: d.Replayed.Cost, Saved: d.Recorded.Cost - d.Replayed.Cost, Bought: d.Replayed.Bought, Hourly: d.Replayed.Hourly, Instead: c.instead, TheyPaid: c.theirs.Units(),
		GivenBack: d.Replayed.GivenBack, Moved: d.Replayed.Moved, Days: d.Days,
	}
}

// lines say it in sentences.
func (s *Shadow) lines(currency string, cost float64) []string {
	first := fmt.Sprintf("These are decisions of a shadow. With them the same nodes would have cost about %.2f %s", s.Cost, currency)
	switch {
	case s.Saved >= 0.005:
		first += fmt.Sprintf(", %.2f less", s.Saved)
	case s.Saved <= -0.005:
		first += fmt.Sprintf(", %.2f more", -s.Saved)
	default:
		first += ", as much"
	}
	if cost > 0 && (s.Saved >= 0.005 || s.Saved <= -0.005) {
		first += fmt.Sprintf(" (%.1f %%)", 100*max(s.Saved, -s.Saved)/cost)
	}
	return []string{
		first + ": what it would have bought otherwise counts for as long as its pods were there, what it would have given back for as long as it was there.",
		fmt.Sprintf("It would have bought %s for %.4f an hour, where %s for %.4f came for the same pods; given back %s, and moved %s for that.",
			amount.Count(s.Bought, "machine"), s.Hourly, amount.Count(s.Instead, "machine"), s.TheyPaid, amount.Count(s.GivenBack, "machine"), amount.Count(s.Moved, "pod")),
	}
}
