package model

import "slices"

// Occupancy counts, for the one host being looked at, what groups and conflicts have to say.
// Its slices are as long as the model and all zero between two hosts.
type Occupancy struct {
	Groups   []int // how many items of each group
	refusing []int // how many classes on the host refuse this class
}

// Reset makes it as large as the model, and all zero.
func (o *Occupancy) Reset(m *Model) {
	o.Groups = make([]int, len(m.Groups))
	if m.Conflicts {
		o.refusing = make([]int, len(m.Classes))
	}
}

// Put notes n items of a class that had none on the host.
func (o *Occupancy) Put(m *Model, c int32, n int) {
	o.Add(m, c, n)
	for _, other := range m.Classes[c].Conflicts {
		o.refusing[other]++
	}
}

// Take is the reverse of Put.
func (o *Occupancy) Take(m *Model, c int32, n int) {
	o.Add(m, c, -n)
	for _, other := range m.Classes[c].Conflicts {
		o.refusing[other]--
	}
}

// Unload takes off what the host holds.
func (o *Occupancy) Unload(m *Model, items []Portion) {
	if len(o.Groups) == 0 && o.refusing == nil {
		return
	}
	for _, it := range items {
		o.Take(m, it.Class, it.Count)
	}
}

// Allowed returns how many items of the class, at most limit, groups and conflicts allow besides what is there.
func (o *Occupancy) Allowed(m *Model, c int32, limit int) int {
	if o.refusing != nil && o.refusing[c] > 0 {
		return 0
	}
	for _, r := range m.Classes[c].Groups {
		limit = min(limit, m.Groups[r].Limit-o.Groups[r])
	}
	return max(limit, 0)
}

// Besides returns how many items of the class, at most limit, are allowed besides the given ones, when it counts none of it
// and nothing else.
func (o *Occupancy) Besides(m *Model, c int32, limit int, items []Portion) int {
	if o.Refused(m, c, items) {
		return 0
	}
	if len(m.Classes[c].Groups) == 0 {
		return limit
	}
	for _, it := range items {
		o.Add(m, it.Class, it.Count)
	}
	limit = o.Allowed(m, c, limit)
	for _, it := range items {
		o.Add(m, it.Class, -it.Count)
	}
	return limit
}

// Refused reports whether the class and one of the items refuse each other, when it counts none of the class and nothing else.
// Whom the class refuses refuses it: so one look at each of the given items is enough, however many it refuses.
func (o *Occupancy) Refused(m *Model, c int32, items []Portion) bool {
	return len(m.Classes[c].Conflicts) > 0 && slices.ContainsFunc(items, func(it Portion) bool { return o.refusing[it.Class] > 0 })
}

// Add adds n items of the class to its groups.
func (o *Occupancy) Add(m *Model, c int32, n int) {
	for _, r := range m.Classes[c].Groups {
		o.Groups[r] += n
	}
}
