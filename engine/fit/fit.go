// Package fit decides whether one pod may go to one place.
//
// It answers as kube-scheduler's filters do, for a node that is there as for a
// machine that is only planned. What depends on pods elsewhere, such as
// topology spread and pod affinity, is in package spread.
//
// A rule is a function that objects, and a line in standing or filling, below. What is
// bought, planned, emptied, explained and checked at the end follows from that.
package fit

import (
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// standing are the rules whose answer does not depend on the pods that are at the place.
var standing = []*Rule{
	{Name: "leaving", Why: Leaving, Allows: stays, Identity: none, Compiled: true},
	{Name: "cordon", Why: Cordon, Allows: open, Identity: none, Compiled: true}, // the rule of taints has the tolerations in its identity
	{Name: "taints", Why: Taints, Allows: tolerates, Identity: appendTolerations, Compiled: true},
	{Name: "labels", Why: Labels, Allows: labelled, Identity: AppendSelection, Compiled: true},
	{Name: "reach", Why: Reach, Allows: reaches, Identity: appendReach, Compiled: true},
	{Name: "allocated", Why: Allocated, Concerns: hasDevices, Identity: appendDevices},
	{Name: "equipped", Why: equipped, Concerns: hasDevices, Identity: none}, // the last one has what claims ask for in its identity
}

// filling are the rules whose answer changes with the pods that are at the place.
var filling = []*Rule{
	{Name: "resources", Why: Resources, Allows: roomy, Compiled: true},
	{Name: "ports", Why: Ports, Allows: portsFree, Concerns: hasPorts, Compiled: true},
	{Name: "attach", Why: attach, Allows: attachable, Concerns: Attaches, Compiled: true},
	{Name: "devices", Why: Devices, Allows: devicesFree, Concerns: hasDevices, Identity: none},
}

// Standing are the rules whose answer does not depend on the pods that are at the place.
func Standing() []*Rule { return standing }

// Extras are the filling rules on what is not counted as room.
func Extras() []*Rule { return filling[1:] }

// Stands reports whether no standing rule objects.
func Stands(p *world.Pod, at *Place) bool { return permitted(standing, p, at) }

// Fills reports whether no filling rule objects.
func Fills(p *world.Pod, at *Place) bool { return permitted(filling, p, at) }

// FillsBesideRoom reports whether no filling rule objects but, maybe, the one on room.
func FillsBesideRoom(p *world.Pod, at *Place) bool { return permitted(filling[1:], p, at) }

// Fits reports whether no rule objects.
func Fits(p *world.Pod, at *Place) bool { return Stands(p, at) && Fills(p, at) }

func permitted(rules []*Rule, p *world.Pod, at *Place) bool {
	for _, r := range rules {
		if !r.Permits(p, at) {
			return false
		}
	}
	return true
}

// Objections returns what every rule has against the pod at the place; nil if it fits.
func Objections(p *world.Pod, at *Place) []*reason.Why {
	var out []*reason.Why
	for _, rules := range [][]*Rule{standing, filling} {
		for _, r := range rules {
			if why := r.Objection(p, at); why != nil {
				out = append(out, why)
			}
		}
	}
	return out
}

// In are the rules of a World: all but those of which it has nothing.
func In(w *world.World) *Rules {
	return &Rules{within(w, standing), within(w, filling)}
}

// AppendIdentity is that of Rules, of whichever World.
func AppendIdentity(b []byte, p *world.Pod) []byte {
	return (&Rules{standing, filling}).AppendIdentity(b, p)
}
