package enginetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// Serial gives machines back as a controller does that carries out one command
// after another, by Karpenter's published rules: empty nodes first; then the
// longest prefix, found by bisection, of at most a hundred nodes in order of
// price per pod of which the pods fit on the others and one new machine that is
// cheaper; then the first node by itself of which that is so. It is there to be
// compared with, so it is favoured: nothing waits, nothing times out, and a new machine may
// stand in any zone.
type Serial struct {
	World       *world.World
	Commands    int
	Simulations int
	Placed      int // pods placed in simulations
	Moved       int // pods moved

	price map[string]money.Micro // of nodes, by name
	new   int
}

// NewSerial starts at w, all of whose machines may go.
func NewSerial(w *world.World) *Serial {
	s := &Serial{World: w, price: map[string]money.Micro{}}
	for _, p := range w.Places() {
		s.price[p.Name()] = plan.PriceOf(w, p)
	}
	return s
}

// Cost is what all machines cost an hour.
func (s *Serial) Cost() money.Micro {
	sum := money.Micro(0)
	for _, p := range s.World.Places() {
		sum += s.price[p.Name()]
	}
	return sum
}

// Step carries out the next command, within a budget of a tenth of the nodes, and reports whether there was one.
func (s *Serial) Step() bool {
	places := slices.Clone(s.World.Places())
	budget := (len(places) + 9) / 10
	ratio := func(p *world.Place) float64 { return float64(s.price[p.Name()]) / float64(1+len(p.Pods)) }
	slices.SortFunc(places, func(a, b *world.Place) int {
		return cmp.Or(cmp.Compare(ratio(b), ratio(a)), strings.Compare(a.Name(), b.Name()))
	})
	empty := slices.DeleteFunc(slices.Clone(places), func(p *world.Place) bool { return len(p.Pods) > 0 })
	if len(empty) > 0 {
		s.carry(empty[:min(len(empty), budget)], nil, nil, nil)
		return true
	}
	c := newCluster(s.World)
	var best, tried *command
	for lo, hi := 2, min(len(places), budget, 100); lo <= hi; {
		mid := (lo + hi) / 2
		if tried = s.simulate(c, places[:mid], true); tried != nil {
			best, lo = tried, mid+1
		} else {
			hi = mid - 1
		}
	}
	for i := 0; best == nil && i < len(places); i++ {
		best = s.simulate(c, places[i:i+1], false)
	}
	if best == nil {
		return false
	}
	s.carry(best.back, best.moves, best.left, best.shape)
	return true
}

// cluster answers where the pods of machines would go.
type cluster struct {
	*whatif.Cluster
	at map[string]int // position by name
}

func newCluster(w *world.World) cluster {
	c := cluster{whatif.New(w, packing.Options{}, whatif.Staying), map[string]int{}}
	for i, p := range c.Places() {
		c.at[p.Name()] = i
	}
	return c
}

func (c cluster) elsewhere(back []*world.Place) ([]whatif.Move, []*world.Pod) {
	machines := make([]int, len(back))
	for i, p := range back {
		machines[i] = c.at[p.Name()]
	}
	return c.Elsewhere(machines...)
}

// command is machines that go, where their pods go, and the type that is bought for those left over.
type command struct {
	back  []*world.Place
	moves []whatif.Move
	left  []*world.Pod
	shape *world.Shape
}

// simulate says what giving the machines back would take; nil if it cannot be or does not pay.
func (s *Serial) simulate(in cluster, back []*world.Place, several bool) *command {
	s.Simulations++
	price := money.Micro(0)
	for _, p := range back {
		price += s.price[p.Name()]
	}
	c := &command{back: back}
	c.moves, c.left = in.elsewhere(back)
	s.Placed += len(c.moves) + len(c.left)
	if len(c.left) == 0 {
		return c
	}
	if several { // not the type of one of them, nor what costs as much as that
		for _, p := range back {
			if t := p.Labels()[label.InstanceType]; s.fits(t, c.left) {
				price = min(price, s.price[p.Name()])
			}
		}
	}
	c.shape = s.cheapest(c.left)
	if c.shape == nil || onDemand(c.shape) >= price {
		return nil
	}
	return c
}

