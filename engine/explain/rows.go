package explain

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/room"
)

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
	ledger := room.Open(e.world)
	for _, p := range e.world.Places() {
		if p.Node == nil {
			ledger.Close(p) // it is not there yet
		}
	}
	back := map[string]string{}
	for _, g := range e.given().Back {
		back[g.Claim] = g.Reason
	}
	out := []Row{}
	for _, p := range e.world.Places() {
		r := Row{Machine: e.machine(p), Holds: []string{}}
		for _, pod := range p.Pods {
			if pod.Moves() {
				r.Pods++
			}
		}
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
			for _, h := range e.book().Empty(p) {
				if !slices.Contains(r.Holds, string(h.Code)) {
					r.Holds = append(r.Holds, string(h.Code))
				}
			}
		}
		r.Elsewhere = r.Pods > 0 && !p.Deleting() && ledger.Goes(p)
		out = append(out, r)
	}
	return out
}
