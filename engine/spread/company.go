package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
)

// SeeksCompany returns the group whose company the class wants on the very machine, where pods that go wherever they like are of the
// group as well, and no other term of the class has a say in where it goes.
func (l *Ledger) SeeksCompany(s *PodInfo) (group int32, ok bool) {
	if s.affinity == none || len(s.spread)+len(s.antiAffinity)+len(s.shunned)+len(s.unmade)+len(s.exclusive)+len(s.wishes) > 0 {
		return none, false
	}
	g := l.groups[s.affinity]
	return s.affinity, g.classes > g.carriers && !g.delivered && len(g.keys) == 1 && l.keys[g.keys[0]] == label.Hostname
}

// CountedBeside are the groups besides its own company that count the class, and whose terms bear on where it goes.
func (l *Ledger) CountedBeside(s *PodInfo) []int32 {
	return slices.DeleteFunc(slices.Clone(s.members), func(id int32) bool {
		g := l.groups[id]
		return id == s.affinity || g.carriers == 0 && g.outside == 0
	})
}

// Leads reports whether the class may have pods on its machine that seek its company, and that other groups count: a machine for both is
// found as one for the class alone, for its own terms come at most to one domain for all, and so do those groups.
func (l *Ledger) Leads(class *PodInfo, group int32, others []int32) bool {
	if class.carries(group) || len(class.wishes) > 0 {
		return false
	}
	x, ok := l.Simple(class)
	if !ok || x.PerHost > 0 || x.Split != nil || len(x.Shared)+len(x.Owns)+len(x.Shunned)+len(x.Counted)+len(x.Among)+len(x.Mixed)+len(x.MixedIn) > 0 {
		return false
	}
	return !slices.ContainsFunc(others, func(id int32) bool { return id != class.affinity })
}

// OnOneMachine returns the group of which all pods have to share one machine, the class's among them, and how many of these have a
// place: pods that want their own company there, with none that is of the group and does not want it.
func (l *Ledger) OnOneMachine(s *PodInfo) (group int32, placed int, ok bool) {
	if s.affinity == none || !s.self {
		return none, 0, false
	}
	g := l.groups[s.affinity]
	return s.affinity, g.total, g.classes == g.carriers && !g.delivered && len(g.keys) == 1 && l.keys[g.keys[0]] == label.Hostname
}
