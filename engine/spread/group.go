package spread

import (
	"encoding/binary"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

type kind byte

const (
	evenly   kind = iota + 1 // topology spread
	apart                    // anti-affinity
	together                 // affinity
)

// group is what pods with equal terms share: who its members are, and how many lie in each domain.
type group struct {
	kind     kind
	terms    []world.PodTerm // whom it counts; for together a member matches all of them
	kinds    int             // subjects that are members
	carriers int             // subjects that carry the term and, unless it keeps apart, are members

	// Of evenly and apart.
	key    int
	counts []int32 // members by domain
	owners []int32 // of apart: pods that carry the term, by domain

	// Of evenly.
	sieve   int       // groups of one sieve count the same machines
	filter  world.Pod // selector, affinity and tolerations that machines have to pass
	anyNode bool
	taints  bool
	needs   []string // labels that a machine has to have
	nodes   []int32  // machines by domain
	hist    []int32  // how many domains with machines hold 0, 1, 2, … members
	known   int      // domains with machines
	least   int32    // the smallest count among them

	// Of together.
	keys  []int
	byKey [][]int32
	total int
}

// covers reports whether the machine counts for the group.
func (g *group) covers(at *fit.Place) bool {
	if g.kind != evenly {
		return true
	}
	for _, k := range g.needs {
		if _, ok := valueOf(at, k); !ok {
			return false
		}
	}
	if !g.anyNode && !fit.Selected(&g.filter, at) {
		return false
	}
	return !g.taints || len(fit.Untolerated(g.filter.Tolerations, at.Taints)) == 0 &&
		(!at.Cordoned || fit.Cordon(&g.filter, at) == nil)
}

// open counts one more machine in domain d.
func (g *group) open(d int32) {
	g.nodes = bump(g.nodes, d, 1)
	if g.nodes[d] == 1 {
		g.known++
		g.tally(count(g.counts, d), 1)
	}
}

// close counts one machine less in domain d.
func (g *group) close(d int32) {
	g.nodes[d]--
	if g.nodes[d] == 0 {
		g.known--
		g.tally(count(g.counts, d), -1)
	}
}

// shift changes the members counted in domain d.
func (g *group) shift(d, by int32) {
	was := count(g.counts, d)
	g.counts = bump(g.counts, d, by)
	g.tally(was, -1)
	g.tally(was+by, 1)
}

// tally changes how many domains hold c members, and keeps the least.
func (g *group) tally(c, by int32) {
	g.hist = bump(g.hist, c, by)
	if by > 0 {
		g.least = min(c, g.least)
	}
	for int(g.least) < len(g.hist)-1 && g.hist[g.least] == 0 {
		g.least++
	}
}

// picks reports whether a pod is a member of the group.
func (l *Ledger) picks(g *group, p *world.Pod) bool {
	for i := range g.terms {
		t := &g.terms[i]
		if !t.Selector.Match(p.Labels) || !l.reaches(t, p.Namespace) {
			return false
		}
	}
	return true
}

func (l *Ledger) reaches(t *world.PodTerm, namespace string) bool {
	return slices.Contains(t.Namespaces, namespace) || t.Within.Some && t.Within.Set.Match(l.namespaces[namespace])
}

// Members returns the groups that count the pod, in order.
func (l *Ledger) Members(p *world.Pod) []int32 { return l.appendMembers(nil, p) }

func (l *Ledger) appendMembers(out []int32, p *world.Pod) []int32 {
	for _, c := range l.index {
		v, has := p.Labels[c.key]
		if !has {
			continue
		}
		for _, g := range c.by[v] {
			if l.picks(l.groups[g], p) {
				out = append(out, g)
			}
		}
	}
	for _, g := range l.others {
		if l.picks(l.groups[g], p) {
			out = append(out, g)
		}
	}
	slices.Sort(out)
	return out
}

// list notes that members of the group have one of the values.
func (l *Ledger) list(group int32, r label.Requirement) {
	at := slices.IndexFunc(l.index, func(c column) bool { return c.key == r.Key })
	if at < 0 {
		at = len(l.index)
		l.index = append(l.index, column{r.Key, map[string][]int32{}})
	}
	for _, v := range r.Values {
		l.index[at].by[v] = append(l.index[at].by[v], group)
	}
}

// join adds a group, unless one of the same identity is there, and returns its number.
func (l *Ledger) join(id string, g *group) int32 {
	if i, ok := l.byTerms[id]; ok {
		return i
	}
	i := int32(len(l.groups))
	l.byTerms[id] = i
	l.groups = append(l.groups, g)
	if g.kind == evenly {
		sieve := string(appendSieve(nil, g))
		if _, ok := l.sieves[sieve]; !ok {
			l.sieves[sieve] = len(l.sieves)
		}
		g.sieve = l.sieves[sieve]
	}
	for _, t := range g.terms {
		for _, r := range t.Selector.Set {
			if r.Op() != label.In {
				continue
			}
			l.list(i, r)
			return i
		}
	}
	l.others = append(l.others, i)
	return i
}

// The identities below are texts in which every part says how long it is, so
// that different terms never read alike.

func appendTerm(b []byte, t world.PodTerm) []byte {
	b = label.AppendText(b, t.Key)
	b = label.AppendFlags(b, t.Selector.Some, t.Within.Some)
	b = t.Selector.Set.AppendIdentity(b)
	b = t.Within.Set.AppendIdentity(b)
	b = binary.AppendUvarint(b, uint64(len(t.Namespaces)))
	for _, n := range t.Namespaces {
		b = label.AppendText(b, n)
	}
	return b
}

func appendApartID(b []byte, t world.PodTerm) []byte { return appendTerm(append(b, byte(apart)), t) }

func togetherID(terms []world.PodTerm) string {
	b := []byte{byte(together)}
	for _, t := range terms {
		b = appendTerm(b, t)
	}
	return string(b)
}

func evenlyID(g *group, key string) string {
	b := appendTerm([]byte{byte(evenly)}, g.terms[0])
	return string(appendSieve(label.AppendText(b, key), g))
}

// appendSieve names which machines count for the group.
func appendSieve(b []byte, g *group) []byte {
	b = label.AppendFlags(b, g.anyNode, g.taints)
	for _, k := range g.needs {
		b = label.AppendText(b, k)
	}
	return appendFilter(b, g)
}

func appendFilter(b []byte, g *group) []byte {
	if !g.anyNode {
		b = g.filter.NodeSelector.AppendIdentity(b)
		for _, t := range g.filter.NodeTerms {
			b = t.Labels.AppendIdentity(b)
			if t.Name != nil {
				b = t.Name.AppendIdentity(b)
			}
		}
	}
	if g.taints {
		for _, t := range g.filter.Tolerations {
			b = label.AppendText(b, t.Key)
			b = label.AppendText(b, t.Value)
			b = label.AppendText(b, t.Effect)
			b = label.AppendFlags(b, t.Exists)
		}
	}
	return b
}
