package explain

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Homes knows the nodes of a World as places for pods, so that one node after
// the other can be asked for whether its pods would fit on the rest. It is made
// once for a World; a question costs what one node's pods cost. It has one user.
type Homes struct {
	world    *world.World
	ledger   *spread.Ledger
	homes    []*home
	byName   map[string]*home
	subjects map[*world.Pod]*spread.Subject
}

// home is one node.
type home struct {
	place *world.Place
	at    fit.Place
	n     int // its number in the ledger
}

// NewHomes returns the homes of a World.
func NewHomes(w *world.World) *Homes {
	h := &Homes{world: w, ledger: spread.New(w.Namespaces()), byName: map[string]*home{}, subjects: map[*world.Pod]*spread.Subject{}}
	for _, p := range w.Places() {
		for _, pod := range p.Pods {
			if len(pod.Spread)+len(pod.PodTerms) > 0 {
				h.ledger.Enlist(pod)
			}
		}
	}
	for _, p := range w.Places() {
		if p.Node == nil {
			continue
		}
		at := &home{place: p, at: fit.Of(w, p)}
		at.n = h.ledger.Enter(&at.at)
		for _, pod := range p.Pods {
			if !p.Deleting() || pod.DaemonSet != "" {
				h.ledger.Run(pod, at.n)
			}
		}
		h.homes = append(h.homes, at)
		h.byName[p.Name()] = at
	}
	return h
}

// Rehome places the pods of a node on the others that are there, as
// kube-scheduler could one after the other, and returns where each would go;
// false if it finds no way. That there is one is proven by it, that there is
// none is not.
func (h *Homes) Rehome(node string) (map[world.Key]string, bool) {
	from := h.byName[node]
	if from == nil || from.place.Deleting() || slices.ContainsFunc(from.place.Pods, func(p *world.Pod) bool { return p.Terminating }) {
		return nil, false
	}
	h.leave(from)
	defer h.join(from)
	moved := make(map[world.Key]string, len(from.place.Pods))
	touched := map[*home]*fit.Place{}
	var undo []func()
	defer func() {
		for _, f := range undo {
			f()
		}
		for at, was := range touched {
			at.at = *was
		}
	}()
	for _, p := range movers(from.place) {
		s := h.subject(p)
		to := h.find(p, s, from)
		if to == nil {
			return nil, false
		}
		if touched[to] == nil {
			touched[to] = to.at.Copy()
		}
		to.at.Put(p)
		h.ledger.Put(s, to.n)
		undo = append(undo, func() { h.ledger.Take(s, to.n) })
		moved[p.Key] = to.place.Name()
	}
	return moved, true
}

// movers are the pods that somebody makes anew, the larger first.
func movers(p *world.Place) []*world.Pod {
	pods := slices.DeleteFunc(slices.Clone(p.Pods), func(p *world.Pod) bool { return p.DaemonSet != "" || p.Static })
	slices.SortStableFunc(pods, func(a, b *world.Pod) int {
		return cmp.Or(cmp.Compare(b.Requests.Value(amount.CPU), a.Requests.Value(amount.CPU)), cmp.Compare(b.Requests.Value(amount.Memory), a.Requests.Value(amount.Memory)))
	})
	return pods
}

func (h *Homes) find(p *world.Pod, s *spread.Subject, not *home) *home {
	for _, to := range h.homes {
		if to != not && p.Requests.Fits(to.at.Free) && fit.Fits(p, &to.at) && h.ledger.Allows(s, to.n) {
			return to
		}
	}
	return nil
}

func (h *Homes) subject(p *world.Pod) *spread.Subject {
	s := h.subjects[p]
	if s == nil {
		s = h.ledger.Subject(p)
		h.subjects[p] = s
	}
	return s
}

// leave takes a node and its pods out of the ledger.
func (h *Homes) leave(from *home) {
	for _, p := range from.place.Pods {
		h.ledger.Take(h.subject(p), from.n)
	}
	h.ledger.Leave(from.n)
}

// join enters them again.
func (h *Homes) join(from *home) {
	from.n = h.ledger.Enter(&from.at)
	for _, p := range from.place.Pods {
		h.ledger.Put(h.subject(p), from.n)
	}
}

// Row is what is said of a node among all.
type Row struct {
	Machine

	Pods      int      `json:"pods"` // without those that every node runs
	CPU       int      `json:"cpuPercent"`
	Memory    int      `json:"memoryPercent"`
	Back      string   `json:"back,omitempty"`   // it can be given back now, for this reason
	Holds     []string `json:"holds"`            // codes of what keeps it
	Elsewhere bool     `json:"fitsOnOtherNodes"` // its pods would, if it alone went
}

// Nodes answers about every node and claim, in order.
func (e *Explainer) Nodes() []Row {
	homes := NewHomes(e.world)
	back := map[string]string{}
	for _, g := range e.given().Back {
		back[g.Claim] = g.Reason
	}
	out := []Row{}
	for _, p := range e.world.Places() {
		r := Row{Machine: e.machine(p), Pods: len(movers(p)), Holds: []string{}}
		for _, u := range usesOf(p) {
			switch u.name {
			case amount.CPU:
				r.CPU = u.percent()
			case amount.Memory:
				r.Memory = u.percent()
			}
		}
		if p.Claim != nil {
			r.Back = back[p.Claim.Name]
		}
		if r.Back == "" {
			for _, h := range disrupt.Holds(e.world, p, e.leave()) {
				if !slices.Contains(r.Holds, string(h.Code)) {
					r.Holds = append(r.Holds, string(h.Code))
				}
			}
		}
		if r.Pods > 0 {
			_, r.Elsewhere = homes.Rehome(p.Name())
		}
		out = append(out, r)
	}
	return out
}
