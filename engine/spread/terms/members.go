package terms

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// picks reports whether a pod is a member of the group.
func (l *Table) picks(g *Group, p *world.Pod) bool {
	for i := range g.Terms {
		t := &g.Terms[i]
		if !t.Selector.Match(p.Labels) || !l.reaches(t, p.Namespace) {
			return false
		}
	}
	return true
}

func (l *Table) reaches(t *world.PodTerm, namespace string) bool {
	return slices.Contains(t.Namespaces, namespace) || t.Within.Match(l.namespaces[namespace])
}

// Members returns the groups that count the pod, in order.
func (l *Table) Members(p *world.Pod) []int32 { return l.AppendMembers(nil, p) }

// MembersOf are the groups that count pods of the namespace with the labels.
func (l *Table) MembersOf(labelled *world.Labelled) []int32 {
	groups, known := l.labelled[labelled]
	if !known {
		groups = l.Members(&world.Pod{Key: world.Key{Namespace: labelled.Namespace}, Labels: labelled.Labels})
		l.labelled[labelled] = groups
	}
	return groups
}

func (l *Table) AppendMembers(out []int32, p *world.Pod) []int32 {
	out = l.appendFrom(out, l.shelves[p.Namespace], p)
	out = l.appendFrom(out, l.wide, p)
	out = l.AppendVolumes(out, p)
	slices.Sort(out)
	return slices.Compact(out)
}

// appendFrom appends the groups of a shelf that count the pod.
func (l *Table) appendFrom(out []int32, s *shelf, p *world.Pod) []int32 {
	if s == nil {
		return out
	}
	for _, c := range s.columns {
		v, has := p.Labels[c.key]
		if !has {
			continue
		}
		for _, g := range c.by[v] {
			if l.picks(l.groups[g], p) {
				out = append(out, g)
			}
		}
	}
	for _, g := range s.others {
		if l.picks(l.groups[g], p) {
			out = append(out, g)
		}
	}
	return out
}
