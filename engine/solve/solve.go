package solve

// Solve places all items it can on hosts it opens, at a cost as low as it can find.
func Solve(p Problem) Answer {
	m := compile(p)
	best := m.firstFit()
	return m.answer(p, best)
}
