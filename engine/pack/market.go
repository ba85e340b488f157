package pack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// pool is a pool that may be bought from.
type pool struct {
	*world.Pool
	number  int
	title   string // number, in a text that sorts as it does
	catalog *world.Catalog
	known   map[string]bool // keys that some shape of the catalogue, or some offer, defines
	shaping label.Set       // its requirements that shapes meet or not, maybe by what their offers add
	selling label.Set       // its requirements that offers meet or not
	open    label.Set       // demands on labels that only the pods' wishes settle
	left    amount.List     // of the limits
	types   []*machine      // that its requirements allow, in the order of the catalogue
	byPrice []*machine      // the same, the cheapest first
	offers  set
	exotic  []*machine // of types that are bought only where no other would do
	least   bool       // some requirement has minValues
	soft    int        // PreferNoSchedule taints
	named   int        // machines named so far
}

// machine is one shape as one pool buys it: all of its offers, or of those
// that daemon sets tell apart the ones where the same run.
type machine struct {
	pool   *pool
	shape  *world.Shape
	least  int64   // the price of its cheapest offer
	room   []int64 // for pods, by dimension, daemon sets taken off
	daemon amount.List
	ports  []world.Port
	full   bool // there is no room for the daemon sets alone, for the lack of short
	short  amount.Shortage
	first  int // its offers are market.offers[first:last]
	last   int
	from   int // those of the whole shape are market.offers[from:to]
	to     int

	place   *fit.Place // a node of it as far as shape and pool settle that; made when asked for
	rank    int        // among its pool's types, by name
	diverse int8       // whether enough types are as large, for minValues; 0: not asked yet
}

// offer is one machine on sale in one zone in one way.
type offer struct {
	*world.Offer
	machine *machine
	price   int64 // that the plan counts on
	pays    int64 // that is paid if it is to be had, and stays
	quota   int   // position in market.quotas, or -1
	tuple   int   // which topology domains its nodes lie in
	title   string
}

// market is everything that can be bought.
type market struct {
	premium int64 // percent
	dims    []string
	pools   []*pool // heaviest first
	tiers   [][]*pool
	offers  []offer // of all pools
	quotas  []quota
	exotics set          // offers of types that are bought only where no other would do; nil if there are none
	places  []*fit.Place // for each offer, what its node would be like; made when asked for

	domains map[string]map[string]set // offers by their value of a topology key; divided when asked for
	named   map[string]set            // offers by the zones and ways that asks name; gathered when asked for
}

// quota is how many machines of a reservation are left.
type quota struct {
	id   string
	left int
}

// newMarket compiles the pools that may be bought from.
func newMarket(w *world.World, dims []string, o Options) *market {
	m := &market{dims: dims, premium: int64(o.SpotPremium), domains: map[string]map[string]set{}, named: map[string]set{}}
	usage := usages(w)
	for _, p := range w.Pools() {
		catalog := w.CatalogFor(p.ID, p.Template)
		if p.Deleting || p.NotReady != "" || p.Replicas != nil || catalog == nil {
			continue
		}
		m.pools = append(m.pools, &pool{Pool: p, catalog: catalog, left: remaining(p.Limits, usage[p.ID])})
	}
	slices.SortFunc(m.pools, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), strings.Compare(b.ID.Name, a.ID.Name), strings.Compare(a.ID.Kind, b.ID.Kind))
	})
	for i, p := range m.pools {
		p.number, p.title = i, fmt.Sprintf("%06d ", i)
		m.stock(p, w.DaemonSets())
		if n := len(m.tiers); n > 0 && m.tiers[n-1][0].Weight == p.Weight {
			m.tiers[n-1] = append(m.tiers[n-1], p)
			continue
		}
		m.tiers = append(m.tiers, []*pool{p})
	}
	for _, p := range m.pools {
		p.offers = newSet(len(m.offers))
		for _, t := range p.types {
			for i := t.first; i < t.last; i++ {
				p.offers.add(i)
			}
		}
	}
	m.places = make([]*fit.Place, len(m.offers))
	m.reserve(w.Places())
	return m
}

// usages is what each pool's machines count against its limits: those that
// run, that are on their way, and that are going until they are gone.
func usages(w *world.World) map[world.PoolID]amount.List {
	sums := map[world.PoolID]*amount.Total{}
	for _, m := range w.Places() {
		id := m.Pool()
		if id.Name == "" || m.Claim != nil && m.Claim.Failed && m.Node == nil {
			continue
		}
		if sums[id] == nil {
			sums[id] = &amount.Total{}
		}
		book(sums[id], capacity(m))
	}
	out := make(map[world.PoolID]amount.List, len(sums))
	for id, sum := range sums {
		out[id] = sum.List()
	}
	return out
}

// capacity is what a machine counts. A node reports devices only once their
// plugin runs, so until it is complete what was bought counts at least.
func capacity(m *world.Place) amount.List {
	var bought amount.List
	if c := m.Claim; c != nil {
		bought = c.Capacity
		if len(bought) == 0 {
			bought = c.Booked
		}
	}
	switch n := m.Node; {
	case n == nil:
		return bought
	case m.Claim == nil && len(n.Capacity) == 0:
		return n.Allocatable
	case m.Whole() && len(n.Capacity) > 0:
		return n.Capacity
	default:
		return n.Capacity.Max(bought)
	}
}