func (s *Serial) fits(name string, pods []*world.Pod) bool {
	c := s.World.Catalogs()[0]
	i := slices.IndexFunc(c.Shapes, func(x world.Shape) bool { return x.Name == name })
	return i >= 0 && total(pods).Fits(c.Shapes[i].Allocatable()) && !crowded(pods)
}

// cheapest returns the cheapest type on demand that holds all the pods; nil if there is none.
func (s *Serial) cheapest(pods []*world.Pod) *world.Shape {
	if crowded(pods) {
		return nil
	}
	return cheapest(s.World.Catalogs()[0], s.World.Pools()[0], total(pods))
}

func total(pods []*world.Pod) amount.List {
	var sum amount.List
	for _, p := range pods {
		sum = sum.Plus(p.Requests)
	}
	return sum
}

// crowded reports whether rules on hosts keep the pods from sharing one.
func crowded(pods []*world.Pod) bool {
	count := map[string]int{}
	for _, p := range pods {
		app := p.Labels["app"]
		count[app]++
		for _, t := range p.PodTerms {
			if t.Anti && t.Key == label.Hostname && count[app] > 1 {
				return true
			}
		}
		for _, c := range p.Spread {
			if c.Key == label.Hostname && count[app] > c.MaxSkew {
				return true
			}
		}
	}
	return false
}

// carry makes the World in which the command has been carried out.
func (s *Serial) carry(back []*world.Place, moves []whatif.Move, left []*world.Pod, shape *world.Shape) {
	s.Commands++
	s.Moved += len(moves) + len(left)
	b := s.World.Edit()
	for _, p := range back {
		b.DeleteNode(p.Node.Name)
		b.DeleteClaim(p.Claim.Name)
	}
	for _, m := range moves {
		pod := *m.Pod
		pod.Node = m.To.Name()
		must(b.SetPod(pod))
	}
	if shape != nil {
		s.new++
		name := fmt.Sprintf("serial-%05d", s.new)
		zone := back[0].Labels()[label.Zone]
		for _, p := range left {
			if i := slices.IndexFunc(p.Spread, func(c world.Spread) bool { return c.Key == label.Zone }); i >= 0 {
				zone = s.World.Place(p.Node).Labels()[label.Zone]
			}
		}
		Join(b, s.World.Pools()[0], shape, world.Offer{Zone: zone, CapacityType: label.OnDemand}, name)
		s.price[name] = onDemand(shape)
		for _, p := range left {
			pod := *p
			pod.Node = name
			must(b.SetPod(pod))
		}
	}
	s.World = b.Snapshot(s.World.At())
}

// Join adds a machine of the pool that was bought by the offer, has joined and is complete.
func Join(b *world.Builder, pool *world.Pool, s *world.Shape, o world.Offer, name string) {
	labels := map[string]string{}
	for _, r := range s.Labels {
		if r.Op() == label.In && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	for k, v := range pool.Labels {
		labels[k] = v
	}
	labels[label.Zone], labels[label.CapacityType], labels[label.Hostname] = o.Zone, o.CapacityType, name
	labels[label.NodePool], labels[label.Registered], labels[label.Initialized] = pool.ID.Name, "true", "true"
	claim := "claim-" + name
	must(b.SetNode(world.Node{
		Name: name, Claim: claim, Pool: pool.ID, Labels: labels, Capacity: s.Capacity, Allocatable: s.Allocatable(), Ready: true, VolumeLimits: s.VolumeLimits,
	}))
	must(b.SetClaim(world.Claim{
		Name: claim, Pool: pool.ID, Template: pool.Template, Node: name, Labels: labels, Capacity: s.Capacity, Allocatable: s.Allocatable(),
		Launched: true, Registered: true, Initialized: true,
	}))
}
