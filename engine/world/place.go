package world

import (
	"slices"
	"strings"
)

func comparePlace(p *Place, name string) int { return strings.Compare(p.Name(), name) }

// settlePlaces brings the joined machines up to date. Where only pods came and
// went, only their machines are joined anew.
func (b *Builder) settlePlaces() {
	nodes, changedNodes := b.nodes.settle()
	claims, changedClaims := b.claims.settle()
	loads, changedLoads := b.loads.settle()
	switch {
	case len(changedNodes)+len(changedClaims) > 0:
		b.joinAll(nodes, claims, loads)
	case len(changedLoads) > 0:
		b.reload(changedLoads)
	}
}

// reload replaces the places whose pods changed.
func (b *Builder) reload(changed []string) {
	b.places = slices.Clone(b.places)
	for _, name := range changed {
		i, ok := slices.BinarySearchFunc(b.places, name, comparePlace)
		if !ok || b.places[i].Node == nil {
			continue
		}
		b.places[i] = newPlace(b.places[i].Node, b.places[i].Claim, b.loads.find(name))
	}
}

func newPlace(n *Node, c *Claim, l *load) *Place {
	p := &Place{Node: n, Claim: c}
	if l != nil {
		p.Pods, p.Used = l.pods, l.used
	}
	return p
}

// joinAll matches every node with its claim and its pods. A place that would
// come out as it was is kept, so that what others know of it stays true.
func (b *Builder) joinAll(nodes []*Node, claims []*Claim, loads []*load) {
	match := newMatcher(claims)
	before := make(map[string]*Place, len(b.places))
	for _, p := range b.places {
		before[p.Name()] = p
	}
	out := make([]*Place, 0, len(nodes)+len(claims))
	add := func(p *Place) {
		if was := before[p.Name()]; was != nil && same(was, p) {
			p = was
		}
		out = append(out, p)
	}
	joined := make(map[string]bool, len(claims))
	for _, n := range nodes {
		c := match.of(n)
		if c != nil {
			joined[c.Name] = true
		}
		for len(loads) > 0 && loads[0].node < n.Name {
			loads = loads[1:]
		}
		var l *load
		if len(loads) > 0 && loads[0].node == n.Name {
			l = loads[0]
		}
		add(newPlace(n, c, l))
	}
	for _, c := range claims {
		if !joined[c.Name] {
			add(newPlace(nil, c, nil))
		}
	}
	slices.SortStableFunc(out, func(x, y *Place) int { return strings.Compare(x.Name(), y.Name()) })
	b.places = out
}

func same(a, b *Place) bool {
	return a.Node == b.Node && a.Claim == b.Claim && len(a.Pods) == len(b.Pods) &&
		(len(a.Pods) == 0 || &a.Pods[0] == &b.Pods[0])
}

// matcher finds the claim of a node: by the claim the node names, else by
// provider id, else by the node the claim names. Of several the first by name wins.
type matcher struct {
	byName, byProvider, byNode map[string]*Claim
}

func newMatcher(claims []*Claim) matcher {
	m := matcher{map[string]*Claim{}, map[string]*Claim{}, map[string]*Claim{}}
	first := func(in map[string]*Claim, key string, c *Claim) {
		if _, taken := in[key]; !taken && key != "" {
			in[key] = c
		}
	}
	for _, c := range claims {
		m.byName[c.Name] = c
		first(m.byProvider, c.ProviderID, c)
		first(m.byNode, c.Node, c)
	}
	return m
}

func (m matcher) of(n *Node) *Claim {
	if c := m.byName[n.Claim]; c != nil {
		return c
	}
	if c := m.byProvider[n.ProviderID]; c != nil {
		return c
	}
	return m.byNode[n.Name]
}
