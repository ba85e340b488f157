package explain

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/whatif"
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
	elsewhere := e.elsewhere()
	back := e.idle()
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
		r.Elsewhere = r.Pods > 0 && elsewhere[p.Name()]
		out = append(out, r)
	}
	return out
}

// elsewhere are the nodes of which all pods would fit on other nodes, by name.
func (e *Explainer) elsewhere() map[string]bool {
	c := whatif.New(e.world, e.options, whatif.Staying)
	places := c.Places()
	for i, p := range places {
		if p.Node == nil {
			c.Bar(i) // it is not there yet
		}
	}
	out := map[string]bool{}
	for i, p := range places {
		out[p.Name()] = whatif.Staying(p) && c.Goes(i)
	}
	return out
}
