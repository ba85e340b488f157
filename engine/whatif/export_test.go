package whatif

import "math"

// Unplaced is how many pods have no place.
func (y *Cluster) Unplaced() int { return len(y.k.Unplaced) }

// Choose returns where in an order the nth unplaced pod would go, and where it would if every machine were looked at.
func (y *Cluster) Choose(o *Order, n int) (chosen, scanned int) {
	x, next := y.k.Unplaced[n], o.next
	chosen = settler{y, o, false}.choose(x)
	c := choice{Order: o, pod: x, asks: y.usual.asks(x.Class.Need), choosy: y.k.HasWishes(x.Class), at: -1, cheapest: math.Inf(1)}
	for i := range o.Len() {
		c.try((next + i) % o.Len())
	}
	return chosen, c.at
}

// Join puts the nth unplaced pod onto a machine.
func (y *Cluster) Join(n, machine int) {
	x := y.k.Unplaced[n]
	y.k.Unplaced = append(y.k.Unplaced[:n:n], y.k.Unplaced[n+1:]...)
	y.k.Join(y.k.Existing[machine], x)
}
