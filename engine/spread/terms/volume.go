package terms

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Share makes known the volumes, and the resource claims, that several pods have, of which one is among
// pods and the others are there or run on places. Of one that is still to be made the
// first pod that is bound decides the zone of all; one for a single node is where
// the first is that has it, and one for a single pod is that pod's.
func (l *Table) Share(pods []*world.Pod, places []*world.Place) {
	waits, holds := map[string]*world.Pod{}, map[string]*world.Pod{}
	for _, p := range pods {
		for _, v := range p.Volumes {
			if v.Pending && p.Node == "" && another(waits, v.ID, p) {
				l.enlistUnmade(v.ID)
			}
			if v.Exclusive() && !p.Done && another(holds, v.ID, p) {
				l.enlistExclusive(v)
			}
		}
		eachShared(p, func(id string) {
			if !p.Done && another(holds, id, p) {
				l.enlistClaim(id)
			}
		})
	}
	if len(holds) == 0 {
		return
	}
	for _, m := range places {
		for _, p := range m.Holders() {
			for _, v := range p.Volumes {
				if first := holds[v.ID]; v.Exclusive() && first != nil && first != p {
					l.enlistExclusive(v)
				}
			}
			eachShared(p, func(id string) {
				if first := holds[id]; first != nil && first != p {
					l.enlistClaim(id)
				}
			})
		}
	}
}

// eachShared calls do for each resource claim of the pod that others may name too: the devices of a claim are of one
// node, and all pods that share it go there, as they do for a volume for one node.
func eachShared(p *world.Pod, do func(id string)) {
	for i := range p.Devices {
		if c := &p.Devices[i]; c.Shared {
			do("resource claim " + c.String())
		}
	}
}

func (l *Table) enlistClaim(id string) {
	l.enlistExclusive(world.Volume{ID: id, OneNode: true})
	l.groups[l.exclusive[id]].Claim = true
}

// another reports whether the volume has a first pod and this is not it. If it has none, this one is.
func another(first map[string]*world.Pod, id string, p *world.Pod) bool {
	was, known := first[id]
	if !known {
		first[id] = p
	}
	return known && was != p
}

func (l *Table) enlistUnmade(id string) {
	if _, known := l.unmade[id]; known {
		return
	}
	l.unmade[id] = int32(len(l.groups))
	l.groups = append(l.groups, &Group{Kind: Affinity, Volume: id, Keys: []int{l.key(label.Zone)}, ByKey: make([]domain.Tally, 1)})
}

func (l *Table) enlistExclusive(v world.Volume) {
	if i, known := l.exclusive[v.ID]; known {
		g := l.groups[i]
		g.OnePod = g.OnePod || v.OnePod
		return
	}
	l.exclusive[v.ID] = int32(len(l.groups))
	l.groups = append(l.groups, &Group{Kind: Affinity, Volume: v.ID, OnePod: v.OnePod, Keys: []int{l.key(label.Hostname)}, ByKey: make([]domain.Tally, 1)})
}

// Confine has a volume that is shared be made in one of the zones.
func (l *Table) Confine(volume int32, zones []string) {
	g := l.groups[volume]
	g.Within = []int32{}
	for _, z := range zones {
		g.Within = append(g.Within, l.domains[g.Keys[0]].Number(z))
	}
}

// Release has a volume be made in any zone, and reports whether it was confined and none of its pods has a place yet.
func (l *Table) Release(volume int32) bool {
	g := l.groups[volume]
	if g.Within == nil || g.Total > 0 {
		return false
	}
	g.Within = nil
	return true
}

// AppendVolumes appends the groups of the pods that share a volume with the pod, one as often as the pod has the volume.
func (l *Table) AppendVolumes(out []int32, p *world.Pod) []int32 {
	if len(l.unmade)+len(l.exclusive) == 0 {
		return out
	}
	for _, v := range p.Volumes {
		if g, shared := l.unmade[v.ID]; shared && v.Pending && p.Node == "" {
			out = append(out, g)
		}
		if g, shared := l.exclusive[v.ID]; shared {
			out = append(out, g)
		}
	}
	eachShared(p, func(id string) {
		if g, shared := l.exclusive[id]; shared {
			out = append(out, g)
		}
	})
	return out
}

// Holds reports whether volumes for one node, or one pod, are shared.
func (l *Table) Holds() bool { return len(l.exclusive) > 0 }
