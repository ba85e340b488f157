// Package spread counts pods by domain and says where topology spread and pod affinity let one more go.
//
// A Ledger answers exactly as kube-scheduler's filters would, given the nodes
// and pods entered in it: only domains that have nodes count for the minimum,
// a running pod's anti-affinity keeps others away, and the first pod of a group
// that wants its own company may go anywhere.
package spread

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Ledger counts pods by domain. It is filled in order: Enlist and Watch make
// known which counts matter, then nodes and pods are entered.
type Ledger struct {
	namespaces map[string]map[string]string
	keys       []string
	keyIndex   map[string]int
	domains    []map[string]int32 // for each key, its values so far
	values     [][]string         // the same, by number
	groups     []*group
	byTerms    map[string]int32
	volumes    map[string]int32         // of volumes that several pods wait for: their groups
	owned      map[*world.PodTerm]int32 // anti-affinity of running pods: its group, or none
	kin        map[*world.Kin][]int32   // the groups that count running pods
	shelves    map[string]*shelf        // where pods of a namespace find the groups that count them
	wide       *shelf                   // where all pods look besides
	sieves     []*sieve
	terrains   []*terrain
	nodes      []node

	sieveIndex   map[string]int
	terrainIndex map[[2]int]int // by sieve and key

	// Room to work in.
	members []int32
	text    []byte
}

// node is where one machine lies: for each key its domain, or none.
type node struct {
	domain  []int32
	open    map[int][]int32 // keys that are not settled yet: the domains it may be in
	astray  map[int]bool    // those of them of which it may be in none
	passes  []bool          // for each sieve: it counts
	may     []bool          // for each sieve: it counts, or may come to
	company []*world.Pod    // that come and go with it
}

const none int32 = -1

// New returns an empty Ledger that knows the namespaces' labels.
func New(namespaces []*world.Namespace) *Ledger {
	l := &Ledger{
		namespaces: make(map[string]map[string]string, len(namespaces)),
		keyIndex:   map[string]int{},
		byTerms:    map[string]int32{},
		volumes:    map[string]int32{},
		owned:      map[*world.PodTerm]int32{},
		kin:        map[*world.Kin][]int32{},
		shelves:    map[string]*shelf{},
		wide:       &shelf{},

		sieveIndex:   map[string]int{},
		terrainIndex: map[[2]int]int{},
	}
	for _, n := range namespaces {
		l.namespaces[n.Name] = n.Labels
	}
	return l
}

// Counts reports whether anything has to be counted at all.
func (l *Ledger) Counts() bool { return len(l.groups) > 0 }

// Keys returns the topology keys that matter, in the order in which they were enlisted.
func (l *Ledger) Keys() []string { return l.keys }

func (l *Ledger) key(name string) int {
	if i, ok := l.keyIndex[name]; ok {
		return i
	}
	i := len(l.keys)
	l.keyIndex[name] = i
	l.keys = append(l.keys, name)
	l.domains = append(l.domains, map[string]int32{})
	l.values = append(l.values, nil)
	return i
}

func (l *Ledger) domain(key int, value string) int32 {
	if d, ok := l.domains[key][value]; ok {
		return d
	}
	d := int32(len(l.values[key]))
	l.domains[key][value] = d
	l.values[key] = append(l.values[key], value)
	return d
}

// Enter adds a machine and returns its number in the ledger.
func (l *Ledger) Enter(at *fit.Place) int {
	n := node{domain: make([]int32, len(l.keys)), passes: make([]bool, len(l.sieves)), may: make([]bool, len(l.sieves)), company: at.Company}
	for k, name := range l.keys {
		n.domain[k] = none
		if v, ok := valueOf(at, name); ok {
			n.domain[k] = l.domain(k, v)
		} else if r, ok := at.Open.Find(name); ok && !r.Not {
			if n.open == nil {
				n.open, n.astray = map[int][]int32{}, map[int]bool{}
			}
			n.astray[k] = !r.Present
			for _, v := range r.Values {
				n.open[k] = append(n.open[k], l.domain(k, v))
			}
		}
	}
	for i, s := range l.sieves {
		n.passes[i] = s.passes(at)
		n.may[i] = n.passes[i] || s.mayPass(at)
	}
	l.nodes = append(l.nodes, n)
	l.Return(len(l.nodes) - 1)
	return len(l.nodes) - 1
}

// Leave takes a machine out that holds no pods any more. Its number stays taken.
func (l *Ledger) Leave(n int) { l.attend(n, -1) }

// Return puts a machine back that left, without pods, under its number.
func (l *Ledger) Return(n int) { l.attend(n, 1) }

// attend counts the machine, and the pods that come with it, in or out wherever it counts.
func (l *Ledger) attend(n int, by int32) {
	at := &l.nodes[n]
	if by < 0 {
		l.accompany(n, by)
	}
	for _, t := range l.terrains {
		if d := at.domain[t.key]; d != none && at.may[t.sieve] {
			t.change(d, by)
		}
	}
	if by > 0 {
		l.accompany(n, by)
	}
}

