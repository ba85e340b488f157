package disrupt

// expiration gives back what has reached its pool's age. No budget holds it
// up: whoever sets an age wants no machine to be older.
func (d *decision) expiration() {
	for _, p := range d.world.Places() {
		c := p.Claim
		if c == nil || c.ExpireAfter <= 0 || p.Deleting() || d.going[p.Name()] {
			continue
		}
		if at := c.Created + c.ExpireAfter; at > d.world.At() {
			d.later(at)
			continue
		}
		d.give(p, Expired)
	}
}
