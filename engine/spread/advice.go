package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
)

// What follows guides a planner among places that are all allowed.

// Spreads reports whether the class carries a hard spread constraint beyond the single machine.
func (l *Ledger) Spreads(s *PodInfo) bool {
	for i := range s.spread {
		if l.keys[l.groups[s.spread[i].group].key] != label.Hostname {
			return true
		}
	}
	return false
}

// Fullness counts the pods that the class is to be spread among in the domains of a new machine.
func (l *Ledger) Fullness(s *PodInfo, at *fit.Place) int {
	sum := int32(0)
	for i := range s.spread {
		g := l.groups[s.spread[i].group]
		if l.keys[g.key] == label.Hostname {
			continue
		}
		if d, has := l.onNew(at).domain(g.key); has {
			sum += g.counts.in(d)
		}
	}
	return int(sum)
}

// Modest reports whether one more pod of the class stays within what spread
// over machines would allow if an empty machine were there too. Machines come
// and go, and a constraint over them is there to lose few pods with one.
func (l *Ledger) Modest(s *PodInfo, n int) bool {
	for i := range s.spread {
		e := &s.spread[i]
		g := l.groups[e.group]
		if l.keys[g.key] != label.Hostname {
			continue
		}
		if d := l.nodes[n].domain[g.key]; d != none && g.counts.in(d)+e.self > e.maxSkew {
			return false
		}
	}
	return true
}

// PerHost is how many pods of the class one machine may hold by its terms on
// single machines; 0 if they do not say.
func (l *Ledger) PerHost(s *PodInfo) int {
	least := 0
	for i := range s.spread {
		e := &s.spread[i]
		if e.self > 0 && l.keys[l.groups[e.group].key] == label.Hostname && (least == 0 || int(e.maxSkew) < least) {
			least = int(e.maxSkew)
		}
	}
	for _, g := range s.antiAffinity {
		for _, m := range s.members {
			if g == m {
				return 1
			}
		}
	}
	return least
}

// SpreadOver is the constraint by which the class's pods are spread over domains larger than a machine; false if there is none that
// counts them.
func (l *Ledger) SpreadOver(s *PodInfo) (key string, group int32, maxSkew int, ok bool) {
	for i := range s.spread {
		e := &s.spread[i]
		g := l.groups[e.group]
		if k := l.keys[g.key]; k != label.Hostname && e.self > 0 && !g.delivered && e.minDomains == 0 {
			return k, e.group, int(e.maxSkew), true
		}
	}
	return "", 0, 0, false
}

// Sought are the labels by which groups choose among machines which of them count; none if no group does.
func (l *Ledger) Sought() []string {
	var out []string
	add := func(key string) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, s := range l.filters {
		if !s.choosy() {
			continue
		}
		for _, key := range s.needs {
			add(key)
		}
		for _, r := range s.filter.NodeSelector {
			add(r.Key)
		}
		for _, t := range s.filter.NodeTerms {
			for _, r := range t.Labels {
				add(r.Key)
			}
		}
		add(label.Zone) // at the least: a filter may choose by names alone
	}
	return out
}

// AppendCover appends for which groups that choose among machines this one would count.
func (l *Ledger) AppendCover(b []byte, at *fit.Place) []byte {
	for _, s := range l.filters {
		if s.choosy() {
			b = label.AppendFlags(b, s.passes(at))
		}
	}
	return b
}
