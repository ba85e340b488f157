// Package fit decides whether one pod may go to one place.
//
// It answers as kube-scheduler's filters do, for a node that is there as for a
// machine that is only planned. What depends on pods elsewhere, such as
// topology spread and pod affinity, is in package spread.
package fit

import (
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Rule is one reason for which a place may be refused; nil if it has nothing against the pod.
type Rule func(p *world.Pod, at *Place) *reason.Why

// Standing are the rules whose answer does not depend on the pods that are at the place.
func Standing() []Rule {
	return []Rule{Leaving, Cordon, Taints, Labels, Reach}
}

// Filling are the rules whose answer changes with the pods that are at the place.
func Filling() []Rule {
	return []Rule{Resources, Ports, Attach}
}

// Stands reports whether no standing rule objects.
func Stands(p *world.Pod, at *Place) bool {
	return !leaving(at) && tolerates(p, at) && !cordoned(p, at) && labelled(p, at) && reaches(p, at)
}

// Fills reports whether no filling rule objects.
func Fills(p *world.Pod, at *Place) bool {
	return p.Requests.Fits(at.Free) && portsFree(p, at) && attachable(p, at)
}

// Fits reports whether no rule objects.
func Fits(p *world.Pod, at *Place) bool { return Stands(p, at) && Fills(p, at) }

// Objections returns what every rule has against the pod at the place; nil if it fits.
func Objections(p *world.Pod, at *Place) []*reason.Why {
	var out []*reason.Why
	for _, rules := range [][]Rule{Standing(), Filling()} {
		for _, rule := range rules {
			if why := rule(p, at); why != nil {
				out = append(out, why)
			}
		}
	}
	return out
}
