package advice

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// SeeksCompany returns the group whose company the class wants on the very machine, where pods that go wherever they like are of the
// group as well, and no other term of the class has a say in where it goes.
func (a Advice) SeeksCompany(s *terms.PodInfo) (group int32, ok bool) {
	if s.Affinity == domain.None || len(s.Spread)+len(s.AntiAffinity)+len(s.Shunned)+len(s.Unmade)+len(s.Exclusive)+len(s.Soft) > 0 {
		return domain.None, false
	}
	g := a.ledger.Group(s.Affinity)
	return s.Affinity, g.Classes > g.Carriers && !g.Delivered && len(g.Keys) == 1 && a.ledger.TopologyKey(g.Keys[0]) == label.Hostname
}

// CountedBeside are the groups besides its own company that count the class, and whose terms bear on where it goes.
func (a Advice) CountedBeside(s *terms.PodInfo) []int32 {
	return slices.DeleteFunc(slices.Clone(s.Members), func(id int32) bool {
		g := a.ledger.Group(id)
		return id == s.Affinity || g.Carriers == 0 && g.Outside == 0
	})
}

// Leads reports whether the class may have pods on its machine that seek its company, and that other groups count: a machine for both is
// found as one for the class alone, for its own terms come at most to one domain for all, and so do those groups.
func (a Advice) Leads(class *terms.PodInfo, others []int32) bool {
	if len(class.Soft) > 0 {
		return false
	}
	x, ok := a.Simple(class)
	if !ok || x.PerHost > 0 || x.Split != nil || len(x.Shared)+len(x.Owns)+len(x.Shunned)+len(x.Counted)+len(x.Among)+len(x.Mixed)+len(x.MixedIn) > 0 {
		return false
	}
	return !slices.ContainsFunc(others, func(id int32) bool { return id != class.Affinity })
}

// OnOneMachine returns the group of which all pods have to share one machine, the class's among them, and how many of these have a
// place: pods that want their own company there, with none that is of the group and does not want it.
func (a Advice) OnOneMachine(s *terms.PodInfo) (group int32, placed int, ok bool) {
	if !s.Self {
		return domain.None, 0, false
	}
	g := a.ledger.Group(s.Affinity)
	return s.Affinity, g.Total, g.Classes == g.Carriers && !g.Delivered && len(g.Keys) == 1 && a.ledger.TopologyKey(g.Keys[0]) == label.Hostname
}

// Lonely reports whether the class wants company of pods of which none is placed yet, whichever the machine, and their group.
func (a Advice) Lonely(s *terms.PodInfo) (group int32, lonely bool) {
	if s.Affinity == domain.None || s.Self || a.ledger.Group(s.Affinity).Total > 0 || a.ledger.Group(s.Affinity).Delivered {
		return domain.None, false
	}
	return s.Affinity, true
}
