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
	loads, changedLoads := b.settleLoads()
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
	p := &Place{Node: n, Claim: c, load: l}
	if l != nil {
		p.Pods, p.Used = l.pods, l.used
	}
	return p
}

// Kin is what selectors can tell of each of the pods.
func (p *Place) Kin() []*Kin { return p.summary().kin }

// Daemons are the pods that daemon sets run there.
func (p *Place) Daemons() []*Pod { return p.summary().daemons }

// Holders are the pods there that take ports or volumes.
func (p *Place) Holders() []*Pod { return p.summary().holders }

// Averse are the terms by which pods there keep others away, of each pod its own.
func (p *Place) Averse() []*PodTerm { return p.summary().averse }

// summary is what is known of the place's pods together. A World's places have
// it; one that was put together by hand is looked at every time.
func (p *Place) summary() *load {
	switch {
	case p.load != nil:
		return p.load
	case len(p.Pods) == 0:
		return &load{}
	}
	return newLoad("", p.Pods, &kinship{})
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

func same(a, b *Place) bool { return a.Node == b.Node && a.Claim == b.Claim && a.load == b.load }

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
