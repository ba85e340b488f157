package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Shuns returns a group of pods, planned as the class is, that it keeps away from by a domain beyond the machine without being
// one of them, and the key of these domains; false if there is none.
func (a Advice) Shuns(s *terms.PodInfo) (group int32, key string, ok bool) {
	for _, id := range s.AntiAffinity {
		g := a.ledger.Group(id)
		if a.ledger.TopologyKey(g.Key) != label.Hostname && g.Classes > 0 && !s.In(id) {
			return id, a.ledger.TopologyKey(g.Key), true
		}
	}
	return domain.None, "", false
}

// Shunned reports whether others that are planned keep away from the class by a domain beyond the machine, and it not likewise.
func (a Advice) Shunned(s *terms.PodInfo) bool {
	return slices.ContainsFunc(s.Shunned, func(id int32) bool {
		g := a.ledger.Group(id)
		return a.ledger.TopologyKey(g.Key) != label.Hostname && g.Carriers > 0 && !slices.Contains(s.AntiAffinity, id)
	})
}

// Keepers counts the pods in a domain that keep away from the group.
func (a Advice) Keepers(group int32, domain string) int {
	g := a.ledger.Group(group)
	d, known := a.ledger.DomainsOf(g.Key).Find(domain)
	if !known {
		return 0
	}
	return int(g.Owners.In(d))
}
