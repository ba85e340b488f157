package model

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Model is a problem made ready for searching: in canonical order, without dimensions that no item needs,
// without hosts that are never the best choice and without items that no host can take. Nothing changes it once it is compiled.
type Model struct {
	Dims        int            // how many numbers needs and rooms have
	Classes     []Class        // of items, in canonical order
	Hosts       []Host         // in canonical order
	Groups      []Group        // with more than one member, and more items than their limit
	TakerSets   []problem.Bits // the different sets of hosts that can hold a class
	Budgets     []int64        // as in the problem
	Charge      int64          // for each host, beside its price
	Shared      bool           // what is left of the room is of use
	rationed    bool           // budgets may be too small for everything
	standIn     []int32        // for each host of the problem the host of the model that serves in its place, or -1
	ClassOf     []int32        // for each item of the problem its class, or -1
	unplaceable []problem.Portion
	Conflicts   bool // some classes refuse each other
	Selective   bool // some items are not welcome on all hosts, whatever room these have
}

// Class is an item of the problem. Classes stand in canonical order: large needs first, then by name.
type Class struct {
	Item        int // of the problem
	rank        int
	Count       int          // how many items there are
	Need        []int64      // of one item, a number for each dimension
	Cap         int          // at most so many on one host
	Takers      problem.Bits // the hosts of the model that can hold one
	TakerSet    int32        // which of the model's sets of takers that is
	Groups      []int32      // the groups it is a member of
	Conflicts   []int32      // the classes that refuse it
	Constrained bool         // by a group or a conflict
}

// Host is a host of the problem. Hosts stand in canonical order: cheap ones first, then by name.
type Host struct {
	host  int
	Room  []int64        // what one has, as far as items can use it
	Price int64          // micro-dollars per hour
	Draws []problem.Draw // what one draws from budgets, each budget once
}

// Group is a group of the problem: at most Limit of the members together on one host.
type Group struct {
	Members []int32 // classes
	Limit   int     // how many of them one host holds at most
}

// Compile makes a problem ready for searching. Where no others come afterwards, no room is taken for larger than what all items need together.
func Compile(p problem.Problem) *Model {
	m := &Model{Charge: p.Charge, Shared: p.Shared, Budgets: slices.Clone(p.Budgets), rationed: len(p.Budgets) > 0}
	used := usedDims(p)
	m.Dims = len(used)
	order := m.addHosts(p, used)
	m.addClasses(p, used, order)
	m.addGroups(p)
	return m
}

// usedDims lists the dimensions in which some item needs something.
func usedDims(p problem.Problem) []int {
	var used []int
	for d := 0; ; d++ {
		exists, needed := false, false
		for i := range p.Items {
			if d < len(p.Items[i].Need) {
				exists = true
				needed = needed || p.Items[i].Need[d] > 0
			}
		}
		if !exists {
			return used
		}
		if needed {
			used = append(used, d)
		}
	}
}

// addHosts fills m.hosts with the hosts that can be a best choice, and returns for each host of the model its position in the problem.
func (m *Model) addHosts(p problem.Problem, used []int) []int {
	sets, setOf := distinctSets(p)
	welcome := welcomes(p, sets)
	all := usableHosts(p, used)
	if !p.Shared {
		t := newTotals(p, used, sets, setOf)
		for i := range all {
			t.limit(all[i].Room, welcome[i])
		}
	}
	slices.SortFunc(all, func(a, b Host) int {
		if a.Price != b.Price {
			return cmp.Compare(a.Price, b.Price)
		}
		if by := slices.Compare(b.Room, a.Room); by != 0 {
			return by
		}
		return cmp.Or(strings.Compare(p.Hosts[a.host].Name, p.Hosts[b.host].Name), cmp.Compare(a.host, b.host))
	})
	m.standIn = make([]int32, len(p.Hosts))
	var order []int
	var by itemSets
	for _, h := range all {
		m.standIn[h.host] = -1
		if welcome[h.host].Empty() || Overdrawn(h.Draws, p.Budgets, 1) {
			continue
		}
		own := by.of(welcome[h.host])
		better := -1
		for _, l := range by.covering(own) {
			for _, k := range l.hosts {
				if better >= 0 && k > better {
					break
				}
				if m.Hosts[k].dominates(h) {
					better = k
					break
				}
			}
		}
		if better < 0 {
			better = len(m.Hosts)
			own.hosts = append(own.hosts, better)
			m.Hosts = append(m.Hosts, h)
			order = append(order, h.host)
		}
		m.standIn[h.host] = int32(better)
	}
	return order
}

