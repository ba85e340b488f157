package world

import (
	"fmt"
	"math"
	"strings"
)

// VirtualPriority is the priority of virtual pods: whatever is real goes first. It is
// one more than the least there is, of which the negative is no int32.
const VirtualPriority = math.MinInt32 + 1

// VirtualKey is the key of the nth virtual pod of a CapacityBuffer. No pod can have such a name.
func VirtualKey(buffer Key, n int) Key {
	return Key{Namespace: buffer.Namespace, Name: fmt.Sprintf("%s#%d", buffer.Name, n)}
}

// Buffer is the CapacityBuffer that a virtual pod holds room for; false if the pod is real.
func (p *Pod) Buffer() (Key, bool) {
	if !p.Virtual {
		return Key{}, false
	}
	name, _, _ := strings.Cut(p.Name, "#")
	return Key{Namespace: p.Namespace, Name: name}, true
}

// Buffered reports whether there are virtual pods.
func (w *World) Buffered() bool {
	for _, p := range w.waiting {
		if p.Virtual {
			return true
		}
	}
	return false
}

// Home is the machine where the last plan has a pod that waits: a node, or a
// claim; nil if it has none.
func (w *World) Home(p *Pod) *Place {
	if p.Planned == "" {
		return nil
	}
	if at := w.Place(p.Planned); at != nil {
		return at
	}
	for _, at := range w.places { // its claim has become a node since
		if at.Claim != nil && at.Claim.Name == p.Planned {
			return at
		}
	}
	return nil
}

// Seated is the World in which virtual pods run on the nodes where the last plan
// has them.
//
// When room is looked for they wait, and come last: what is real takes the room
// that they hold. When it is asked which machines could go they are like pods
// that run: a machine that they hold room on is not empty, and one that goes
// takes its room along, which has to be found elsewhere.
func (w *World) Seated() *World {
	var e *Builder
	for _, p := range w.waiting {
		if !p.Virtual {
			continue
		}
		at := w.Home(p)
		if at == nil || at.Node == nil || at.Deleting() {
			continue
		}
		if e == nil {
			e = w.Edit()
		}
		seated := *p
		seated.Node, seated.Waiting, seated.Planned = at.Node.Name, false, ""
		if err := e.SetPod(seated); err != nil {
			panic("a pod of a World is refused: " + err.Error()) // it was taken before
		}
	}
	if e == nil {
		return w
	}
	return e.Snapshot(w.at)
}
