package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// Shuns returns a group of pods, planned as the class is, that it keeps away from by a domain beyond the machine without being
// one of them, and the key of these domains; false if there is none.
func (l *Ledger) Shuns(s *PodInfo) (group int32, key string, ok bool) {
	for _, id := range s.antiAffinity {
		g := l.groups[id]
		if l.keys[g.key] != label.Hostname && g.classes > 0 && !s.In(id) {
			return id, l.keys[g.key], true
		}
	}
	return none, "", false
}

// Shunned reports whether others that are planned keep away from the class by a domain beyond the machine, and it not likewise.
func (l *Ledger) Shunned(s *PodInfo) bool {
	return slices.ContainsFunc(s.shunned, func(id int32) bool {
		g := l.groups[id]
		return l.keys[g.key] != label.Hostname && g.carriers > 0 && !slices.Contains(s.antiAffinity, id)
	})
}

// Keepers counts the pods in a domain that keep away from the group.
func (l *Ledger) Keepers(group int32, domain string) int {
	g := l.groups[group]
	d, known := l.domains[g.key].find(domain)
	if !known {
		return 0
	}
	return int(g.owners.in(d))
}
