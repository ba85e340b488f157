package solve

import "slices"

// occupancy counts, for the one host being looked at, what groups and conflicts have to say.
// Its slices are as long as the model and all zero between two hosts.
type occupancy struct {
	groups   []int // how many items of each group
	refusing []int // how many classes on the host refuse this class
}

func (o *occupancy) reset(m *model) {
	o.groups = make([]int, len(m.groups))
	if m.conflicts {
		o.refusing = make([]int, len(m.classes))
	}
}

// put notes n items of a class that had none on the host.
func (o *occupancy) put(m *model, c int32, n int) {
	o.add(m, c, n)
	for _, other := range m.classes[c].conflicts {
		o.refusing[other]++
	}
}

// take is the reverse of put.
func (o *occupancy) take(m *model, c int32, n int) {
	o.add(m, c, -n)
	for _, other := range m.classes[c].conflicts {
		o.refusing[other]--
	}
}

// unload takes off what the host holds.
func (o *occupancy) unload(m *model, items []portion) {
	if len(o.groups) == 0 && o.refusing == nil {
		return
	}
	for _, it := range items {
		o.take(m, it.class, it.count)
	}
}

// allowed returns how many items of the class, at most limit, groups and conflicts allow besides what is there.
func (o *occupancy) allowed(m *model, c int32, limit int) int {
	if o.refusing != nil && o.refusing[c] > 0 {
		return 0
	}
	for _, r := range m.classes[c].groups {
		limit = min(limit, m.groups[r].limit-o.groups[r])
	}
	return max(limit, 0)
}

// besides returns how many items of the class, at most limit, are allowed besides the given ones, when it counts none of it
// and nothing else.
func (o *occupancy) besides(m *model, c int32, limit int, items []portion) int {
	if o.refused(m, c, items) {
		return 0
	}
	if len(m.classes[c].groups) == 0 {
		return limit
	}
	for _, it := range items {
		o.add(m, it.class, it.count)
	}
	limit = o.allowed(m, c, limit)
	for _, it := range items {
		o.add(m, it.class, -it.count)
	}
	return limit
}

// refused reports whether the class and one of the items refuse each other, when it counts none of the class and nothing else.
// Whom the class refuses refuses it: so one look at each of the given items is enough, however many it refuses.
func (o *occupancy) refused(m *model, c int32, items []portion) bool {
	return len(m.classes[c].conflicts) > 0 && slices.ContainsFunc(items, func(it portion) bool { return o.refusing[it.class] > 0 })
}

// add adds n items of the class to its groups.
func (o *occupancy) add(m *model, c int32, n int) {
	for _, r := range m.classes[c].groups {
		o.groups[r] += n
	}
}