// accompany counts the pods that come with a machine.
func (l *Ledger) accompany(n int, by int32) {
	for _, p := range l.nodes[n].company {
		l.run(p, n, by)
	}
}

// Company returns those of some daemon sets whose pods matter to pods that are
// counted: who wants to be near them or away from them, or is kept away by them.
func (l *Ledger) Company(daemons []*world.DaemonSet) []*world.Pod {
	var out []*world.Pod
	for _, d := range daemons {
		matters := false
		for i := range d.Pod.PodTerms {
			t := &d.Pod.PodTerms[i]
			matters = matters || t.KeepsAway() && l.ownedBy(t) != none
		}
		for _, g := range l.Members(&d.Pod) {
			l.groups[g].delivered, matters = true, true
		}
		if matters {
			out = append(out, &d.Pod)
		}
	}
	return out
}

// valueOf is the place's value of a topology key. A node without the hostname
// label has none, as for kube-scheduler; a machine only planned will have one.
func valueOf(at *fit.Place, key string) (string, bool) {
	v, ok := at.Labels[key]
	if !ok && key == label.Hostname && at.Planned {
		return at.Name, true
	}
	return v, ok
}

// Inhabit enters all pods that run on machine n.
func (l *Ledger) Inhabit(m *world.Place, n int) {
	if len(l.groups) == 0 {
		return
	}
	for i, kin := range m.Kin() {
		if groups := l.membersOf(kin); len(groups) > 0 {
			l.count(groups, m.Pods[i], n, 1)
		}
	}
	for _, t := range m.Averse() {
		l.own(t, n, 1)
	}
}

// membersOf are the groups that count pods of the kin.
func (l *Ledger) membersOf(kin *world.Kin) []int32 {
	groups, known := l.kin[kin]
	if !known {
		groups = l.Members(&world.Pod{Key: world.Key{Namespace: kin.Namespace}, Labels: kin.Labels})
		l.kin[kin] = groups
	}
	return groups
}

// Run enters a pod that runs on machine n.
func (l *Ledger) Run(p *world.Pod, n int) { l.run(p, n, 1) }

// Stop removes a pod that ran on machine n.
func (l *Ledger) Stop(p *world.Pod, n int) { l.run(p, n, -1) }

func (l *Ledger) run(p *world.Pod, n int, by int32) {
	l.members = l.appendMembers(l.members[:0], p)
	l.count(l.members, p, n, by)
	for i := range p.PodTerms {
		if t := &p.PodTerms[i]; t.KeepsAway() {
			l.own(t, n, by)
		}
	}
}

// count counts a pod that runs among the members of its groups.
func (l *Ledger) count(groups []int32, p *world.Pod, n int, by int32) {
	for _, g := range groups {
		if l.groups[g].kind != evenly || !p.Terminating {
			l.add(l.groups[g], n, by, false)
		}
	}
}

// own counts a pod that runs among those that keep others away by the term.
func (l *Ledger) own(t *world.PodTerm, n int, by int32) {
	if g := l.ownedBy(t); g != none {
		l.add(l.groups[g], n, by, true)
	}
}

// Put enters a pod of the subject on machine n.
func (l *Ledger) Put(s *Subject, n int) { l.move(s, n, 1) }

// Take removes a pod of the subject from machine n.
func (l *Ledger) Take(s *Subject, n int) { l.move(s, n, -1) }

func (l *Ledger) move(s *Subject, n int, by int32) {
	for _, g := range s.members {
		l.add(l.groups[g], n, by, false)
	}
	for _, g := range s.apart {
		l.add(l.groups[g], n, by, true)
	}
}

// add changes what group g counts on machine n: its members, or the owners of the term.
func (l *Ledger) add(g *group, n int, by int32, owner bool) {
	at := &l.nodes[n]
	switch g.kind {
	case evenly:
		switch d := at.domain[g.key]; {
		case d == none || !at.may[g.sieve]:
		case at.passes[g.sieve]:
			g.shift(d, by)
		default:
			g.maybe = bump(g.maybe, d, by)
		}
	case apart:
		for _, d := range at.all(g.key) {
			if owner {
				g.owners = bump(g.owners, d, by)
			} else {
				g.counts = bump(g.counts, d, by)
			}
		}
	case together:
		for i, k := range g.keys {
			if d := at.domain[k]; d != none {
				was := count(g.byKey[i], d)
				g.byKey[i] = bump(g.byKey[i], d, by)
				g.total += int(by)
				switch {
				case was == 0:
					g.reached++
				case was+by == 0:
					g.reached--
				}
			}
		}
	}
}

// all are the domains of key that the machine is in or may come to be in.
func (at *node) all(key int) []int32 {
	if d := at.domain[key]; d != none {
		return at.domain[key : key+1]
	}
	return at.open[key]
}

func bump(counts []int32, d, by int32) []int32 {
	for int(d) >= len(counts) {
		counts = append(counts, 0)
	}
	counts[d] += by
	return counts
}

func count(counts []int32, d int32) int32 {
	if d == none || int(d) >= len(counts) {
		return 0
	}
	return counts[d]
}
