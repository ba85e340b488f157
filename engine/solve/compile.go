package solve

import (
	"cmp"
	"slices"
	"strings"
)

// model is a problem made ready for searching: in canonical order, without dimensions that no item needs,
// without hosts that are never the best choice and without items that no host can take.
type model struct {
	dims        int
	classes     []class
	hosts       []host
	groups      []group
	takerSets   []Bits // the different sets of hosts that can hold a class
	budgets     []int64
	charge      int64
	shared      bool    // what is left of the room is of use
	rationed    bool    // budgets may be too small for everything
	standIn     []int32 // for each host of the problem the host of the model that serves in its place, or -1
	classOf     []int32 // for each item of the problem its class, or -1
	unplaceable []Portion
	conflicts   bool
	selective   bool // some items are not welcome on all hosts, whatever room these have
}

// class is an item of the problem. Classes stand in canonical order: large needs first, then by name.
type class struct {
	item        int
	rank        int
	count       int
	need        []int64
	cap         int     // at most so many on one host
	takers      Bits    // the hosts of the model that can hold one
	takerSet    int32   // which of the model's sets of takers that is
	groups      []int32 // the groups it is a member of
	conflicts   []int32
	constrained bool // by a group or a conflict
}

// host is a host of the problem. Hosts stand in canonical order: cheap ones first, then by name.
type host struct {
	host  int
	room  []int64
	price int64
	draws []Draw
}

// group is a group of the problem: at most limit of the members together on one host.
type group struct {
	members []int32
	limit   int
}

// compile makes a problem ready for searching. Where no others come afterwards, no room is taken for larger than what all items need together.
func compile(p Problem) *model {
	m := &model{charge: p.Charge, shared: p.Shared, budgets: slices.Clone(p.Budgets), rationed: len(p.Budgets) > 0}
	used := usedDims(p)
	m.dims = len(used)
	order := m.addHosts(p, used)
	m.addClasses(p, used, order)
	m.addGroups(p)
	return m
}

