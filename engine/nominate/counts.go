package nominate

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// PodCounts is how many pods of a World run on which machine, those together that no selector can tell apart. A
// constraint is counted from it in the time that its own pods take: clusters have as many constraints as Deployments,
// and if each looked at every pod, that would take the product of both.
//
// It is made when it is first asked and has one user at a time.
type PodCounts struct {
	world          *world.World
	labelledCounts map[string][]*labelledCount // by namespace; nil: not counted yet
	domains        map[string]*nodeDomains
	counts         map[string]counted // by the constraint's identity
}

// counted is what a constraint looks at, and how many of its pods run in each domain.
type counted struct {
	at      *nodeDomains
	running map[string]int
}

// nodeDomains are the domain of each machine, by its name, that a constraint looks at.
type nodeDomains struct {
	of      map[string]string
	domains []string // each once
}

// labelledCount is how many pods with the same namespace and labels run on each machine.
type labelledCount struct {
	labelled *world.Labelled
	at       []*world.Place
	n        []int
}

// NewPodCounts counts the pods of a World, once it is asked.
func NewPodCounts(w *world.World) *PodCounts {
	return &PodCounts{world: w, domains: map[string]*nodeDomains{}, counts: map[string]counted{}}
}

// World is what was counted.
func (s *PodCounts) World() *world.World { return s.world }

// in are the counts of the pods of a namespace.
func (s *PodCounts) in(namespace string) []*labelledCount {
	if s.labelledCounts != nil {
		return s.labelledCounts[namespace]
	}
	s.labelledCounts = map[string][]*labelledCount{}
	of := map[*world.Labelled]*labelledCount{}
	for _, m := range s.world.Places() {
		labelled := m.Labelled()
		for i, q := range m.Pods {
			if q.Terminating {
				continue
			}
			f := of[labelled[i]]
			if f == nil {
				f = &labelledCount{labelled: labelled[i]}
				of[f.labelled], s.labelledCounts[f.labelled.Namespace] = f, append(s.labelledCounts[f.labelled.Namespace], f)
			}
			if last := len(f.at) - 1; last >= 0 && f.at[last] == m {
				f.n[last]++
				continue
			}
			f.at, f.n = append(f.at, m), append(f.n, 1)
		}
	}
	return s.labelledCounts[namespace]
}

// count counts what a constraint of p does, whose identity is id: in each domain that there is or will be soon.
func (s *PodCounts) count(id string, p *world.Pod, c *world.Spread) counted {
	if known, ok := s.counts[id]; ok {
		return known
	}
	at := s.nodeDomains(p, c)
	running := make(map[string]int, len(at.domains))
	for _, d := range at.domains {
		running[d] = 0
	}
	for _, f := range s.in(p.Namespace) {
		if !c.Selector.Match(f.labelled.Labels) {
			continue
		}
		for i, m := range f.at {
			if d := at.of[m.Name()]; d != "" {
				running[d] += f.n[i]
			}
		}
	}
	s.counts[id] = counted{at, running}
	return s.counts[id]
}

// nodeDomains are what a constraint of a pod looks at.
func (s *PodCounts) nodeDomains(p *world.Pod, c *world.Spread) *nodeDomains {
	id := label.AppendFlags(label.AppendText(nil, c.Key), c.AnyNode)
	if !c.AnyNode {
		id = fit.AppendSelection(id, p)
	}
	if known := s.domains[string(id)]; known != nil {
		return known
	}
	out := &nodeDomains{of: map[string]string{}}
	seen := map[string]bool{}
	for _, m := range s.world.Places() {
		at := fit.Place{Name: m.Name(), Labels: m.Labels()}
		d := domain(m, c.Key)
		if d == "" || !c.AnyNode && !fit.Selected(p, &at) {
			continue
		}
		out.of[at.Name] = d
		if !seen[d] {
			seen[d], out.domains = true, append(out.domains, d)
		}
	}
	s.domains[string(id)] = out
	return out
}

// domain is the value that the machine has for a topology key, or is known to get: a node
// that has only just joined does not have all its labels yet.
func domain(m *world.Place, key string) string {
	d := m.Labels()[key]
	if d == "" && m.Claim != nil {
		d = m.Claim.Labels[key]
	}
	return d
}
