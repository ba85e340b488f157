package spread

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Share makes known the volumes that are still to be made and that several of
// the pods wait for: the first of them that is bound decides the zone of all.
// That a disk is attached to one node at a time is not counted: docs/adr/0015.
func (l *Ledger) Share(pods []*world.Pod) {
	users := map[string]*world.Pod{}
	for _, p := range pods {
		for _, v := range p.Volumes {
			if !v.Pending || p.Node != "" {
				continue
			}
			if first, known := users[v.ID]; !known {
				users[v.ID] = p
			} else if first != p {
				l.enlistVolume(v.ID)
			}
		}
	}
}

func (l *Ledger) enlistVolume(id string) {
	if _, known := l.volumes[id]; known {
		return
	}
	l.volumes[id] = int32(len(l.groups))
	l.groups = append(l.groups, &group{kind: together, volume: id, keys: []int{l.key(label.Zone)}, byKey: make([][]int32, 1)})
}

// appendVolumes appends the groups of those who share a volume with the pod.
func (l *Ledger) appendVolumes(out []int32, p *world.Pod) []int32 {
	if len(l.volumes) == 0 || p.Node != "" {
		return out
	}
	for _, v := range p.Volumes {
		if g, shared := l.volumes[v.ID]; shared && v.Pending && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// nearVolumes reports whether the spot is in the zone of every volume that the subject shares, where that is decided.
func (l *Ledger) nearVolumes(s *Subject, at spot) bool {
	for _, id := range s.volumes {
		if !l.nearVolume(id, at) {
			return false
		}
	}
	return true
}

func (l *Ledger) nearVolume(id int32, at spot) bool {
	g := l.groups[id]
	d, has := at.domain(g.keys[0])
	if g.total == 0 {
		return has && (g.within == nil || slices.Contains(g.within, d))
	}
	return has && count(g.byKey[0], d) > 0
}

// Volumes are the groups of those who share a volume with the subject.
func (s *Subject) Volumes() []int32 { return s.volumes }

// Confine has a volume that is shared be made in one of the zones.
func (l *Ledger) Confine(volume int32, zones []string) {
	g := l.groups[volume]
	g.within = []int32{}
	for _, z := range zones {
		g.within = append(g.within, l.domain(g.keys[0], z))
	}
}

// zone names the domain in which the volume of a group is.
func (l *Ledger) zone(g *group) string {
	for d, n := range g.byKey[0] {
		if n > 0 {
			return l.values[g.keys[0]][d]
		}
	}
	return ""
}
