package world

import (
	"slices"
	"strings"
)

// placeKey is what places are ordered by: a node's comes before that of a claim of the same name which has none.
type placeKey struct {
	name string
	bare bool // a claim whose node has not joined
}

func keyOfPlace(p *Place) placeKey { return placeKey{p.Name(), p.Node == nil} }

func comparePlaceKey(a, b placeKey) int {
	if by := strings.Compare(a.name, b.name); by != 0 || a.bare == b.bare {
		return by
	}
	if a.bare {
		return 1
	}
	return -1
}

func comparePlace(p *Place, name string) int { return strings.Compare(p.Name(), name) }

// manyJoined is how many nodes and claims have to change for all places to be joined again, if they are an eighth of all.
const manyJoined = 64

// settlePlaces brings the joined machines up to date. Only those are joined again that something has changed for.
func (b *Builder) settlePlaces() {
	wereClaims := b.claims.settled
	nodes, changedNodes := b.nodes.settle()
	claims, changedClaims := b.claims.settle()
	b.links.settle()
	loads, changedLoads := b.settleLoads()
	if n := len(changedNodes) + len(changedClaims); n > 0 {
		if len(b.places.settled) == 0 || n > manyJoined && 8*n > len(nodes)+len(claims) {
			b.joinAll(nodes, claims, loads)
			return
		}
		r := rejoining{Builder: b, nodes: map[string]bool{}, claims: map[string]bool{}}
		for _, name := range changedNodes {
			r.nodes[name] = true
		}
		for _, name := range changedClaims {
			r.noteChanged(find(wereClaims, name, b.claims.key, strings.Compare))
			r.noteChanged(b.claims.find(name))
		}
		r.rejoin()
	}
	b.reload(changedLoads)
	b.places.settle()
}

// reload replaces the places whose pods changed.
func (b *Builder) reload(changed []string) {
	for _, name := range changed {
		if p := b.places.find(placeKey{name: name}); p != nil {
			b.places.put(placeKey{name: name}, newPlace(p.Node, p.Claim, b.loads.find(name)))
		}
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

// Ending reports whether some pod there is terminating.
func (p *Place) Ending() bool { return p.summary().ending }

// Daemons are the pods that daemon sets run there.
func (p *Place) Daemons() []*Pod { return p.summary().daemons }

// Holders are the pods there that take ports, volumes or devices.
func (p *Place) Holders() []*Pod { return p.summary().holders }

// AntiAffinity are the required terms by which pods there keep others away, of each pod its own.
func (p *Place) AntiAffinity() []*PodTerm { return p.summary().antiAffinity }

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
	before := make(map[placeKey]*Place, len(b.places.settled))
	for _, p := range b.places.settled {
		before[keyOfPlace(p)] = p
	}
	out := make([]*Place, 0, len(nodes)+len(claims))
	add := func(p *Place) {
		if was := before[keyOfPlace(p)]; was != nil && same(was, p) {
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
	b.places.settled = out
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
