package packing

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// confineVolumes keeps volumes that several pods wait for to zones that all of these
// pods can reach: the first to find a place decides for the others.
func confineVolumes(k *Packing) {
	sharers := map[int32][]*Class{}
	reach := map[*Class][]string{}
	for _, c := range k.Classes {
		for _, g := range c.PodInfo.Unmade {
			sharers[g] = append(sharers[g], c)
			if reach[c] == nil {
				reach[c] = zones(k, c)
			}
		}
	}
	groups := slices.Sorted(maps.Keys(sharers))
	zones := map[int32][]string{}
	for narrowed := true; narrowed; { // a pod that shares several volumes ties them together
		narrowed = false
		for _, g := range groups {
			common := inCommon(reach, sharers[g])
			if len(common) == 0 || len(common) == len(zones[g]) {
				continue // a pod will be refused, or nothing is new
			}
			zones[g], narrowed = common, true
			for _, c := range sharers[g] {
				reach[c] = common
			}
		}
	}
	for g, names := range zones {
		k.Ledger.Confine(g, names)
	}
}

// zones are those in which the class may find a machine.
func zones(k *Packing, c *Class) []string {
	names, _ := k.Market.ByDomain(c.Offers, label.Zone)
	for d := range k.ExistingByDomain(c, label.Zone) {
		names = append(names, d)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// inCommon are the zones that all of the classes can reach.
func inCommon(reach map[*Class][]string, classes []*Class) []string {
	return slices.DeleteFunc(slices.Clone(reach[classes[0]]), func(d string) bool {
		return slices.ContainsFunc(classes, func(c *Class) bool { return !slices.Contains(reach[c], d) })
	})
}

// spareExotic finds out which exotic types are needed, and forgets the others.
func spareExotic(k *Packing) {
	m := k.Market
	if m.Exotics = m.Exotic(); m.Exotics == nil {
		for _, c := range k.Classes {
			c.Buyable = c.Offers
		}
		return
	}
	needed := market.NewSet(len(m.Offers))
	for _, c := range k.Classes {
		c.Buyable = k.Market.KeepOrdinary(slices.Clone(c.Offers), c.Pinned)
		for i := range c.Buyable.All {
			if m.Exotics.Has(i) {
				needed.Add(i)
				c.NeedsExotic = true
			}
		}
		k.NeedsExotic = k.NeedsExotic || c.NeedsExotic
	}
	unneeded := slices.Clone(m.Exotics)
	unneeded.Subtract(needed)
	for _, c := range k.Classes {
		c.Offers.Subtract(unneeded)
		c.Reach = nil
	}
	for _, p := range m.Pools {
		p.Offers.Subtract(unneeded)
	}
}

// openMachines enters the machines that are there or on their way, and the pods they run, into the ledger.
func openMachines(k *Packing, pods []*world.Pod) {
	for _, p := range pods {
		if len(p.Spread)+len(p.PodTerms) > 0 {
			k.Ledger.Enlist(p)
		}
	}
	k.Ledger.Share(pods, k.Places)
	var antiAffinity []*world.PodTerm
	for _, m := range k.Places {
		antiAffinity = append(antiAffinity, m.AntiAffinity()...)
	}
	for _, d := range k.World.DaemonSets() {
		for i := range d.Pod.PodTerms {
			if t := &d.Pod.PodTerms[i]; t.KeepsAway() {
				antiAffinity = append(antiAffinity, t)
			}
		}
	}
	k.Ledger.Watch(antiAffinity, pods)
	enterMachines(k)
}

// enterMachines makes bins of the machines that are there or on their way: of the complete ones first, each in the order of names.
// They are as many as the cluster has, so that they share their memory.
func enterMachines(k *Packing) {
	dims := len(k.Market.Dims)
	bins, places, free := make([]Bin, len(k.Places)), make([]fit.Place, len(k.Places)), make([]int64, len(k.Places)*dims)
	k.Ledger.Expect(len(k.Places))
	k.Existing = make([]*Bin, 0, len(k.Places))
	var others []*Bin
	for n, m := range k.Places {
		if m.Node == nil && (m.Claim.Failed || m.Claim.Deleting) {
			continue
		}
		at := &places[n]
		*at = fit.Of(k.World, m)
		b := &bins[n]
		*b = Bin{Machine: m, Place: at, Node: k.Ledger.Enter(at), Offer: -1, Free: free[n*dims:][:dims:dims]}
		for i, d := range k.Market.Dims {
			b.Free[i] = at.Free.Value(d)
		}
		k.Counters.Room(at, b.Free)
		enterPods(k, m, b.Node)
		if m.Whole() {
			k.Existing = append(k.Existing, b)
		} else {
			others = append(others, b)
		}
	}
	k.Existing = append(k.Existing, others...)
}

// enterPods enters the pods that run on a machine, as far as they stay there.
func enterPods(k *Packing, m *world.Place, node int) {
	switch {
	case !k.Ledger.Counts():
	case !m.Deleting():
		k.Ledger.Inhabit(m, node)
	default:
		for _, p := range m.Pods {
			if !Leaves(k.World, p) {
				k.Ledger.Run(p, node)
			}
		}
	}
}

// numberDomains finds which offers the ledger cannot tell apart, so that one of them
// answers for all and a planned machine may become another of them.
func numberDomains(k *Packing) {
	if !k.Ledger.Counts() {
		return
	}
	keys := slices.DeleteFunc(slices.Clone(k.Ledger.TopologyKeys()), func(key string) bool { return key == label.Hostname })
	covers := covers{k: k, sought: k.Advice.Sought(), known: map[string][]byte{}}
	domains, known := map[string]int{}, map[string]int{}
	number := func(of map[string]int, text []byte) int {
		n, ok := of[string(text)]
		if !ok {
			n = len(of)
			of[string(text)] = n
		}
		return n
	}
	var b []byte
	var company []*world.Pod
	for i := range k.Market.Offers {
		o := &k.Market.Offers[i]
		b = b[:0]
		for _, key := range keys {
			v := o.Zone
			if key != label.Zone {
				v = k.Market.At(i).Labels[key]
			}
			b = label.AppendText(b, v)
		}
		if i == 0 || o.Type != k.Market.Offers[i-1].Type {
			company = k.Ledger.Company(o.Type.Runs)
		}
		if len(company) > 0 {
			k.accompanied = true
			k.Market.At(i).Company = company
			for _, p := range company {
				b = label.AppendText(b, p.String())
			}
		}
		o.Domain = number(domains, b)
		b = covers.append(b, i)
		o.DomainSet = number(known, b)
	}
}

// covers knows for which groups that choose among machines those of offers would count.
type covers struct {
	k      *Packing
	sought []string // labels that decide it, beside taints of pools
	known  map[string][]byte
	last   *market.Type // the type asked for last, of which many offers lie side by side
	prefix []byte       // what offers of it have in common
	text   []byte
}

// append appends for which of the groups a machine of the offer would count. That depends on the pool, and on the labels that they
// look at: offers that have these in common are asked for once.
func (c *covers) append(b []byte, offer int) []byte {
	if len(c.sought) == 0 {
		return b
	}
	o := &c.k.Market.Offers[offer]
	if o.Type != c.last {
		c.last, c.prefix = o.Type, c.appendShape(c.prefix[:0], o.Type)
	}
	c.text = append(c.text[:0], c.prefix...)
	for _, key := range c.sought {
		switch v, own := o.Labels[key]; {
		case key == label.Zone:
			c.text = label.AppendText(c.text, o.Zone)
		case key == label.CapacityType:
			c.text = label.AppendText(c.text, o.CapacityType)
		case own:
			c.text = label.AppendText(append(c.text, 'o'), v)
		default:
			c.text = append(c.text, '-')
		}
	}
	cover, known := c.known[string(c.text)]
	if !known {
		cover = c.k.Advice.AppendCover(nil, c.k.Market.At(offer))
		c.known[string(c.text)] = cover
	}
	return append(b, cover...)
}

// appendShape appends what decides it of the type's pool and shape.
func (c *covers) appendShape(b []byte, t *market.Type) []byte {
	b = label.AppendText(label.AppendText(b, t.Pool.ID.Kind), t.Pool.ID.Name)
	for _, key := range c.sought {
		if key == label.InstanceType {
			b = label.AppendText(b, t.Shape.Name)
			continue
		}
		r, ok := t.Shape.Labels.Find(key)
		if b = label.AppendFlags(b, ok); ok {
			b = r.AppendIdentity(b)
		}
	}
	return b
}

// holdNominated puts the pods that the scheduler has nominated where it wants them, and
// those of machines that stay where they run.
func holdNominated(k *Packing) {
	var byName map[string]*Bin
	for i, b := range k.Existing {
		b.Number = i
	}
	before := 0 // pods of the classes before
	for _, c := range k.Classes {
		turns := turnsOf(c.Pods)
		for i, p := range c.Pods {
			x := &Pod{Pod: p, Class: c, turn: before + i}
			if turns != nil {
				x.turn = before + turns[i]
			}
			at := cmp.Or(p.Node, p.Nominated)
			if at != "" && byName == nil {
				byName = named(k.Existing)
			}
			if b := byName[at]; b != nil && !b.Place.Deleting && !p.Promised {
				x.Held = true
				k.Join(b, x)
				continue
			}
			k.Unplaced = append(k.Unplaced, x)
		}
		before += len(c.Pods)
	}
}

// turnsOf are the turns of pods of a class, by namespace and name; nil if they stand in this order, as most do.
func turnsOf(pods []*world.Pod) []int {
	if slices.IsSortedFunc(pods, func(a, b *world.Pod) int { return a.Key.Compare(b.Key) }) {
		return nil
	}
	order, turns := make([]int, len(pods)), make([]int, len(pods))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return pods[a].Key.Compare(pods[b].Key) })
	for turn, i := range order {
		turns[i] = turn
	}
	return turns
}

// named are the bins by name.
func named(bins []*Bin) map[string]*Bin {
	out := make(map[string]*Bin, len(bins))
	for _, b := range bins {
		out[b.Place.Name] = b
	}
	return out
}

// noteUseful notes which offers would host some pod: of a thousand pools most are for
// others' pods, and what no pod could use is not worth looking at.
func noteUseful(k *Packing) {
	k.Useful = market.NewSet(len(k.Market.Offers))
	for _, c := range k.Classes {
		k.Useful.Union(c.Offers)
	}
}