// usedDims lists the dimensions in which some item needs something.
func usedDims(p Problem) []int {
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
func (m *model) addHosts(p Problem, used []int) []int {
	sets, setOf := distinctSets(p)
	welcome := welcomes(p, sets)
	all := usableHosts(p, used)
	if !p.Shared {
		t := newTotals(p, used, sets, setOf)
		for i := range all {
			t.limit(all[i].room, welcome[i])
		}
	}
	slices.SortFunc(all, func(a, b host) int {
		if a.price != b.price {
			return cmp.Compare(a.price, b.price)
		}
		if by := slices.Compare(b.room, a.room); by != 0 {
			return by
		}
		return cmp.Or(strings.Compare(p.Hosts[a.host].Name, p.Hosts[b.host].Name), cmp.Compare(a.host, b.host))
	})
	m.standIn = make([]int32, len(p.Hosts))
	var order []int
	var by itemSets
	for _, h := range all {
		m.standIn[h.host] = -1
		if welcome[h.host].empty() || overdrawn(h.draws, p.Budgets, 1) {
			continue
		}
		own := by.of(welcome[h.host])
		better := -1
		for _, l := range by.covering(own) {
			for _, k := range l.hosts {
				if better >= 0 && k > better {
					break
				}
				if m.hosts[k].dominates(h) {
					better = k
					break
				}
			}
		}
		if better < 0 {
			better = len(m.hosts)
			own.hosts = append(own.hosts, better)
			m.hosts = append(m.hosts, h)
			order = append(order, h.host)
		}
		m.standIn[h.host] = int32(better)
	}
	return order
}

// usableHosts are all hosts with as much room as sums of needs can fill.
func usableHosts(p Problem, used []int) []host {
	all := make([]host, len(p.Hosts))
	rooms := make([]int64, len(p.Hosts)*len(used))
	for i, h := range p.Hosts {
		room := rooms[i*len(used):][:len(used):len(used)]
		pick(room, h.Room, used)
		all[i] = host{host: i, room: room, price: h.Price, draws: totalDraws(h.Draws)}
	}
	for k, d := range used {
		s := newSums(p, d)
		for i := range all {
			all[i].room[k] = s.attainable(all[i].room[k])
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
	items   Bits
	hosts   []int
	covers  []*itemSet // those that welcome all of these items, and maybe more
	checked int        // how many sets were asked whether they do
}

// of returns the set of just these items.
func (g *itemSets) of(items Bits) *itemSet {
	n := int(g.sets.of(items))
	if n == len(g.all) {
		g.all = append(g.all, &itemSet{items: items})
	}
	return g.all[n]
}

// covering returns the sets whose hosts welcome all of l, l itself included.
func (g *itemSets) covering(l *itemSet) []*itemSet {
	for _, other := range g.all[l.checked:] {
		if l.items.within(other.items) {
			l.covers = append(l.covers, other)
		}
	}
	l.checked = len(g.all)
	return l.covers
}

// dominates reports whether h, which is no dearer, can stand in for other as far as room and budgets go.
func (h host) dominates(other host) bool {
	for d, room := range h.room {
		if room < other.room[d] {
			return false
		}
	}
	for _, draw := range h.draws {
		k := slices.IndexFunc(other.draws, func(o Draw) bool { return o.Budget == draw.Budget })
		if k < 0 || other.draws[k].Amount < draw.Amount {
			return false
		}
	}
	return true
}

// totalDraws sums the draws on each budget, leaving out those of nothing.
func totalDraws(draws []Draw) []Draw {
	var out []Draw
	for _, d := range draws {
		if d.Amount <= 0 {
			continue
		}
		k := slices.IndexFunc(out, func(o Draw) bool { return o.Budget == d.Budget })
		if k < 0 {
			out = append(out, d)
		} else {
			out[k].Amount += d.Amount
		}
	}
	return out
}

// addClasses fills m.classes, putting aside the items that no host can hold.
func (m *model) addClasses(p Problem, used []int, order []int) {
	sets, setOf := distinctSets(p)
	kept := make([]Bits, len(sets))
	for s, set := range sets {
		kept[s] = NewBits(len(order))
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
	m.classOf = make([]int32, len(p.Items))
	for i := range m.classOf {
		m.classOf[i] = -1
	}
	var kinds distinct
	for _, i := range rank {
		item := &p.Items[i]
		c := class{item: i, rank: item.Rank, count: item.Count, need: needs[i], cap: item.PerHost}
		if c.cap <= 0 || c.cap > item.Count {
			c.cap = item.Count
		}
		c.takerSet = kinds.of(m.canHold(kept[setOf[i]], c.need))
		c.takers = kinds.all[c.takerSet]
		m.selective = m.selective || m.unwelcome(c.takers, c.need)
		if c.takers.empty() {
			m.unplaceable = append(m.unplaceable, Portion{i, item.Count})
			continue
		}
		m.classOf[i] = int32(len(m.classes))
		m.classes = append(m.classes, c)
	}
	m.takerSets = kinds.all
}

// canHold returns those of the welcoming hosts that can hold one item of the given need.
func (m *model) canHold(welcoming Bits, need []int64) Bits {
	out := NewBits(len(m.hosts))
	welcoming.each(func(h int) {
		if fits(need, m.hosts[h].room) {
			out.Set(h)
		}
	})
	return out
}

// unwelcome reports whether some host has room for one item of the given need and is none of its takers.
func (m *model) unwelcome(takers Bits, need []int64) bool {
	for h := range m.hosts {
		if !takers.Has(h) && fits(need, m.hosts[h].room) {
			return true
		}
	}
	return false
}

// addGroups turns the groups and conflicts of the problem into those of classes.
func (m *model) addGroups(p Problem) {
	for _, g := range p.Groups {
		r := group{limit: max(g.Cap, 1)}
		total := 0
		for _, i := range g.Members {
			if c := m.classOf[i]; c >= 0 && !slices.Contains(r.members, c) {
				r.members = append(r.members, c)
				total += m.classes[c].count
			}
		}
		if total <= r.limit {
			continue
		}
		slices.Sort(r.members)
		for _, c := range r.members {
			m.classes[c].groups = append(m.classes[c].groups, int32(len(m.groups)))
			m.classes[c].cap = min(m.classes[c].cap, r.limit)
		}
		if len(r.members) == 1 {
			m.classes[r.members[0]].groups = m.classes[r.members[0]].groups[:len(m.classes[r.members[0]].groups)-1]
			continue
		}
		m.groups = append(m.groups, r)
	}
	for i := range p.Items {
		for _, j := range p.Items[i].Conflicts {
			a, b := m.classOf[i], m.classOf[j]
			if a < 0 || b < 0 {
				continue
			}
			if a == b {
				m.classes[a].cap = 1
				continue
			}
			m.classes[a].conflicts = append(m.classes[a].conflicts, b)
			m.classes[b].conflicts = append(m.classes[b].conflicts, a)
			m.conflicts = true
		}
	}
	for k := range m.classes {
		slices.Sort(m.classes[k].conflicts)
		m.classes[k].conflicts = slices.Compact(m.classes[k].conflicts)
		m.classes[k].constrained = len(m.classes[k].conflicts)+len(m.classes[k].groups) > 0
	}
}
