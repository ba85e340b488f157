package spread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
)

// spot is where a pod may go, as the groups see it: a machine entered, or one that would be new.
type spot struct {
	l     *Ledger
	node  *node
	place *fit.Place // of a machine not entered
}

// domain returns the domain of key; fresh if the machine would be the first there.
func (s spot) domain(key int) (d int32, has bool) {
	if s.node != nil {
		d = s.node.domain[key]
		return d, d != none
	}
	v, ok := valueOf(s.place, s.l.keys[key])
	if !ok {
		return none, false
	}
	if d, known := s.l.domains[key][v]; known {
		return d, true
	}
	return none, true
}

// value names the domain of key.
func (s spot) value(key int) string {
	if s.node == nil {
		v, _ := valueOf(s.place, s.l.keys[key])
		return v
	}
	if d := s.node.domain[key]; d != none {
		return s.l.values[key][d]
	}
	return ""
}

// company counts the members of a group, or the owners of its term, that come
// with a machine that is not entered.
func (s spot) company(group int32, owners bool) int32 {
	if s.node != nil {
		return 0
	}
	n := int32(0)
	for _, p := range s.place.Company {
		switch {
		case !owners && slices.Contains(s.l.Members(p), group):
			n++
		case owners:
			for i := range p.PodTerms {
				if t := &p.PodTerms[i]; t.KeepsAway() && s.l.ownedBy(t) == group {
					n++
				}
			}
		}
	}
	return n
}

// Allows reports whether a pod of the subject may go to machine n. Spread over
// the keys in but is not looked at.
func (l *Ledger) Allows(s *Subject, n int, but ...string) bool {
	if s.Indifferent() {
		return true
	}
	return l.allows(s, spot{l: l, node: &l.nodes[n]}, but...)
}

// AllowsNew reports whether a pod of the subject may go to a machine that would be added.
func (l *Ledger) AllowsNew(s *Subject, at *fit.Place) bool {
	return l.allows(s, spot{l: l, place: at})
}

func (l *Ledger) allows(s *Subject, at spot, but ...string) bool {
	for i := range s.even {
		if len(but) > 0 && slices.Contains(but, l.keys[l.groups[s.even[i].group].key]) {
			continue
		}
		if !l.evenAllows(&s.even[i], at) {
			return false
		}
	}
	for _, g := range s.apart {
		if l.apartFrom(g, at, false) > 0 {
			return false
		}
	}
	for _, g := range s.shunned {
		if l.apartFrom(g, at, true) > 0 {
			return false
		}
	}
	return l.nearVolumes(s, at) && (s.together == none || l.togetherAllows(s, at))
}

func (l *Ledger) evenAllows(e *even, at spot) bool {
	g := l.groups[e.group]
	if at.node != nil && at.node.domain[g.key] == none {
		return !at.node.astray[g.key] && l.openAllows(e, at.node.open[g.key])
	}
	d, has := at.domain(g.key)
	if !has {
		return false
	}
	return g.most(d)+g.arrives(e, at)+e.self-g.floor(e, at) <= e.maxSkew
}

// arrives counts the members that come with the spot's machine, if it counts.
func (g *group) arrives(e *even, at spot) int32 {
	if at.node != nil || len(at.place.Company) == 0 || !at.l.sieves[g.sieve].passes(at.place) {
		return 0
	}
	return at.company(e.group, false)
}

// openAllows judges a machine whose domain is not settled: every one it may come to be in has to do.
func (l *Ledger) openAllows(e *even, domains []int32) bool {
	g := l.groups[e.group]
	for _, d := range domains {
		least := g.least()
		if g.known+1 < e.minDomains || count(g.nodes, d) == 0 {
			least = 0
		}
		if g.most(d)+e.self-least > e.maxSkew {
			return false
		}
	}
	return len(domains) > 0
}

// floor is the least count the skew is measured from, given that the spot's machine is there.
func (g *group) floor(e *even, at spot) int32 {
	known, least := g.known, g.least()
	if at.node == nil && at.l.sieves[g.sieve].passes(at.place) {
		if d, _ := at.domain(g.key); count(g.nodes, d) == 0 {
			known, least = known+1, min(least, count(g.counts, d)+g.arrives(e, at))
		}
	}
	if known < e.minDomains {
		return 0
	}
	return least
}

// apartFrom counts the members, or the owners, of an anti-affinity term that the spot would be near.
func (l *Ledger) apartFrom(id int32, at spot, owners bool) int32 {
	g := l.groups[id]
	counts := g.counts
	if owners {
		counts = g.owners
	}
	if at.node != nil {
		sum := int32(0)
		for _, d := range at.node.all(g.key) {
			sum += count(counts, d)
		}
		return sum
	}
	d, has := at.domain(g.key)
	if !has {
		return 0
	}
	return count(counts, d) + at.company(id, owners)
}

