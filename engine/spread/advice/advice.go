// Package advice says what the terms of pods come to for one that plans for all pods of a class at once.
package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Advice is what a ledger says to a planner.
type Advice struct{ ledger *spread.Ledger }

// Of is the advice of a ledger.
func Of(l *spread.Ledger) Advice { return Advice{l} }

// Spreads reports whether the class carries a hard spread constraint beyond the single machine.
func (a Advice) Spreads(s *terms.PodInfo) bool {
	for i := range s.Spread {
		if a.ledger.TopologyKey(a.ledger.Group(s.Spread[i].Group).Key) != label.Hostname {
			return true
		}
	}
	return false
}

// Fullness counts the pods that the class is to be spread among in the domains of a new machine.
func (a Advice) Fullness(s *terms.PodInfo, at *fit.Place) int {
	sum := int32(0)
	for i := range s.Spread {
		g := a.ledger.Group(s.Spread[i].Group)
		if a.ledger.TopologyKey(g.Key) == label.Hostname {
			continue
		}
		if d, has := a.ledger.DomainOfNew(at, g.Key); has {
			sum += g.Counts.In(d)
		}
	}
	return int(sum)
}

// Modest reports whether one more pod of the class stays within what spread
// over machines would allow if an empty machine were there too. Machines come
// and go, and a constraint over them is there to lose few pods with one.
func (a Advice) Modest(s *terms.PodInfo, n int) bool {
	for i := range s.Spread {
		e := &s.Spread[i]
		g := a.ledger.Group(e.Group)
		if a.ledger.TopologyKey(g.Key) != label.Hostname {
			continue
		}
		if g.Counts.In(a.ledger.DomainOf(n, g.Key))+e.Self > e.MaxSkew { // in no domain there is none
			return false
		}
	}
	return true
}

// PerHost is how many pods of the class one machine may hold by its terms on
// single machines; 0 if they do not say.
func (a Advice) PerHost(s *terms.PodInfo) int {
	least := 0
	for i := range s.Spread {
		e := &s.Spread[i]
		if e.Self > 0 && a.ledger.TopologyKey(a.ledger.Group(e.Group).Key) == label.Hostname && (least == 0 || int(e.MaxSkew) < least) {
			least = int(e.MaxSkew)
		}
	}
	for _, g := range s.AntiAffinity {
		for _, m := range s.Members {
			if g == m {
				return 1
			}
		}
	}
	return least
}

// SpreadOver is the constraint by which the class's pods are spread over domains larger than a machine; false if there is none that
// counts them.
func (a Advice) SpreadOver(s *terms.PodInfo) (key string, group int32, maxSkew int, ok bool) {
	for i := range s.Spread {
		e := &s.Spread[i]
		g := a.ledger.Group(e.Group)
		if k := a.ledger.TopologyKey(g.Key); k != label.Hostname && e.Self > 0 && !g.Delivered && e.MinDomains == 0 {
			return k, e.Group, int(e.MaxSkew), true
		}
	}
	return "", 0, 0, false
}

// Sought are the labels by which groups choose among machines which of them count; none if no group does.
func (a Advice) Sought() []string {
	var out []string
	add := func(key string) {
		if !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	for _, s := range a.ledger.Filters() {
		if !s.Choosy() {
			continue
		}
		for _, key := range s.Needs {
			add(key)
		}
		for _, r := range s.Filter.NodeSelector {
			add(r.Key)
		}
		for _, t := range s.Filter.NodeTerms {
			for _, r := range t.Labels {
				add(r.Key)
			}
		}
		add(label.Zone) // at the least: a filter may choose by names alone
	}
	return out
}

// AppendCoverOf appends for which groups that concern the class and choose among machines this one would count.
func (a Advice) AppendCoverOf(b []byte, s *terms.PodInfo, at *fit.Place) []byte {
	of := func(group int32) {
		if g := a.ledger.Group(group); g.Kind == terms.TopologySpread {
			if f := a.ledger.Filter(g.Filter); f.Choosy() {
				b = label.AppendFlags(b, f.Passes(at))
			}
		}
	}
	for _, g := range s.Members {
		of(g)
	}
	for _, e := range s.Spread {
		of(e.Group)
	}
	for _, e := range s.Soft {
		of(e.Group)
	}
	return b
}

// AppendCover appends for which groups that choose among machines this one would count.
func (a Advice) AppendCover(b []byte, at *fit.Place) []byte {
	for _, s := range a.ledger.Filters() {
		if s.Choosy() {
			b = label.AppendFlags(b, s.Passes(at))
		}
	}
	return b
}
