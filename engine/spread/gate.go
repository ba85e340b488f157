package spread

// Gate names what keeps a pod from a machine until others are bound: a group, and the domain of it that the machine is in.
type Gate struct{ Group, Domain int32 }

// Gate returns the first term that keeps a pod of the class from machine n; false if it may go there.
func (l *Ledger) Gate(s *PodInfo, n int) (g Gate, shut bool) {
	at := l.on(n)
	for i := range s.spread {
		if e := &s.spread[i]; !l.spreadAllows(e, at) {
			return l.gateAt(e.group, l.groups[e.group].key, at), true
		}
	}
	for _, g := range s.antiAffinity {
		if l.antiAffinityCount(g, at, false) > 0 {
			return l.gateAt(g, l.groups[g].key, at), true
		}
	}
	for _, g := range s.shunned {
		if l.antiAffinityCount(g, at, true) > 0 {
			return l.gateAt(g, l.groups[g].key, at), true
		}
	}
	for _, groups := range [2][]int32{s.unmade, s.exclusive} {
		for _, g := range groups {
			if !l.hasVolume(g, at) {
				return l.gateAt(g, l.groups[g].keys[0], at), true
			}
		}
	}
	if s.affinity == none || l.affinityAllows(s, at) {
		return Gate{}, false
	}
	return Gate{s.affinity, none}, true
}

func (l *Ledger) gateAt(group int32, key int, at candidate) Gate {
	d, _ := at.domain(key)
	return Gate{group, d}
}

// Opening grows whenever a pod that is bound opens gates of the group: each
// domain that pods want company in has its first, or the emptiest of those to be
// filled evenly has one more.
func (l *Ledger) Opening(group int32) int {
	g := l.groups[group]
	switch g.kind {
	case topologySpread:
		return int(g.least())
	case affinity:
		return g.reached
	}
	return 0
}

// Lonely reports whether the class wants company of pods of which none is placed yet, whichever the machine, and their group.
func (l *Ledger) Lonely(s *PodInfo) (group int32, lonely bool) {
	if s.affinity == none || s.self || l.groups[s.affinity].total > 0 || l.groups[s.affinity].delivered {
		return none, false
	}
	return s.affinity, true
}
