package fit

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Of returns the place of a machine that is there or on its way. What the
// daemon sets that it does not run yet will take is no longer free.
func Of(w *world.World, m *world.Place) Place {
	at := Place{Name: m.Name(), Deleting: m.Deleting(), Taints: taintsOf(m, w.At()), Labels: m.Labels()}
	var room amount.List
	switch {
	case m.Node == nil:
		at.Planned, at.Sealed = true, true
		at.Caps = capsOf(w.Pool(m.Pool()), nil)
		room = expect(w, m.Claim, &at)
	default:
		at.Cordoned = m.Node.Cordoned
		at.Caps = capsOf(w.Pool(m.Pool()), m.Node)
		room = m.Node.Allocatable
		if forming(m, w.At()) && m.Claim != nil {
			room = announced(room, m.Claim.Allocatable)
			if s := shapeOf(w.CatalogFor(m.Claim.Pool, m.Claim.Template), m.Labels()[label.InstanceType]); s != nil {
				at.Caps.announce(CapsOf(w.Pool(m.Pool()), s))
			}
		}
	}
	at.Free = Left(room, m.Used, missing(m, &at, w.DaemonSets()))
	for _, p := range m.Holders() {
		at.Ports = append(at.Ports, p.Ports...)
		at.Caps.take(p)
	}
	equip(w, m, &at)
	return at
}

// Left is what a machine has left for pods, of all it offers: without what is
// used there, and what daemon sets that do not run there yet will ask for.
func Left(room, used, due amount.List) amount.List {
	out := room.Minus(used)
	if len(due) > 0 {
		out = out.Minus(due)
	}
	return out
}

// missing is what the daemon sets that will run on the machine, and do not yet, ask for. Their host ports count as taken.
func missing(m *world.Place, at *Place, daemons []*world.DaemonSet) amount.List {
	there := m.Daemons()
	var sum amount.List
	for _, d := range daemons {
		of := func(p *world.Pod) bool { return p.DaemonSet == d.Name && p.Namespace == d.Namespace }
		if slices.ContainsFunc(there, of) || !Runs(d, at) {
			continue
		}
		at.Company = append(at.Company, &d.Pod)
		sum = sum.Plus(d.Pod.Requests)
		at.Ports = append(at.Ports, d.Pod.Ports...)
	}
	return sum
}

// expect sets what a claim's node is known to be like, and returns its room.
// Until it is launched it may be any shape of its menu, so it has what all of them have.
func expect(w *world.World, c *world.Claim, at *Place) amount.List {
	at.Labels = maps.Clone(c.Labels)
	if at.Labels == nil {
		at.Labels = map[string]string{}
	}
	if c.Pool.Name != "" {
		at.Labels[PoolLabel(c.Pool)] = c.Pool.Name
	}
	at.Labels[label.Registered], at.Labels[label.Initialized] = "true", "true"
	for _, r := range c.Requirements {
		if _, known := at.Labels[r.Key]; !known {
			at.Settle(r)
		}
	}
	room, known := menuRoom(w, c, at)
	switch {
	case len(c.Allocatable) > 0:
		return c.Allocatable
	case known:
		return room
	}
	return c.Booked
}

// menuRoom settles the labels that the shapes of the claim's menu agree on and the
// caps that each of them keeps, and returns the room that all of them have; false if
// the catalogue knows none.
func menuRoom(w *world.World, c *world.Claim, at *Place) (room amount.List, known bool) {
	catalog, pool := w.CatalogFor(c.Pool, c.Template), w.Pool(c.Pool)
	menu, ok := c.Requirements.Find(label.InstanceType)
	if name, launched := c.Labels[label.InstanceType]; launched {
		menu, ok = label.Is(label.InstanceType, name), true
	}
	if catalog == nil || !ok {
		return nil, false
	}
	may, having := map[string][]string{}, map[string]int{}
	shapes := 0
	for i := range catalog.Shapes {
		s := &catalog.Shapes[i]
		if !menu.Has(s.Name) {
			continue
		}
		if shapes++; shapes == 1 {
			room = s.Allocatable()
		} else {
			room = room.Min(s.Allocatable())
		}
		at.Caps.lower(CapsOf(pool, s))
		for _, r := range s.Labels {
			if !r.Not && len(r.Values) > 0 {
				may[r.Key] = append(may[r.Key], r.Values...)
				having[r.Key]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(may)) {
		if _, has := at.Labels[key]; has {
			continue
		}
		r := label.Is(key, may[key]...)
		r.Present = having[key] == shapes // else it may become a shape without the label
		if o, open := at.Open.Find(key); open {
			r = r.Meet(o)
			at.Open = at.Open.Without(key)
		}
		at.Settle(r)
	}
	return room, shapes > 0
}

// announced is what the node reports, and for what it reports nothing of yet, what its machine will have.
func announced(node, claim amount.List) amount.List {
	for _, e := range claim {
		if node.Value(e.Name) == 0 && e.Value > 0 {
			node = node.With(e.Name, e.Value)
		}
	}
	return node
}

// shapeOf is the type of that name; nil if the catalogue does not have it.
func shapeOf(c *world.Catalog, name string) *world.Shape {
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Shapes[i]
}