// usableHosts are all hosts with as much room as sums of needs can fill.
func usableHosts(p problem.Problem, used []int) []Host {
	all := make([]Host, len(p.Hosts))
	rooms := make([]int64, len(p.Hosts)*len(used))
	for i, h := range p.Hosts {
		room := rooms[i*len(used):][:len(used):len(used)]
		pick(room, h.Room, used)
		all[i] = Host{host: i, Room: room, Price: h.Price, Draws: totalDraws(h.Draws)}
	}
	for k, d := range used {
		s := newSums(p, d)
		for i := range all {
			all[i].Room[k] = s.attainable(all[i].Room[k])
		}
	}
	return all
}

// itemSets are the sets of items that hosts welcome. Hosts are many, such sets
// are few, and whether one covers another is found once.
type itemSets struct {
	all  []*itemSet
	sets distinct
}

// itemSet is one set of items, and the hosts of the model that welcome just these, by position.
type itemSet struct {
	items   problem.Bits
	hosts   []int
	covers  []*itemSet // those that welcome all of these items, and maybe more
	checked int        // how many sets were asked whether they do
}

// of returns the set of just these items.
func (g *itemSets) of(items problem.Bits) *itemSet {
	n := int(g.sets.of(items))
	if n == len(g.all) {
		g.all = append(g.all, &itemSet{items: items})
	}
	return g.all[n]
}

// covering returns the sets whose hosts welcome all of l, l itself included.
func (g *itemSets) covering(l *itemSet) []*itemSet {
	for _, other := range g.all[l.checked:] {
		if l.items.Within(other.items) {
			l.covers = append(l.covers, other)
		}
	}
	l.checked = len(g.all)
	return l.covers
}

// dominates reports whether h, which is no dearer, can stand in for other as far as room and budgets go.
func (h Host) dominates(other Host) bool {
	for d, room := range h.Room {
		if room < other.Room[d] {
			return false
		}
	}
	for _, draw := range h.Draws {
		k := slices.IndexFunc(other.Draws, func(o problem.Draw) bool { return o.Budget == draw.Budget })
		if k < 0 || other.Draws[k].Amount < draw.Amount {
			return false
		}
	}
	return true
}

// totalDraws sums the draws on each budget, leaving out those of nothing.
func totalDraws(draws []problem.Draw) []problem.Draw {
	var out []problem.Draw
	for _, d := range draws {
		if d.Amount <= 0 {
			continue
		}
		k := slices.IndexFunc(out, func(o problem.Draw) bool { return o.Budget == d.Budget })
		if k < 0 {
			out = append(out, d)
		} else {
			out[k].Amount += d.Amount
		}
	}
	return out
}

