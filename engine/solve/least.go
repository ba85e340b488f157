package solve

// Bound returns what placing all items costs at least, without looking for a way to place them.
func Bound(p Problem) int64 {
	least, _ := Worth(p)
	return least
}

// Worth returns the bound, and what one of each item is worth at its prices, in micro-dollars per hour.
func Worth(p Problem) (least int64, worth []int64) {
	worth = make([]int64, len(p.Items))
	m := compile(p)
	if len(m.classes) == 0 {
		return 0, worth
	}
	f := newFluid(m, m.kinds(), 0)
	f.climb(150, 0.6, 0.1)
	f.climb(100, 0.2, 0.02)
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count
	}
	least, each := f.bound(placed)
	for c, w := range each {
		worth[m.classes[c].item] = w >> moneyBits
	}
	return least, worth
}
