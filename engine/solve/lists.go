package solve

import (
	"cmp"
	"slices"
)

// allHosts lists the hosts of the model.
func allHosts(m *model) []int32 {
	all := make([]int32, len(m.hosts))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// allClasses lists the classes of the model.
func allClasses(m *model) []int32 {
	all := make([]int32, len(m.classes))
	for c := range all {
		all[c] = int32(c)
	}
	return all
}

// ranks returns the classes rank by rank.
func (m *model) ranks() [][]int32 {
	all := allClasses(m)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(m.classes[a].rank, m.classes[b].rank) })
	var out [][]int32
	for i, c := range all {
		if i == 0 || m.classes[c].rank != m.classes[all[i-1]].rank {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// mostRoom is the most of each dimension that some of the hosts have.
func (m *model) mostRoom(hosts []int32) []int64 {
	most := make([]int64, m.dims)
	for _, h := range hosts {
		for d, room := range m.hosts[h].room {
			most[d] = max(most[d], room)
		}
	}
	return most
}
