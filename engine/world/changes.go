package world

import (
	"fmt"
	"reflect"
	"slices"
)

// Changes lead from one World to another: applied to the items of the first they give those of the second,
// digest included. They may be cut into parts and the parts applied one after the other.
type Changes struct {
	Items

	Resales []*Resale `json:"resales,omitempty"`
	Gone    Gone      `json:"gone,omitzero"`
}

// Gone are the keys of items that are there no more.
type Gone struct {
	Pools      []PoolID     `json:"pools,omitempty"`
	Catalogs   []TemplateID `json:"catalogs,omitempty"`
	DaemonSets []Key        `json:"daemonSets,omitempty"`
	Namespaces []string     `json:"namespaces,omitempty"`
	Guards     []Key        `json:"guards,omitempty"`
	Nodes      []string     `json:"nodes,omitempty"`
	Claims     []string     `json:"claims,omitempty"`
	Pods       []Key        `json:"pods,omitempty"`
	Backoffs   []BackoffID  `json:"backoffs,omitempty"`
}

// Resale is a catalogue that replaces one of the same template from which it differs in some of its shapes. A
// catalogue is as large as a thousand pods, and what changes of it are mostly prices.
type Resale struct {
	Catalog

	Offers []Reoffer `json:"reoffers,omitempty"` // shapes of which only some offers are otherwise
}

// Reoffer is offers of a shape that are otherwise, each with its place in the list.
type Reoffer struct {
	Shape  int           `json:"shape"` // its place in the catalogue
	Offers []PlacedOffer `json:"offers"`
}

// PlacedOffer is an offer and its place in the list of those of its shape.
type PlacedOffer struct {
	Offer

	Place int `json:"place"`
}

// Since says what has to change for the items of before to be those of w; nil: all there are. What both share
// is not looked at, so that it costs little between Worlds that follow each other.
func (w *World) Since(before *World) Changes {
	if before == nil {
		before = NewBuilder().Snapshot(0)
	}
	a, b := &before.base, &w.base
	c := Changes{}
	c.Pools, c.Gone.Pools = between(b.pools.table, a.pools.settled)
	c.DaemonSets, c.Gone.DaemonSets = between(b.daemonSets.table, a.daemonSets.settled)
	c.Namespaces, c.Gone.Namespaces = between(b.namespaces.table, a.namespaces.settled)
	c.Guards, c.Gone.Guards = between(b.guards.table, a.guards.settled)
	c.Nodes, c.Gone.Nodes = between(b.nodes.table, a.nodes.settled)
	c.Claims, c.Gone.Claims = between(b.claims.table, a.claims.settled)
	c.Pods, c.Gone.Pods = between(b.pods.table, a.pods.settled)
	c.Backoffs, c.Gone.Backoffs = between(b.backoffs.table, a.backoffs.settled)
	var catalogs []*Catalog
	catalogs, c.Gone.Catalogs = between(b.catalogs.table, a.catalogs.settled)
	for _, is := range catalogs {
		if r := resale(before.Catalog(is.Template), is); r != nil {
			c.Resales = append(c.Resales, r)
		} else {
			c.Catalogs = append(c.Catalogs, is)
		}
	}
	return c
}

// between returns the items of a table that are not in a list before, or otherwise there, and the keys of those that
// are in it alone.
func between[K comparable, V any](t table[K, V], before []*V) (set []*V, gone []K) {
	for _, v := range t.settled {
		for len(before) > 0 && before[0] != v && t.compare(t.key(before[0]), t.key(v)) < 0 {
			gone, before = append(gone, t.key(before[0])), before[1:]
		}
		if len(before) > 0 && (before[0] == v || t.key(before[0]) == t.key(v)) {
			same := before[0] == v || reflect.DeepEqual(before[0], v)
			before = before[1:]
			if same {
				continue
			}
		}
		set = append(set, v)
	}
	for _, v := range before {
		gone = append(gone, t.key(v))
	}
	return set, gone
}

// resale is how a catalogue differs from the one before; nil if there was none, or it has to be written whole.
func resale(was, is *Catalog) *Resale {
	if was == nil || len(was.Shapes) != len(is.Shapes) {
		return nil
	}
	r := &Resale{Catalog: *is}
	r.Shapes = nil
	for i := range is.Shapes {
		a, b := &was.Shapes[i], &is.Shapes[i]
		if a.Name != b.Name {
			return nil
		}
		offers, ok := reoffer(a, b)
		switch {
		case !ok:
			r.Shapes = append(r.Shapes, *b)
		case len(offers) > 0:
			r.Offers = append(r.Offers, Reoffer{i, offers})
		}
	}
	return r
}

// reoffer returns the offers of a shape that are otherwise; false if more is.
func reoffer(was, is *Shape) ([]PlacedOffer, bool) {
	a, b := *was, *is
	a.Offers, b.Offers = nil, nil
	if len(was.Offers) != len(is.Offers) || !reflect.DeepEqual(a, b) {
		return nil, false
	}
	if len(is.Offers) == 0 || &was.Offers[0] == &is.Offers[0] {
		return nil, true
	}
	var out []PlacedOffer
	for i, o := range is.Offers {
		if !reflect.DeepEqual(was.Offers[i], o) {
			out = append(out, PlacedOffer{o, i})
		}
	}
	return out, true
}

// Apply makes changes to the items set so far.
func (b *Builder) Apply(c Changes) error {
	g := c.Gone
	all(g.Pools, b.DeletePool)
	all(g.Catalogs, b.DeleteCatalog)
	all(g.DaemonSets, b.DeleteDaemonSet)
	all(g.Namespaces, b.DeleteNamespace)
	all(g.Guards, b.DeleteGuard)
	all(g.Nodes, b.DeleteNode)
	all(g.Claims, b.DeleteClaim)
	all(g.Pods, b.DeletePod)
	all(g.Backoffs, b.DeleteBackoff)
	err := firstError(
		func() error { return b.setAll(c.Items) },
		func() error { return each(c.Resales, b.resell) },
	)
	if err != nil {
		return fmt.Errorf("change world: %w", err)
	}
	return nil
}

func all[K any](keys []K, do func(K)) {
	for _, k := range keys {
		do(k)
	}
}

// resell replaces what is otherwise of a catalogue. The one before stays as it is: Worlds share it.
func (b *Builder) resell(r Resale) error {
	was := b.catalogs.find(r.Template)
	if was == nil {
		return refuse("catalogue "+string(r.Template), "shapes", "are given by how they differ, and there are none yet")
	}
	is := r.Catalog
	is.Shapes = slices.Clone(was.Shapes)
	place := make(map[string]int, len(is.Shapes))
	for i, s := range is.Shapes {
		place[s.Name] = i
	}
	for _, s := range r.Shapes {
		i, ok := place[s.Name]
		if !ok {
			return refuse("catalogue "+string(r.Template), "shapes", "have no %q that could be otherwise", s.Name)
		}
		is.Shapes[i] = s
	}
	for _, o := range r.Offers {
		if o.Shape < 0 || o.Shape >= len(is.Shapes) {
			return refuse("catalogue "+string(r.Template), "reoffers", "name shape %d of %d", o.Shape, len(is.Shapes))
		}
		s := &is.Shapes[o.Shape]
		s.Offers = slices.Clone(s.Offers)
		for _, p := range o.Offers {
			if p.Place < 0 || p.Place >= len(s.Offers) {
				return refuse("catalogue "+string(r.Template), "reoffers", "name offer %d of the %d of %s", p.Place, len(s.Offers), s.Name)
			}
			s.Offers[p.Place] = p.Offer
		}
	}
	return b.SetCatalog(is)
}
