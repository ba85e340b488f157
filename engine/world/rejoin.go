package world

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
