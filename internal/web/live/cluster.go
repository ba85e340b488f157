// Package live says what the live page draws of a World, and sends open pages what changes.
//
// A view turns Worlds into values that travel well: a node is one object with
// its pods as numbers, and only what differs from the World before is sent
// again. Feed sends it as server-sent events, History keeps figures of the
// last hours, and Answers are those of the command line.
package live

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// The states of a Node.
const (
	Ready    = "ready"
	OnItsWay = "on its way"
	NotReady = "not ready"
	Cordoned = "cordoned"
	Tainted  = "takes no more pods" // it is to go
	Draining = "drains"
	Ending   = "its machine ends"
)

// The kinds of a pod, as Node.Pods has them.
const (
	Movable = iota // it is evicted and made again elsewhere when its node goes
	Daemon         // every such node runs one
	Bound          // it is not made again elsewhere
)

// Node is a machine as the page draws it: a node, or a claim whose node has not joined.
type Node struct {
	Name       string      `json:"name"`
	Claim      string      `json:"claim,omitempty"`
	Pool       string      `json:"pool,omitempty"`
	Type       string      `json:"type,omitempty"`
	Zone       string      `json:"zone,omitempty"`
	Capacity   string      `json:"capacity,omitempty"` // spot, on-demand or reserved
	State      string      `json:"state"`
	Why        string      `json:"why,omitempty"`      // it goes
	Decision   string      `json:"decision,omitempty"` // that says so
	Created    int64       `json:"created,omitempty"`
	Expires    int64       `json:"expires,omitempty"`
	Drifted    string      `json:"drifted,omitempty"` // how it is no longer what its pool asks for
	Price      money.Micro `json:"price"`             // millionths of the currency an hour
	OnDemand   money.Micro `json:"onDemand"`          // what the same type costs on demand
	CPU        int64       `json:"cpu"`               // allocatable, thousandths of a core
	Memory     int64       `json:"memory"`            // allocatable, MiB
	UsedCPU    int64       `json:"usedCPU"`
	UsedMemory int64       `json:"usedMemory"`
	Keeps      []string    `json:"keeps,omitempty"` // codes of what keeps it
	// Pods are three numbers for each pod: thousandths of a core, MiB, and its kind.
	Pods []int64 `json:"pods,omitempty"`
}

// Pool is a pool as the page draws it; its nodes are sent by themselves.
type Pool struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`
	State  string `json:"state"` // ready, going, or why it is not ready
	Limits string `json:"limits,omitempty"`
	Used   string `json:"used,omitempty"` // of what is limited
	Weight int32  `json:"weight,omitempty"`
	// Budgets says how many of its nodes may go at once, and when that changes next.
	Budgets string `json:"budgets,omitempty"`
}

const mebibyte = amount.Unit << 20

func mebibytes(v int64) int64 { return v / mebibyte }

// nodeOf draws a machine; what is known of it beside its World is filled in by the view.
func nodeOf(w *world.World, p *world.Place) Node {
	labels := p.Labels()
	n := Node{
		Name: p.Name(), Pool: p.Pool().Name, Type: labels[label.InstanceType], Zone: labels[label.Zone], Capacity: labels[label.CapacityType],
		State: StateOf(p), UsedCPU: p.Used.Value(amount.CPU), UsedMemory: mebibytes(p.Used.Value(amount.Memory)),
	}
	var room amount.List
	if p.Node != nil {
		n.Created, room = p.Node.Created, p.Node.Allocatable
	}
	if c := p.Claim; c != nil {
		n.Claim, n.Created, n.Drifted = c.Name, cmp.Or(c.Created, n.Created), c.Drifted
		if c.ExpireAfter > 0 {
			n.Expires = c.Created + c.ExpireAfter
		}
		if p.Node == nil {
			room = c.Allocatable
			if len(room) == 0 {
				room = c.Booked
			}
		}
	}
	n.CPU, n.Memory = room.Value(amount.CPU), mebibytes(room.Value(amount.Memory))
	for _, pod := range p.Pods {
		kind := int64(Movable)
		switch {
		case pod.DaemonSet != "" || pod.Static:
			kind = Daemon
		case !pod.Moves():
			kind = Bound
		}
		n.Pods = append(n.Pods, pod.Requests.Value(amount.CPU), mebibytes(pod.Requests.Value(amount.Memory)), kind)
	}
	return n
}

// StateOf is the state of a machine.
func StateOf(p *world.Place) string {
	switch {
	case p.Deleting() && slices.ContainsFunc(p.Pods, (*world.Pod).Moves):
		return Draining
	case p.Deleting():
		return Ending
	case p.Node == nil:
		return OnItsWay
	case !p.Node.Ready:
		return NotReady
	case slices.ContainsFunc(p.Node.Taints, func(t world.Taint) bool { return t.Key == v1.TaintDisrupted }):
		return Tainted
	case p.Node.Cordoned:
		return Cordoned
	}
	return Ready
}

// Goes reports whether a machine of this state is being given back.
func Goes(state string) bool { return state == Tainted || state == Draining || state == Ending }

// PoolState is the state of a pool: ready, going, or why it is not ready.
func PoolState(p *world.Pool) string {
	switch {
	case p.Deleting:
		return "going"
	case p.NotReady != "":
		return p.NotReady
	}
	return Ready
}

func poolOf(p *world.Pool, used amount.List) Pool {
	out := Pool{Kind: p.ID.Kind, Name: p.ID.Name, State: PoolState(p), Limits: p.Limits.String(), Weight: p.Weight}
	var parts []string
	for _, l := range p.Limits {
		parts = append(parts, l.Name+" "+amount.Text(l.Name, used.Value(l.Name)))
	}
	out.Used = strings.Join(parts, ", ")
	return out
}

// keeps are the codes of what keeps each machine that is not going already, by its name.
func keeps(w *world.World, decided []journal.Entry) map[string][]string {
	var planned []string
	if i := slices.IndexFunc(decided, func(e journal.Entry) bool { return e.Kind == journal.Buy }); i >= 0 {
		planned = explain.Targets(decided[i].Plan)
	}
	book := hold.Open(w, planned)
	out := make(map[string][]string, len(w.Places()))
	for _, p := range w.Places() {
		if p.Claim == nil || p.Node == nil || Goes(StateOf(p)) {
			continue
		}
		codes := map[string]bool{}
		for _, h := range book.Empty(p) {
			codes[string(h.Code)] = true
		}
		out[p.Name()] = slices.Sorted(maps.Keys(codes))
	}
	return out
}

// Currency is what the prices of a World are in.
func Currency(w *world.World) string {
	if all := w.Currencies(); len(all) > 0 && all[0] != "" {
		return strings.TrimSuffix(all[0], "/h")
	}
	return "USD"
}
