// Package interrupt drains machines that the cloud has announced to reclaim, stop or service, before they are gone.
package interrupt

import (
	"maps"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

// Notice is an announcement about machines.
type Notice struct {
	Kind     string // for metrics and logs
	Category string // for metrics: the check that a machine has failed; empty: it is no such notice
	Event    string // reason of the event that people read
	Text     string // and its words
	Going    bool   // the machines will be gone
	Forced   bool   // they are of no use already: nothing waits for their pods
	Reclaims bool   // because the cloud wants spot capacity back
	Machines []cloud.MachineID
	At       time.Time
}

// Step is what is done about one machine.
type Step struct {
	Claim, Node string
	Event       string // reason of an event
	End         bool   // its claim ends, and its node drains while there is time
	Force       bool   // there is none: it is of no use already
	Pool        world.PoolID
	// The offer that is sold out for a while, if the cloud takes the machine back.
	Shape, Zone string
}

// Next decides what is done about a notice. Machines that are not this
// cluster's, or are going already, need nothing.
func Next(n Notice, places []*world.Place, idOf func(providerID string) (cloud.MachineID, bool)) []Step {
	about := map[cloud.MachineID]bool{}
	for _, id := range n.Machines {
		about[id] = true
	}
	var out []Step
	for _, p := range places {
		if p.Claim == nil || p.Claim.ProviderID == "" {
			continue
		}
		if id, ok := idOf(p.Claim.ProviderID); !ok || !about[id] {
			continue
		}
		if p.Claim.Deleting && !n.Reclaims {
			continue // mostly it is our own doing that is announced
		}
		s := Step{Claim: p.Claim.Name, Event: n.Event, End: n.Going && !p.Claim.Deleting, Pool: p.Pool()}
		s.Force = s.End && n.Forced
		if p.Node != nil {
			s.Node = p.Node.Name
		}
		if labels := p.Labels(); n.Reclaims && labels[label.CapacityType] == label.Spot {
			s.Shape, s.Zone = labels[label.InstanceType], labels[label.Zone]
		}
		out = append(out, s)
	}
	return out
}

// lead is how long after its notice a machine is there at most.
const lead = 2 * time.Minute

// Early reports whether a notice may be about a machine that no claim names yet:
// one was bought, and the answer has not come or was lost, as it is when the
// process ends at that moment. Such a notice has to come again. It may be about
// another cluster's machine as well, so that it does so for as long as a machine
// is there after its notice, and no longer.
func Early(n Notice, places []*world.Place, idOf func(providerID string) (cloud.MachineID, bool), now time.Time) bool {
	if !n.Going || now.Sub(n.At) > lead {
		return false
	}
	named, bought := map[cloud.MachineID]bool{}, false
	for _, p := range places {
		if p.Claim == nil {
			continue
		}
		if id, ok := idOf(p.Claim.ProviderID); ok {
			named[id] = true
		}
		bought = bought || p.Claim.ProviderID == "" && !p.Claim.Deleting
	}
	return bought && slices.ContainsFunc(n.Machines, func(id cloud.MachineID) bool { return !named[id] })
}

// LimitForce takes the force from steps where the cloud reports so many machines of a
// pool, or of all, as failed that the cause is likely elsewhere: a zone or a
// network that is disturbed, or checks that are wrong. These nodes drain, and
// what must stay is asked. lately are the pools of claims that were reported before, by name.
func LimitForce(steps []Step, places []*world.Place, lately map[string]world.PoolID) []Step {
	ill, machines := map[string]world.PoolID{}, map[string]world.PoolID{}
	maps.Copy(ill, lately)
	for _, s := range steps {
		if s.Force {
			ill[s.Claim] = s.Pool
		}
	}
	maps.Copy(machines, ill)
	for _, p := range places {
		if p.Claim != nil {
			machines[p.Claim.Name] = p.Pool()
		}
	}
	of := func(all map[string]world.PoolID, pool world.PoolID) (n int) {
		for _, p := range all {
			if p == pool {
				n++
			}
		}
		return n
	}
	out := slices.Clone(steps)
	for i, s := range out {
		if s.Force && (loop.TooMany(len(ill), len(machines)) || loop.TooMany(of(ill, s.Pool), of(machines, s.Pool))) {
			out[i].Force = false
		}
	}
	return out
}