// book adds what a machine of this capacity counts against limits.
func book(sum *amount.Total, capacity amount.List) {
	sum.Add(capacity)
	sum.Add(amount.List{{Name: amount.Nodes, Value: amount.Unit}})
	for _, e := range capacity {
		if isGPU(e.Name) && e.Value > 0 {
			sum.Add(amount.List{{Name: amount.GPU, Value: e.Value}})
		}
	}
}

func isGPU(resource string) bool {
	domain, name, _ := strings.Cut(resource, "/")
	return name == "gpu" || strings.HasPrefix(domain, "gpu.")
}

// remaining is the room under the limits; a resource without a limit is not in it.
func remaining(limits, used amount.List) amount.List {
	out := make(amount.List, 0, len(limits))
	for _, e := range limits {
		out = append(out, amount.Entry{Name: e.Name, Value: amount.Plus(e.Value, -used.Value(e.Name))})
	}
	return out
}

// within reports whether the limits leave room for one more machine of this capacity.
func (p *pool) within(t *machine) bool {
	_, over := p.over(t)
	return !over
}

// over returns the first limit that one more machine would overshoot.
func (p *pool) over(t *machine) (amount.Shortage, bool) {
	for _, e := range p.left {
		if v := t.counts(e.Name); v > e.Value {
			return amount.Shortage{Name: e.Name, Wants: v, Has: e.Value}, true
		}
	}
	return amount.Shortage{}, false
}

// counts is how much of a limited resource a machine of the type counts.
func (t *machine) counts(name string) int64 {
	switch name {
	case amount.Nodes:
		return amount.Unit
	case amount.GPU:
		sum := int64(0)
		for _, e := range t.shape.Capacity {
			if isGPU(e.Name) {
				sum = amount.Plus(sum, e.Value)
			}
		}
		return sum
	}
	return t.shape.Capacity.Value(name)
}

// book takes n machines of the type off the limits; n below zero gives them back.
func (p *pool) book(t *machine, n int64) {
	if len(p.left) == 0 {
		return
	}
	left := slices.Clone(p.left)
	for i := range left {
		left[i].Value = amount.Plus(left[i].Value, -n*t.counts(left[i].Name))
	}
	p.left = left
}

// stock finds what the pool's requirements let it buy.
func (m *market) stock(p *pool, daemons []*world.DaemonSet) {
	offering := p.learn()
	for _, r := range p.Requirements {
		sold := r.Key == label.Zone || r.Key == label.CapacityType
		if sold || slices.Contains(offering, r.Key) {
			p.selling = append(p.selling, r)
		}
		if !sold && p.known[r.Key] {
			p.shaping = append(p.shaping, r)
		}
	}
	for _, r := range p.Requirements {
		p.least = p.least || r.Least > 0
		if _, fixed := p.Labels[r.Key]; !fixed && !p.known[r.Key] {
			p.open = append(p.open, r)
		}
	}
	for _, t := range p.Taints {
		if t.Effect == world.PreferNoSchedule {
			p.soft++
		}
	}
	for i := range p.catalog.Shapes {
		m.stockShape(p, &p.catalog.Shapes[i], daemons)
	}
	byName := slices.Clone(p.types)
	slices.SortFunc(byName, func(a, b *machine) int { return strings.Compare(a.shape.Name, b.shape.Name) })
	for i, t := range byName {
		t.rank = i
	}
	p.byPrice = byName
	slices.SortStableFunc(p.byPrice, func(a, b *machine) int { return cmp.Compare(a.least, b.least) })
}

// least is the price of the type's cheapest offer.
func (m *market) least(t *machine) int64 {
	return slices.MinFunc(m.offers[t.first:t.last], func(a, b offer) int { return cmp.Compare(a.price, b.price) }).price
}

// learn notes which labels the catalogue defines, and returns those that offers add.
func (p *pool) learn() (offering []string) {
	p.known = map[string]bool{label.Zone: true, label.CapacityType: true, label.Region: true}
	var last label.Set
	for i := range p.catalog.Shapes {
		shape := &p.catalog.Shapes[i]
		for k, r := range shape.Labels {
			if k >= len(last) || last[k].Key != r.Key { // most shapes have the same labels
				p.known[r.Key] = true
			}
		}
		last = shape.Labels
		for j := range shape.Offers {
			offering = learned(offering, shape.Offers[j].Labels)
		}
	}
	for _, key := range offering {
		p.known[key] = true
	}
	return offering
}

