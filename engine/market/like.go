package market

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Pools of one template often differ only in what no pod asks for, such as a label
// that says whose they are. Of pools that are alike the first would be bought from
// as long as its limits allow, since it comes first at equal price. So as many of them are
// filled as surely have room for a machine for each pod, and the others refer to the first.

// likeness tells pools apart as far as pods, daemon sets and topology do.
type likeness struct {
	machines int // that may be bought at most
	asked    map[string][]label.Requirement
	counted  map[string]bool // labels by whose values pods are counted
	waits    map[world.PoolID]bool
	groups   map[string]*likes
}

// likes are pools that are alike.
type likes struct {
	first    *Pool
	machines int // for which those that were filled have room
}

// newLikeness finds out what tells pools apart that machines for these pods may be bought from; nil if no two can be alike, or that cannot be known.
func (m *Market) newLikeness(w *world.World, pools []*Pool) *likeness {
	pods := m.Options.For
	if pods == nil || len(pools) < 2 || slices.ContainsFunc(pods, m.obscure) {
		return nil
	}
	roughly := map[string]int{}
	for _, p := range pools {
		roughly[string(p.appendRough(nil))]++
	}
	given, some := map[string]bool{}, false
	for _, p := range pools {
		if roughly[string(p.appendRough(nil))] < 2 {
			continue
		}
		some = true
		given[fit.PoolLabel(p.ID)] = true
		for key := range p.Labels {
			given[key] = true
		}
		for _, r := range p.Requirements {
			given[r.Key] = true
		}
	}
	if !some {
		return nil
	}
	l := &likeness{
		machines: len(pods), asked: map[string][]label.Requirement{}, counted: map[string]bool{},
		waits: map[world.PoolID]bool{}, groups: map[string]*likes{},
	}
	for _, b := range w.Backoffs() {
		l.waits[b.Pool] = true
	}
	l.ask(w, pods, given)
	return l
}

// obscure reports whether a rule concerns the pod of which it is not known what it looks at.
func (m *Market) obscure(p *world.Pod) bool {
	return len(m.Rules.Uncompiled(p)) > 0 || !m.Rules.Counted(p)
}

// ask notes what is asked of the labels that pools give their machines.
func (l *likeness) ask(w *world.World, pods []*world.Pod, given map[string]bool) {
	known := map[string]bool{}
	var b []byte
	demanded := func(s label.Set) {
		for _, r := range s {
			if !given[r.Key] {
				continue
			}
			if b = r.AppendIdentity(b[:0]); !known[string(b)] {
				known[string(b)] = true
				l.asked[r.Key] = append(l.asked[r.Key], r)
			}
		}
	}
	one := func(p *world.Pod) {
		demanded(p.NodeSelector)
		for i := range p.NodeTerms {
			demanded(p.NodeTerms[i].Labels)
		}
		for i := range p.NodeWishes {
			demanded(p.NodeWishes[i].Term.Labels)
		}
		for i := range p.Volumes {
			for _, s := range p.Volumes[i].Places {
				demanded(s)
			}
		}
		for i := range p.Spread {
			l.counted[p.Spread[i].Key] = true
		}
		for i := range p.PodTerms {
			l.counted[p.PodTerms[i].Key] = true
		}
	}
	for _, p := range pods {
		one(p)
	}
	for _, d := range w.DaemonSets() {
		one(&d.Pod)
	}
	for _, place := range w.Places() {
		for _, t := range place.AntiAffinity() {
			l.counted[t.Key] = true
		}
	}
}

// appendRough appends what pools have to share to be alike, whatever pods there are.
func (p *Pool) appendRough(b []byte) []byte {
	b = fmt.Appendf(b, "%p", p.Catalog) // which is for this Market only
	b = label.AppendText(label.AppendText(b, p.ID.Kind), string(p.Template))
	b = binary.AppendUvarint(b, uint64(len(p.Taints)))
	b = binary.AppendVarint(b, int64(p.Levy))
	for _, t := range p.Taints {
		b = label.AppendText(label.AppendText(label.AppendText(b, t.Key), t.Value), t.Effect)
	}
	for _, r := range p.Requirements {
		if p.Known[r.Key] || r.Least > 0 {
			b = binary.AppendVarint(r.AppendIdentity(b), int64(r.Least))
		}
	}
	return b
}

// append appends all that tells a pool from others.
func (l *likeness) append(b []byte, p *Pool) []byte {
	b = p.appendRough(b)
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		if p.Known[key] {
			b = label.AppendText(label.AppendText(b, key), p.Labels[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.counted)) {
		v, fixed := p.Fixed(key)
		b = label.AppendText(label.AppendFlags(b, fixed), v)
	}
	for _, key := range slices.Sorted(maps.Keys(l.asked)) {
		v, fixed := p.Fixed(key)
		b = label.AppendFlags(b, fixed)
		if fixed {
			for _, r := range l.asked[key] {
				b = label.AppendFlags(b, r.Has(v))
			}
		} else if r, open := p.Requirements.Find(key); open {
			b = r.AppendIdentity(b)
		}
	}
	for _, r := range p.Open {
		if l.counted[r.Key] {
			b = r.AppendIdentity(b)
		}
	}
	return b
}

// covers reports whether pools that are like p, and come before it, have room for all that may be bought.
func (l *likeness) covers(p *Pool) bool {
	if l == nil {
		return false
	}
	g := l.groupOf(p)
	if g.machines < l.machines {
		return false
	}
	p.like = g.first
	return true
}

// add notes that the pool has been filled.
func (l *likeness) add(p *Pool) {
	if l == nil || l.waits[p.ID] {
		return
	}
	g := l.groupOf(p)
	g.machines = min(g.machines+p.room(l.machines), l.machines)
}

func (l *likeness) groupOf(p *Pool) *likes {
	key := string(l.append(nil, p))
	if l.groups[key] == nil {
		l.groups[key] = &likes{first: p}
	}
	return l.groups[key]
}

// room is for how many machines, at most so many, the limits have room whatever these are.
func (p *Pool) room(most int) int {
	for _, e := range p.Left {
		largest := int64(1)
		for _, t := range p.Types {
			largest = max(largest, t.Counts(e.Name))
		}
		most = int(min(int64(most), max(e.Value, 0)/largest))
	}
	return most
}

// Like reports whether what the pool may buy was found for one that it is like, and is bought from that.
func (p *Pool) Like() bool { return p.like != nil }

// Filled is the pool with what it may buy, if that was found for one that is like it.
func (p *Pool) Filled() *Pool {
	if !p.Like() {
		return p
	}
	filled := *p
	filled.Types, filled.ByPrice, filled.Offers, filled.Exotic = p.like.Types, p.like.ByPrice, p.like.Offers, p.like.Exotic
	return &filled
}
