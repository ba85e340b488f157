package solve

import "slices"

// floor counts, for the one host being looked at, what groups and conflicts have to say.
// Its slices are as long as the model and all zero between two hosts.
type floor struct {
	rows   []int // how many items of each group
	banned []int // how many classes on the host refuse this class
}

func (f *floor) init(m *model) {
	f.rows = make([]int, len(m.rows))
	if m.conflicts {
		f.banned = make([]int, len(m.classes))
	}
}

// put notes n items of a class that had none on the host.
func (f *floor) put(m *model, c int32, n int) {
	f.count(m, c, n)
	for _, other := range m.classes[c].conflicts {
		f.banned[other]++
	}
}

// take is the reverse of put.
func (f *floor) take(m *model, c int32, n int) {
	f.count(m, c, -n)
	for _, other := range m.classes[c].conflicts {
		f.banned[other]--
	}
}

// unload takes off what the host holds.
func (f *floor) unload(m *model, items []share) {
	if len(f.rows) == 0 && f.banned == nil {
		return
	}
	for _, it := range items {
		f.take(m, it.class, it.n)
	}
}

// allowed returns how many items of the class, at most limit, groups and conflicts allow besides what is there.
func (f *floor) allowed(m *model, c int32, limit int) int {
	if f.banned != nil && f.banned[c] > 0 {
		return 0
	}
	for _, r := range m.classes[c].rows {
		limit = min(limit, m.rows[r].cap-f.rows[r])
	}
	return max(limit, 0)
}

// besides returns how many items of the class, at most limit, are allowed besides the given ones, when the floor holds none of it
// and nothing else.
func (f *floor) besides(m *model, c int32, limit int, items []share) int {
	if f.refused(m, c, items) {
		return 0
	}
	if len(m.classes[c].rows) == 0 {
		return limit
	}
	for _, it := range items {
		f.count(m, it.class, it.n)
	}
	limit = f.allowed(m, c, limit)
	for _, it := range items {
		f.count(m, it.class, -it.n)
	}
	return limit
}

// refused reports whether the class and one of the items refuse each other, when the floor holds none of the class and nothing else.
// Whom the class refuses refuses it: so one look at each of the given items is enough, however many it refuses.
func (f *floor) refused(m *model, c int32, items []share) bool {
	return len(m.classes[c].conflicts) > 0 && slices.ContainsFunc(items, func(it share) bool { return f.banned[it.class] > 0 })
}

// count adds n items of the class to its groups.
func (f *floor) count(m *model, c int32, n int) {
	for _, r := range m.classes[c].rows {
		f.rows[r] += n
	}
}
