package spread

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Share makes known the volumes that are still to be made and that several of
// the pods wait for: the first of them that is bound decides the zone of all.
// That a disk is attached to one node at a time is not counted: docs/adr/0015.
func (l *terms) Share(pods []*world.Pod) {
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

func (l *terms) enlistVolume(id string) {
	if _, known := l.volumes[id]; known {
		return
	}
	l.volumes[id] = int32(len(l.groups))
	l.groups = append(l.groups, &group{kind: together, volume: id, keys: []int{l.key(label.Zone)}, byKey: make([][]int32, 1)})
}

// Confine has a volume that is shared be made in one of the zones.
func (l *terms) Confine(volume int32, zones []string) {
	g := l.groups[volume]
	g.within = []int32{}
	for _, z := range zones {
		g.within = append(g.within, l.domain(g.keys[0], z))
	}
}
