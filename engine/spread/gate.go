package spread

// Gate names what keeps a pod from a machine until others are bound: a group, and the domain of it that the machine is in.
type Gate struct{ Group, Domain int32 }

// Gate returns the first term that keeps a pod of the subject from machine n; false if it may go there.
func (l *Ledger) Gate(s *Subject, n int) (g Gate, shut bool) {
	at := l.on(n)
	for i := range s.even {
		if e := &s.even[i]; !l.evenAllows(e, at) {
			return l.gateAt(e.group, l.groups[e.group].key, at), true
		}
	}
	for _, g := range s.apart {
		if l.apartFrom(g, at, false) > 0 {
			return l.gateAt(g, l.groups[g].key, at), true
		}
	}
	for _, g := range s.shunned {
		if l.apartFrom(g, at, true) > 0 {
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
	if s.together == none || l.togetherAllows(s, at) {
		return Gate{}, false
	}
	return Gate{s.together, none}, true
}

func (l *Ledger) gateAt(group int32, key int, at spot) Gate {
	d, _ := at.domain(key)
	return Gate{group, d}
}

// Opening grows whenever a pod that is bound opens gates of the group: each
// domain that pods want company in has its first, or the emptiest of those to be
// filled evenly has one more.
func (l *Ledger) Opening(group int32) int {
	g := l.groups[group]
	switch g.kind {
	case evenly:
		return int(g.least())
	case together:
		return g.reached
	}
	return 0
}

// Lonely reports whether the subject wants company of pods of which none is placed yet, whichever the machine, and their group.
func (l *Ledger) Lonely(s *Subject) (group int32, lonely bool) {
	if s.together == none || s.self || l.groups[s.together].total > 0 || l.groups[s.together].delivered {
		return none, false
	}
	return s.together, true
}