// learned returns the keys with those of the labels. Most offers have the same.
func learned(keys []string, labels map[string]string) []string {
	found := 0
	for _, key := range keys {
		if _, ok := labels[key]; ok {
			found++
		}
	}
	if found == len(labels) {
		return keys
	}
	for key := range labels {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (m *market) stockShape(p *pool, s *world.Shape, daemons []*world.DaemonSet) {
	for _, r := range p.shaping {
		if l, ok := s.Labels.Find(r.Key); ok && !l.Meets(r) && !(l.Negative() && r.Negative()) || !ok && !r.Negative() && !offered(s, r) {
			return
		}
	}
	var kept []*world.Offer
	for i := range s.Offers {
		o := &s.Offers[i]
		if !o.Gone && (o.CapacityType != label.Reserved || o.Count > 0) && p.accepts(o) {
			kept = append(kept, o)
		}
	}
	from, known := len(m.offers), len(p.types)
	for _, alike := range p.byDaemons(s, kept, daemons) {
		t := &machine{pool: p, shape: s, first: len(m.offers), from: from}
		for _, d := range alike.daemons {
			t.daemon = t.daemon.Plus(d.Pod.Requests)
			t.ports = append(t.ports, d.Pod.Ports...)
		}
		for _, o := range alike.offers {
			pays := o.Price
			if o.CapacityType == label.Reserved {
				pays = 0
			}
			m.offers = append(m.offers, offer{Offer: o, machine: t, price: m.expected(s, o, pays), pays: pays, quota: m.quota(o)})
		}
		t.last = len(m.offers)
		t.least = m.least(t)
		t.short, t.full = t.daemon.Short(s.Allocatable())
		t.room = make([]int64, len(m.dims))
		for i, d := range m.dims {
			t.room[i] = amount.Plus(s.Room(d), -t.daemon.Value(d))
			if t.full {
				t.room[i] = -1 // for nobody, not even who asks for nothing
			}
		}
		p.types = append(p.types, t)
	}
	for _, t := range p.types[known:] {
		t.to = len(m.offers)
	}
}

// expected is what an offer costs on average. Spot that was refused lately will
// be, as often, and what is bought then is on-demand; spot that may be taken
// back counts as costing that much more.
func (m *market) expected(s *world.Shape, o *world.Offer, pays int64) int64 {
	if o.CapacityType != label.Spot {
		return pays
	}
	pays += pays * m.premium / 100
	if o.Refused == 0 {
		return pays
	}
	instead := int64(0)
	for i := range s.Offers {
		if other := &s.Offers[i]; other.CapacityType == label.OnDemand && (instead == 0 || other.Price < instead) {
			instead = other.Price
		}
	}
	return pays + max(instead-pays, 0)*int64(o.Refused)/1000
}

// offered reports whether an offer of the shape has a label that satisfies r.
func offered(s *world.Shape, r label.Requirement) bool {
	return slices.ContainsFunc(s.Offers, func(o world.Offer) bool {
		v, ok := o.Labels[r.Key]
		return ok && r.Has(v)
	})
}

// accepts reports whether the pool's requirements on zone, capacity type and the offer's own labels allow it.
func (p *pool) accepts(o *world.Offer) bool {
	for _, r := range p.selling {
		switch r.Key {
		case label.Zone:
			if !r.Has(o.Zone) {
				return false
			}
		case label.CapacityType:
			if !r.Has(o.CapacityType) {
				return false
			}
		default:
			if v, ok := o.Labels[r.Key]; ok && !r.Has(v) {
				return false
			}
		}
	}
	return true
}

// quota returns the position of the offer's reservation among the quotas, or -1.
func (m *market) quota(o *world.Offer) int {
	if o.CapacityType != label.Reserved {
		return -1
	}
	id := o.Reservation
	if id == "" {
		id = o.Zone
	}
	for i := range m.quotas {
		if m.quotas[i].id == id {
			m.quotas[i].left = min(m.quotas[i].left, o.Count)
			return i
		}
	}
	m.quotas = append(m.quotas, quota{id, o.Count})
	return len(m.quotas) - 1
}

// at is a node of the type as far as shape and pool settle it; it is not to be changed.
func (t *machine) at() *fit.Place {
	if t.place == nil {
		t.place = t.pool.place(t.shape)
	}
	return t.place
}

// morePlaceLabels is about how many labels a node has beyond those of its shape and its pool.
const morePlaceLabels = 8

// place is a node of the shape as far as shape and pool settle it; zone and capacity type are open.
func (p *pool) place(s *world.Shape) *fit.Place {
	at := &fit.Place{Planned: true, Labels: make(map[string]string, len(s.Labels)+len(p.Labels)+morePlaceLabels), Taints: p.Taints, Limits: s.VolumeLimits}
	for _, r := range s.Labels {
		if q, ok := p.Requirements.Find(r.Key); ok {
			r = r.Meet(q)
		}
		at.Settle(r)
	}
	for _, r := range p.Requirements {
		if _, ok := s.Labels.Find(r.Key); !ok {
			at.Settle(r)
		}
	}
	if _, ok := at.Labels[label.Region]; !ok && p.catalog.Region != "" {
		at.Labels[label.Region] = p.catalog.Region
	}
	for k, v := range p.Labels {
		at.Labels[k] = v
	}
	at.Labels[label.Registered], at.Labels[label.Initialized] = "true", "true"
	at.Labels[fit.PoolLabel(p.ID)] = p.ID.Name
	at.Labels[label.InstanceType] = s.Name
	return at
}
