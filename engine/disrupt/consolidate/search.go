package consolidate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/whatif"
	"github.com/tenon-sh/tenon/engine/world"
)

// search is one call of Decide.
type search struct {
	world     *world.World
	options   Options
	cluster   *whatif.Cluster
	machines  []machine // by position in the cluster
	groups    []group
	takers    *whatif.Order // machines that may receive pods, those first that are least likely to go
	spared    []int         // machines that were kept because they would be bought again
	menus     binder
	going     []plan.Give     // machines that go anyway
	justMoved map[string]bool // claims, as in Options
	plan      plan.Plan
}

// machine is what the search knows of one machine.
type machine struct {
	place  *world.Place
	why    *reason.Why // why it is not looked at; nil if it is
	offer  world.Offer // what it is sold as
	price  money.Micro // with the charge
	charge money.Micro // for the node, where pools have their own
	room   float64     // what its room is worth
	effort money.Micro // what moving its pods has to save
	weight int64       // what evicting its pods costs, in thousandths of an ordinary pod
	takes  bool        // it may receive pods
	gone   bool

	justMoved bool        // pods have just been moved to it or from it, and moving them has to save more for that
	tried     *reason.Why // what came of replacing it
}

// group is machines that go together, and what is bought for their pods.
type group struct {
	machines []int
	bought   []int
	asks     []plan.Ask // for each of bought
	saving   money.Micro
}

// rooms is how many more machines each pool lets go now.
func (s *search) rooms() map[world.PoolID]int {
	out := map[world.PoolID]int{}
	for _, p := range s.world.Pools() {
		out[p.ID] = hold.RoomOf(s.world, p, plan.Underutilized).Left()
	}
	for _, g := range s.going {
		out[g.Pool]--
	}
	return out
}

// maxSweeps is how often machines are looked at whose pods may fit elsewhere: what one round gave back lets others go.
const maxSweeps = 3

// net is what a machine costs beyond what its pods' staying saves.
func (m *machine) net() money.Micro { return m.price - m.effort }

// later notes that something may be possible at a time that has not come yet.
func (s *search) later(at int64) {
	if at > s.world.At() && (s.plan.Again == 0 || at < s.plan.Again) {
		s.plan.Again = at
	}
}

// open are the machines that are looked at and stay so far, those first that
// cost most for the room they offer, once what moving their own pods has to save is taken off.
func (s *search) open() []int {
	var out []int
	over := make([]float64, len(s.machines))
	for i := range s.machines {
		m := &s.machines[i]
		if m.why != nil || m.gone {
			continue
		}
		over[i] = float64(m.net()) / max(m.room, 1)
		out = append(out, i)
	}
	slices.SortFunc(out, func(a, b int) int {
		return cmp.Or(cmp.Compare(over[b], over[a]), strings.Compare(s.machines[a].place.Name(), s.machines[b].place.Name()))
	})
	return out
}

// rank finds out which machines may receive pods, those first that are least likely to go.
func (s *search) rank(open []int) {
	var takers []int
	add := func(i int) {
		if s.machines[i].takes && !s.cluster.Full(i) {
			takers = append(takers, i)
		}
	}
	for i := range s.machines {
		if s.machines[i].why != nil {
			add(i)
		}
	}
	for _, i := range slices.Backward(open) {
		add(i)
	}
	s.takers = s.cluster.Order(takers)
}

// purchasePremiumPercent is how much dearer pods come that machines are bought for than the
// relaxation says they are worth, in percent.
const purchasePremiumPercent = 108

// forgetFullAfter is after how many machines that went those are forgotten that take no more pods.
const forgetFullAfter = 1024

// take takes a machine off if that pays: if what it costs is more than moving
// its pods and what is left over of them is worth.
func (s *search) take(i int, leave bool) bool {
	y, m := s.cluster, &s.machines[i]
	if m.price-m.effort < s.options.leastSaving() {
		return false
	}
	mark := y.Mark()
	y.Clear(i)
	left := y.Settle(s.takers, !leave)
	value, buyable := y.Value()
	if left > 0 && !(leave && buyable) || m.price-m.effort-value.Part(purchasePremiumPercent, 100) < s.options.leastSaving() {
		y.Undo(mark)
		return false
	}
	y.Aside()
	y.Commit(mark)
	m.gone = true
	return true
}