// addClasses fills m.classes, putting aside the items that no host can hold.
func (m *Model) addClasses(p problem.Problem, used []int, order []int) {
	sets, setOf := distinctSets(p)
	kept := make([]problem.Bits, len(sets))
	for s, set := range sets {
		kept[s] = problem.NewBits(len(order))
		for k, h := range order {
			if set.Has(h) {
				kept[s].Set(k)
			}
		}
	}
	rank := make([]int, 0, len(p.Items))
	for i := range p.Items {
		if p.Items[i].Count > 0 {
			rank = append(rank, i)
		}
	}
	all := make([]int64, len(p.Items)*len(used))
	needs := make([][]int64, len(p.Items))
	for _, i := range rank {
		needs[i] = all[i*len(used):][:len(used):len(used)]
		pick(needs[i], p.Items[i].Need, used)
	}
	slices.SortFunc(rank, func(a, b int) int {
		if by := slices.Compare(needs[b], needs[a]); by != 0 {
			return by
		}
		return cmp.Or(strings.Compare(p.Items[a].Name, p.Items[b].Name), cmp.Compare(a, b))
	})
	m.ClassOf = make([]int32, len(p.Items))
	for i := range m.ClassOf {
		m.ClassOf[i] = -1
	}
	var kinds distinct
	for _, i := range rank {
		item := &p.Items[i]
		c := Class{Item: i, rank: item.Rank, Count: item.Count, Need: needs[i], Cap: item.PerHost}
		if c.Cap <= 0 || c.Cap > item.Count {
			c.Cap = item.Count
		}
		c.TakerSet = kinds.of(m.canHold(kept[setOf[i]], c.Need))
		c.Takers = kinds.all[c.TakerSet]
		m.Selective = m.Selective || m.unwelcome(c.Takers, c.Need)
		if c.Takers.Empty() {
			m.unplaceable = append(m.unplaceable, problem.Portion{Item: i, Count: item.Count})
			continue
		}
		m.ClassOf[i] = int32(len(m.Classes))
		m.Classes = append(m.Classes, c)
	}
	m.TakerSets = kinds.all
}

// canHold returns those of the welcoming hosts that can hold one item of the given need.
func (m *Model) canHold(welcoming problem.Bits, need []int64) problem.Bits {
	out := problem.NewBits(len(m.Hosts))
	welcoming.Each(func(h int) {
		if Fits(need, m.Hosts[h].Room) {
			out.Set(h)
		}
	})
	return out
}

// unwelcome reports whether some host has room for one item of the given need and is none of its takers.
func (m *Model) unwelcome(takers problem.Bits, need []int64) bool {
	for h := range m.Hosts {
		if !takers.Has(h) && Fits(need, m.Hosts[h].Room) {
			return true
		}
	}
	return false
}

// addGroups turns the groups and conflicts of the problem into those of classes.
func (m *Model) addGroups(p problem.Problem) {
	for _, g := range p.Groups {
		r := Group{Limit: max(g.Cap, 1)}
		total := 0
		for _, i := range g.Members {
			if c := m.ClassOf[i]; c >= 0 && !slices.Contains(r.Members, c) {
				r.Members = append(r.Members, c)
				total += m.Classes[c].Count
			}
		}
		if total <= r.Limit {
			continue
		}
		slices.Sort(r.Members)
		for _, c := range r.Members {
			m.Classes[c].Groups = append(m.Classes[c].Groups, int32(len(m.Groups)))
			m.Classes[c].Cap = min(m.Classes[c].Cap, r.Limit)
		}
		if len(r.Members) == 1 {
			m.Classes[r.Members[0]].Groups = m.Classes[r.Members[0]].Groups[:len(m.Classes[r.Members[0]].Groups)-1]
			continue
		}
		m.Groups = append(m.Groups, r)
	}
	for i := range p.Items {
		for _, j := range p.Items[i].Conflicts {
			a, b := m.ClassOf[i], m.ClassOf[j]
			if a < 0 || b < 0 {
				continue
			}
			if a == b {
				m.Classes[a].Cap = 1
				continue
			}
			m.Classes[a].Conflicts = append(m.Classes[a].Conflicts, b)
			m.Classes[b].Conflicts = append(m.Classes[b].Conflicts, a)
			m.Conflicts = true
		}
	}
	for k := range m.Classes {
		slices.Sort(m.Classes[k].Conflicts)
		m.Classes[k].Conflicts = slices.Compact(m.Classes[k].Conflicts)
		m.Classes[k].Constrained = len(m.Classes[k].Conflicts)+len(m.Classes[k].Groups) > 0
	}
}
