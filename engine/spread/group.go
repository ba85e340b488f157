package spread

import (
	"encoding/binary"
	"slices"

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

	delivered bool // some new machines come with members, which are pods of daemon sets

	// Of evenly and apart.
	key    int
	counts []int32 // members by domain
	maybe  []int32 // of evenly: members by domain on machines that may come to count
	owners []int32 // of apart: pods that carry the term, by domain

	// Of evenly. Domains that hold members have machines that count.
	*terrain
	hist   []int32 // how many domains hold 1, 2, … members; the first is not used
	filled int     // how many hold any
	low    int32   // the smallest number that any of these holds

	// Of together. Those who share a volume need no terms.
	volume  string
	within  []int32 // domains in which it may be made; nil is every one
	keys    []int
	byKey   [][]int32
	total   int
	reached int // domains of all keys that hold any
}

// least is the smallest number of members in a domain that has machines.
func (g *group) least() int32 {
	if g.filled < g.known || g.known == 0 {
		return 0
	}
	return g.low
}

// most is how many members of evenly may come to be counted in domain d.
func (g *group) most(d int32) int32 { return count(g.counts, d) + count(g.maybe, d) }

// shift changes the members counted in domain d.
func (g *group) shift(d, by int32) {
	was := count(g.counts, d)
	g.counts = bump(g.counts, d, by)
	if was > 0 {
		g.hist[was]--
		g.filled--
	}
	if now := was + by; now > 0 {
		g.hist = bump(g.hist, now, 1)
		g.filled++
		g.low = min(g.low, now)
	}
	for int(g.low) < len(g.hist)-1 && g.hist[g.low] == 0 {
		g.low++
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
	out = l.appendFrom(out, l.shelves[p.Namespace], p)
	out = l.appendFrom(out, l.wide, p)
	out = l.appendVolumes(out, p)
	slices.Sort(out)
	return slices.Compact(out)
}

// appendFrom appends the groups of a shelf that count the pod.
func (l *Ledger) appendFrom(out []int32, s *shelf, p *world.Pod) []int32 {
	if s == nil {
		return out
	}
	for _, c := range s.columns {
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
	for _, g := range s.others {
		if l.picks(l.groups[g], p) {
			out = append(out, g)
		}
	}
	return out
}

// shelf is groups, by a label that their members carry where there is one.
type shelf struct {
	columns []column
	others  []int32
}

// column is groups by the value that their members have for one label.
type column struct {
	key string
	by  map[string][]int32
}

// file puts a group where its members look for it: on the shelves of their
// namespaces, under one of their labels.
func (l *Ledger) file(i int32, terms []world.PodTerm) {
	t := &terms[0]
	if t.Within.Some {
		l.wide.file(i, terms)
		return
	}
	for _, n := range t.Namespaces {
		if l.shelves[n] == nil {
			l.shelves[n] = &shelf{}
		}
		l.shelves[n].file(i, terms)
	}
}

func (s *shelf) file(i int32, terms []world.PodTerm) {
	r := filedBy(terms)
	if r == nil {
		s.others = append(s.others, i)
		return
	}
	at := slices.IndexFunc(s.columns, func(c column) bool { return c.key == r.Key })
	if at < 0 {
		at = len(s.columns)
		s.columns = append(s.columns, column{r.Key, map[string][]int32{}})
	}
	for _, v := range r.Values {
		s.columns[at].by[v] = append(s.columns[at].by[v], i)
	}
}

// filedBy is the first demand of the terms that names values; nil if there is none.
func filedBy(terms []world.PodTerm) *label.Requirement {
	for _, t := range terms {
		for i := range t.Selector.Set {
			if r := &t.Selector.Set[i]; r.Op() == label.In {
				return r
			}
		}
	}
	return nil
}

// join adds a group of a new identity, and returns its number.
func (l *Ledger) join(id string, g *group) int32 {
	i := int32(len(l.groups))
	l.byTerms[id] = i
	l.groups = append(l.groups, g)
	l.file(i, g.terms)
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

func appendTogetherID(b []byte, terms []world.PodTerm) []byte {
	b = append(b, byte(together))
	for _, t := range terms {
		b = appendTerm(b, t)
	}
	return b
}
