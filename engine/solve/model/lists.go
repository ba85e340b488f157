package model

import (
	"cmp"
	"slices"
)

// AllHosts lists the hosts of the model.
func AllHosts(m *Model) []int32 {
	all := make([]int32, len(m.Hosts))
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// AllClasses lists the classes of the model.
func AllClasses(m *Model) []int32 {
	all := make([]int32, len(m.Classes))
	for c := range all {
		all[c] = int32(c)
	}
	return all
}

// Ranks returns the classes rank by rank.
func (m *Model) Ranks() [][]int32 {
	all := AllClasses(m)
	slices.SortStableFunc(all, func(a, b int32) int { return cmp.Compare(m.Classes[a].rank, m.Classes[b].rank) })
	var out [][]int32
	for i, c := range all {
		if i == 0 || m.Classes[c].rank != m.Classes[all[i-1]].rank {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], c)
	}
	return out
}

// MostRoom is the most of each dimension that some of the hosts have.
func (m *Model) MostRoom(hosts []int32) []int64 {
	most := make([]int64, m.Dims)
	for _, h := range hosts {
		for d, room := range m.Hosts[h].Room {
			most[d] = max(most[d], room)
		}
	}
	return most
}
