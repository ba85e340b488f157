package world

import (
	"slices"
	"strings"
)

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

// settleLoads brings the loads up to date, each node's at once.
func (b *Builder) settleLoads() ([]*load, []string) {
	for node, shifts := range b.shifts {
		var before []*Pod
		if l := b.loads.find(node); l != nil {
			before = l.pods
		}
		b.loads.put(node, newLoad(node, shifted(before, shifts), &b.labelling))
	}
	b.shifts = nil
	return b.loads.settle()
}

// shifted returns the pods after the shifts, of which the last for each key counts.
func shifted(pods []*Pod, shifts []shift) []*Pod {
	slices.SortStableFunc(shifts, func(a, b shift) int { return compareKey(a.key, b.key) })
	out := make([]*Pod, 0, len(pods)+len(shifts))
	for i, s := range shifts {
		if i+1 < len(shifts) && shifts[i+1].key == s.key {
			continue
		}
		n, found := slices.BinarySearchFunc(pods, s.key, comparePodKey)
		out = append(out, pods[:n]...)
		if pods = pods[n:]; found {
			pods = pods[1:]
		}
		if s.pod != nil {
			out = append(out, s.pod)
		}
	}
	return append(out, pods...)
}

// rejoining is nodes and claims, by name, for which it may have changed what they are joined with.
type rejoining struct {
	*Builder
	nodes, claims map[string]bool
}

// noteChanged notes what a claim is, or was, joined with by what it says.
func (r *rejoining) noteChanged(c *Claim) {
	if c == nil {
		return
	}
	r.claims[c.Name] = true
	for n := range r.nodesOf(c) {
		r.nodes[n.Name] = true
	}
}

// nodesOf yields the nodes that might be the claim's.
func (b *Builder) nodesOf(c *Claim) func(yield func(*Node) bool) {
	return func(yield func(*Node) bool) {
		if n := b.nodes.find(c.Node); n != nil && !yield(n) {
			return
		}
		for n := range b.links.nodesByClaim.of(c.Name) {
			if !yield(n) {
				return
			}
		}
		for n := range b.links.nodesByProvider.of(c.ProviderID) {
			if !yield(n) {
				return
			}
		}
	}
}

// claimOf is the claim of a node, as matcher finds it.
func (b *Builder) claimOf(n *Node) *Claim {
	if c := b.claims.find(n.Claim); c != nil {
		return c
	}
	for c := range b.links.claimsByProvider.of(n.ProviderID) {
		return c
	}
	for c := range b.links.claimsByNode.of(n.Name) {
		return c
	}
	return nil
}

// rejoin joins them again. A place that would come out as it was is kept.
func (r *rejoining) rejoin() {
	for name := range r.nodes {
		key := placeKey{name: name}
		was := r.places.find(key)
		if was != nil && was.Claim != nil {
			r.claims[was.Claim.Name] = true
		}
		n := r.Builder.nodes.find(name)
		if n == nil {
			r.replace(key, was, nil)
			continue
		}
		c := r.claimOf(n)
		if c != nil {
			r.claims[c.Name] = true
		}
		r.replace(key, was, newPlace(n, c, r.loads.find(name)))
	}
	for name := range r.claims {
		key := placeKey{name: name, bare: true}
		var p *Place
		if c := r.Builder.claims.find(name); c != nil && !r.joined(c) {
			p = newPlace(nil, c, nil)
		}
		r.replace(key, r.places.find(key), p)
	}
}

func (r *rejoining) replace(key placeKey, was, is *Place) {
	if was == nil && is == nil || was != nil && is != nil && same(was, is) {
		return
	}
	r.places.put(key, is)
}

// joined reports whether a node is the claim's.
func (b *Builder) joined(c *Claim) bool {
	for n := range b.nodesOf(c) {
		if b.claimOf(n) == c {
			return true
		}
	}
	return false
}
