package solve

// Bound returns what placing all items costs at least, without looking for a way to place them.
func Bound(p Problem) int64 {
	m := compile(p)
	if len(m.classes) == 0 {
		return 0
	}
	f := newFluid(m, m.kinds(), 0)
	f.climb(150, 0.6, 0.1)
	f.climb(100, 0.2, 0.02)
	placed := make([]int, len(m.classes))
	for c := range placed {
		placed[c] = m.classes[c].count
	}
	least, _ := f.bound(placed)
	return least
}
