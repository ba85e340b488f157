// Package interrupt gives back machines that their seller has announced to take, before they are gone.
package interrupt

import (
	"time"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Notice is an announcement about machines.
type Notice struct {
	Kind     string // for metrics and logs
	Event    string // reason of the event that tells people
	Text     string // and its words
	Going    bool   // the machines will be gone
	Forced   bool   // they are of no use already: nothing waits for their pods
	Reclaims bool   // because the seller wants spot capacity back
	Machines []cloud.MachineID
	At       time.Time
}

// Step is what is done about one machine.
type Step struct {
	Claim, Node string
	Tell        string // reason of an event
	End         bool   // its claim ends, and its node drains while there is time
	// The offer that is not to be had for a while, if the seller takes it back.
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
		s := Step{Claim: p.Claim.Name, Tell: n.Event, End: n.Going && !p.Claim.Deleting}
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
