package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// counts are the machines, and how many pods of each group lie in the domains they are in.
type counts struct {
	terms.Table
	nodes   []node
	members []int32 // room to work in

	domainsAhead []int32 // room for those of machines to come
	flagsAhead   []bool
}

// node is where one machine lies: for each key its domain, or none.
type node struct {
	domain  []int32
	open    map[int][]int32 // keys that are not settled yet: the domains it may be in
	astray  map[int]bool    // those of them of which it may be in none
	passes  []bool          // for each filter: it counts
	may     []bool          // for each filter: it counts, or may come to
	company []*world.Pod    // that come and go with it
}

// all are the domains of key that the machine is in or may come to be in.
func (at *node) all(key int) []int32 {
	if d := at.domain[key]; d != domain.None {
		return at.domain[key : key+1]
	}
	return at.open[key]
}

// Expect makes room for so many machines.
func (l *counts) Expect(machines int) {
	l.nodes = slices.Grow(l.nodes, machines)
	l.domainsAhead, l.flagsAhead = make([]int32, machines*len(l.TopologyKeys())), make([]bool, 2*machines*len(l.Filters()))
	if k, counted := l.KeyNumber(label.Hostname); counted {
		l.DomainsOf(k).Expect(machines)
	}
}

// blank is the next machine, of which nothing is known yet.
func (l *counts) blank() node {
	keys, filters := len(l.TopologyKeys()), len(l.Filters())
	if len(l.domainsAhead) < keys || len(l.flagsAhead) < 2*filters {
		l.domainsAhead, l.flagsAhead = make([]int32, keys), make([]bool, 2*filters)
	}
	n := node{domain: l.domainsAhead[:keys:keys], passes: l.flagsAhead[:filters:filters], may: l.flagsAhead[filters:][:filters:filters]}
	l.domainsAhead, l.flagsAhead = l.domainsAhead[keys:], l.flagsAhead[2*filters:]
	return n
}

// Enter adds a machine and returns its number in the ledger.
func (l *counts) Enter(at *fit.Place) int {
	n := l.blank()
	n.company = at.Company
	for k, name := range l.TopologyKeys() {
		n.domain[k] = domain.None
		if v, ok := terms.ValueOf(at, name); ok {
			n.domain[k] = l.DomainsOf(k).Number(v)
		} else if r, ok := at.Open.Find(name); ok && !r.Not {
			if n.open == nil {
				n.open, n.astray = map[int][]int32{}, map[int]bool{}
			}
			n.astray[k] = !r.Present
			for _, v := range r.Values {
				n.open[k] = append(n.open[k], l.DomainsOf(k).Number(v))
			}
		}
	}
	for i, s := range l.Filters() {
		n.passes[i] = s.Passes(at)
		n.may[i] = n.passes[i] || s.MayPass(at)
	}
	l.nodes = append(l.nodes, n)
	l.Return(len(l.nodes) - 1)
	return len(l.nodes) - 1
}

// Leave takes a machine out that holds no pods any more. Its number stays taken.
func (l *counts) Leave(n int) { l.countMachine(n, -1) }

// Return puts a machine back that left, without pods, under its number.
func (l *counts) Return(n int) { l.countMachine(n, 1) }

// countMachine counts the machine, and the pods that come with it, in or out wherever it counts.
func (l *counts) countMachine(n int, by int32) {
	at := &l.nodes[n]
	if by < 0 {
		l.countCompany(n, by)
	}
	for _, t := range l.Eligible() {
		if d := at.domain[t.Key]; d != domain.None && at.may[t.Filter] {
			t.Change(d, by)
		}
	}
	if by > 0 {
		l.countCompany(n, by)
	}
}

// countCompany counts the pods that come with a machine.
func (l *counts) countCompany(n int, by int32) {
	for _, p := range l.nodes[n].company {
		l.run(p, n, by)
	}
}

// Inhabit enters all pods that run on machine n.
func (l *counts) Inhabit(m *world.Place, n int) {
	if len(l.Groups()) == 0 {
		return
	}
	ending := m.Ending()
	for i, labelled := range m.Labelled() {
		switch groups := l.MembersOf(labelled); {
		case len(groups) == 0:
		case ending:
			l.count(groups, m.Pods[i], n, 1)
		default: // no group overlooks any, and the pod need not be looked at
			for _, g := range groups {
				l.add(l.Group(g), n, 1, false)
			}
		}
	}
	l.countHolders(m, n)
	for _, t := range m.AntiAffinity() {
		l.own(t, n, 1)
	}
}

// countHolders counts the pods that run on machine n among those that share their volumes.
func (l *counts) countHolders(m *world.Place, n int) {
	if !l.Holds() {
		return
	}
	for _, p := range m.Holders() {
		l.members = l.AppendVolumes(l.members[:0], p)
		slices.Sort(l.members)
		l.count(slices.Compact(l.members), p, n, 1)
	}
}

// Run enters a pod that runs on machine n.
func (l *counts) Run(p *world.Pod, n int) { l.run(p, n, 1) }

// Stop removes a pod that ran on machine n.
func (l *counts) Stop(p *world.Pod, n int) { l.run(p, n, -1) }

func (l *counts) run(p *world.Pod, n int, by int32) {
	l.members = l.AppendMembers(l.members[:0], p)
	l.count(l.members, p, n, by)
	for i := range p.PodTerms {
		if t := &p.PodTerms[i]; t.KeepsAway() {
			l.own(t, n, by)
		}
	}
}

// count counts a pod that runs among the members of its groups.
func (l *counts) count(groups []int32, p *world.Pod, n int, by int32) {
	for _, g := range groups {
		if !l.Group(g).Overlooks(p) {
			l.add(l.Group(g), n, by, false)
		}
	}
}

// own counts a pod that runs among those that keep others away by the term.
func (l *counts) own(t *world.PodTerm, n int, by int32) {
	if g := l.OwnedBy(t); g != domain.None {
		l.add(l.Group(g), n, by, true)
	}
}

// Put enters a pod of the class on machine n.
func (l *counts) Put(s *terms.PodInfo, n int) { l.move(s, n, 1) }

// Take removes a pod of the class from machine n.
func (l *counts) Take(s *terms.PodInfo, n int) { l.move(s, n, -1) }

func (l *counts) move(s *terms.PodInfo, n int, by int32) {
	for _, g := range s.Members {
		l.add(l.Group(g), n, by, false)
	}
	for _, g := range s.AntiAffinity {
		l.add(l.Group(g), n, by, true)
	}
}

// add changes what group g counts on machine n: its members, or the owners of the term.
func (l *counts) add(g *terms.Group, n int, by int32, owner bool) {
	at := &l.nodes[n]
	switch g.Kind {
	case terms.TopologySpread:
		switch d := at.domain[g.Key]; {
		case d == domain.None || !at.may[g.Filter]:
		case at.passes[g.Filter]:
			g.Shift(d, by)
		default:
			g.Maybe.Bump(d, by)
		}
	case terms.AntiAffinity:
		for _, d := range at.all(g.Key) {
			if owner {
				g.Owners.Bump(d, by)
			} else {
				g.Counts.Bump(d, by)
			}
		}
	case terms.Affinity:
		for i, k := range g.Keys {
			if d := at.domain[k]; d != domain.None {
				was := g.ByKey[i].In(d)
				g.ByKey[i].Bump(d, by)
				g.Total += int(by)
				switch {
				case was == 0:
					g.Reached++
					g.Moves++
				case was+by == 0:
					g.Reached--
					g.Moves++
				}
			}
		}
	}
}