func (l *Ledger) togetherAllows(s *Subject, at spot) bool {
	g := l.groups[s.together]
	near := true
	for i, k := range g.keys {
		d, has := at.domain(k)
		if !has {
			return false
		}
		near = near && count(g.byKey[i], d)+at.company(s.together, false) > 0
	}
	return near || g.total == 0 && s.self
}

// Objections says what keeps a pod of the subject from machine n.
func (l *Ledger) Objections(s *Subject, n int, name string) []*reason.Why {
	return l.objections(s, spot{l: l, node: &l.nodes[n]}, name)
}

// ObjectionsNew says what keeps a pod of the subject from a machine that would be added.
func (l *Ledger) ObjectionsNew(s *Subject, at *fit.Place) []*reason.Why {
	return l.objections(s, spot{l: l, place: at}, at.Name)
}

func (l *Ledger) objections(s *Subject, at spot, name string) []*reason.Why {
	var out []*reason.Why
	for i := range s.even {
		if e := &s.even[i]; !l.evenAllows(e, at) {
			out = append(out, &reason.Why{Code: reason.Spread, Subject: name, Detail: l.evenText(e, at)})
		}
	}
	for _, id := range s.apart {
		if g := l.groups[id]; l.apartFrom(id, at, false) > 0 {
			out = append(out, &reason.Why{
				Code: reason.AntiAffinity, Subject: name,
				Detail: fmt.Sprintf("%s %s has pods with %s", l.keys[g.key], at.value(g.key), selectorText(g)),
			})
		}
	}
	for _, id := range s.shunned {
		if g := l.groups[id]; l.apartFrom(id, at, true) > 0 {
			out = append(out, &reason.Why{
				Code: reason.AntiAffinity, Subject: name,
				Detail: fmt.Sprintf("%s %s has pods that keep away from %s", l.keys[g.key], at.value(g.key), selectorText(g)),
			})
		}
	}
	for _, id := range s.volumes {
		if g := l.groups[id]; !l.nearVolume(id, at) {
			out = append(out, &reason.Why{Code: reason.Volume, Subject: name, Detail: fmt.Sprintf("%s will be in %s, where another pod that waits for it goes", g.volume, l.zone(g))})
		}
	}
	if s.together != none && !l.togetherAllows(s, at) {
		out = append(out, &reason.Why{Code: reason.Affinity, Subject: name, Detail: l.togetherText(s, at)})
	}
	return out
}

// shown is how many domains a text counts before it says how many more there are.
const shown = 25

// noLabel says that machines have no label of a topology key, and which well-known one may be meant.
func noLabel(key string) string {
	text := key + " is not a label there"
	last := func(k string) string { return k[strings.LastIndex(k, "/")+1:] }
	for _, known := range []string{label.Zone, label.Hostname, label.Region} {
		if key != known && (last(key) == last(known) || label.Near(known, key)) {
			return text + " (is " + known + " meant?)"
		}
	}
	return text
}

func (l *Ledger) evenText(e *even, at spot) string {
	g := l.groups[e.group]
	key := l.keys[g.key]
	if _, has := at.domain(g.key); !has {
		return noLabel(key)
	}
	d, _ := at.domain(g.key)
	text := fmt.Sprintf("%s %s has %d, the least is %d, maxSkew %d", key, at.value(g.key), g.most(d), g.floor(e, at), e.maxSkew)
	if e.minDomains > 0 {
		text += fmt.Sprintf(", minDomains %d and %d known", e.minDomains, g.known)
	}
	return text + " (" + l.countsText(g) + ")"
}

// countsText writes the fullest and the emptiest domains first by name.
func (l *Ledger) countsText(g *group) string {
	var parts []string
	for d, n := range g.nodes {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", l.values[g.key][d], count(g.counts, int32(d))))
		}
	}
	slices.SortFunc(parts, cmp.Compare[string])
	if n := len(parts); n > shown {
		return fmt.Sprintf("%s and %d others", strings.Join(parts[:shown], ", "), n-shown)
	}
	return strings.Join(parts, ", ")
}

func (l *Ledger) togetherText(s *Subject, at spot) string {
	g := l.groups[s.together]
	for i, k := range g.keys {
		d, has := at.domain(k)
		switch {
		case !has:
			return noLabel(l.keys[k])
		case at.company(s.together, false) > 0: // whose keys all have some
		case count(g.byKey[i], d) == 0 && g.total == 0:
			return fmt.Sprintf("no pod with %s runs anywhere", selectorText(g))
		case count(g.byKey[i], d) == 0:
			if at.value(k) == "" { // a new machine is the only one of its name
				return fmt.Sprintf("the pods with %s are on other nodes", selectorText(g))
			}
			return fmt.Sprintf("no pod with %s in %s %s", selectorText(g), l.keys[k], at.value(k))
		}
	}
	return ""
}

func selectorText(g *group) string {
	texts := make([]string, len(g.terms))
	for i, t := range g.terms {
		texts[i] = t.Selector.Set.String()
		if len(t.Selector.Set) == 0 {
			texts[i] = "any labels"
		}
	}
	return strings.Join(texts, " and ")
}
