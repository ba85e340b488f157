package terms

import (
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Watch makes known the terms by which pods that run keep others away, as far as
// they may keep away one of those that wait: no others have to be counted for them.
func (l *Table) Watch(required []*world.PodTerm, waiting []*world.Pod) {
	pending := waitingByLabel{pods: waiting, by: map[string]map[string][]*world.Pod{}}
	idle := map[string]bool{} // terms that concern no waiting pod
	for _, t := range required {
		if _, known := l.owned[t]; known {
			continue // pods of one kind share their terms
		}
		l.text = appendAntiAffinityID(l.text[:0], *t)
		g, known := l.byTerms[string(l.text)]
		switch {
		case known:
		case idle[string(l.text)]:
			g = domain.None
		case l.concerns(t, &pending):
			g = l.enlistAntiAffinity(*t)
		default:
			idle[string(l.text)] = true
			g = domain.None
		}
		l.owned[t] = g
	}
}

// OwnedBy is the group of a running pod's anti-affinity; none if it does not matter.
func (l *Table) OwnedBy(t *world.PodTerm) int32 {
	g, known := l.owned[t]
	if !known {
		g = domain.None
		l.text = appendAntiAffinityID(l.text[:0], *t)
		if i, ok := l.byTerms[string(l.text)]; ok {
			g = i
		}
		l.owned[t] = g
	}
	return g
}

// waitingByLabel is the pods that wait, by the labels that were asked for.
type waitingByLabel struct {
	pods []*world.Pod
	by   map[string]map[string][]*world.Pod
}

// maxPodsAsked is how many pods are looked at before a term is taken to concern one of them.
const maxPodsAsked = 50

// concerns reports whether the term may match a waiting pod.
func (l *Table) concerns(t *world.PodTerm, pending *waitingByLabel) bool {
	r := filedBy([]world.PodTerm{*t})
	if r == nil {
		return true
	}
	looked := 0
	for _, v := range r.Values {
		for _, p := range pending.with(r.Key, v) {
			if looked++; looked > maxPodsAsked || t.Selector.Match(p.Labels) && l.reaches(t, p.Namespace) {
				return true
			}
		}
	}
	return false
}

// with are the pods with the label.
func (a *waitingByLabel) with(key, value string) []*world.Pod {
	by, known := a.by[key]
	if !known {
		by = map[string][]*world.Pod{}
		for _, p := range a.pods {
			if v, ok := p.Labels[key]; ok {
				by[v] = append(by[v], p)
			}
		}
		a.by[key] = by
	}
	return by[value]
}

// Company returns those of some daemon sets whose pods matter to pods that are
// counted: waiting pods that want to be near them or away from them, or are kept away by them.
func (l *Table) Company(daemons []*world.DaemonSet) []*world.Pod {
	var out []*world.Pod
	for _, d := range daemons {
		matters := false
		for i := range d.Pod.PodTerms {
			t := &d.Pod.PodTerms[i]
			matters = matters || t.KeepsAway() && l.OwnedBy(t) != domain.None
		}
		for _, g := range l.Members(&d.Pod) {
			l.groups[g].Delivered, matters = true, true
		}
		if matters {
			out = append(out, &d.Pod)
		}
	}
	return out
}
