package consolidate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/hold"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// draft is a command that is not admitted yet.
type draft struct {
	machines []int
	where    [][]int
	asks     map[int]plan.Ask // by what was bought
	saving   money.Micro      // charges included
	charge   money.Micro      // so much of it is charges
	effort   money.Micro
	weight   int64
}

// commands cuts what the search found into pieces that do not need each other,
// those first that save most for each move, and puts everything back.
func (s *search) commands() []draft {
	var out []draft
	grouped := map[int]bool{}
	for _, g := range s.groups {
		for _, i := range g.machines {
			grouped[i] = true
		}
		out = append(out, s.draft(g.machines, g))
	}
	for i := range s.machines {
		if s.machines[i].gone && !grouped[i] {
			out = append(out, s.draft([]int{i}, group{}))
		}
	}
	s.cluster.Reset()
	slices.SortFunc(out, s.better)
	return out
}

// better orders drafts, those first that save most for each move.
func (s *search) better(a, b draft) int {
	return cmp.Or(cmp.Compare(b.saving.Part(1000, 1000+b.weight), a.saving.Part(1000, 1000+a.weight)), strings.Compare(s.name(a.machines[0]), s.name(b.machines[0])))
}

func (s *search) name(i int) string { return s.machines[i].place.Name() }

func (s *search) draft(machines []int, g group) draft {
	d := draft{machines: slices.Sorted(slices.Values(machines)), asks: map[int]plan.Ask{}}
	for _, i := range d.machines {
		m := &s.machines[i]
		d.where = append(d.where, s.cluster.Where(i))
		d.saving += m.price
		d.charge += m.charge
		d.effort += m.effort
		d.weight += m.weight
	}
	for n, j := range g.bought {
		d.asks[j] = g.asks[n]
		d.saving -= g.asks[n].Price + g.asks[n].Charge
		d.charge -= g.asks[n].Charge
	}
	return d
}

// admit says of each command, the best first, whether it may start now, or what holds it up.
func (s *search) admit(drafts []draft) {
	drafts = s.standing(drafts)
	rooms, guards := s.rooms(), map[*world.Guard]int{}
	var later []plan.Command
	named := map[world.PoolID]int{}
	for _, d := range drafts {
		c := s.write(d, named)
		c.Why = s.heldUp(d, rooms, guards)
		if c.Why != nil {
			c.Verdict = plan.Wait
			later = append(later, c)
			continue
		}
		for _, i := range d.machines {
			rooms[s.machines[i].place.Pool()]--
		}
		for g, n := range s.guarded(d) {
			guards[g] += n
		}
		s.plan.Commands = append(s.plan.Commands, c)
	}
	s.plan.Commands = append(s.plan.Commands, later...)
}

// standing are the drafts that can be on their own, as if nothing else were done. Where one cannot, each of its
// machines is tried alone: what all machines together allow may be possible for none of them while the others are
// there, and would stay impossible for ever.
func (s *search) standing(drafts []draft) []draft {
	var out []draft
	var fallen []int
	for _, d := range drafts {
		if s.stands(d) {
			out = append(out, d)
			continue
		}
		for _, i := range d.machines {
			m := &s.machines[i]
			m.gone, m.tried = false, &reason.Why{Code: reason.AfterOthers, Detail: "its pods find another place only once other nodes have gone"}
		}
		fallen = append(fallen, d.machines...)
	}
	out = append(out, s.alone(fallen)...)
	slices.SortFunc(out, s.better)
	return out
}

// stands tries the draft on its own.
func (s *search) stands(d draft) bool {
	mark := s.cluster.Mark()
	defer s.cluster.Undo(mark)
	return s.cluster.Move(d.machines, d.where)
}

// alone returns what each of the machines comes to if it alone goes.
func (s *search) alone(machines []int) []draft {
	var out []draft
	s.rank(s.open())
	for _, i := range machines {
		if d, ok := s.single(i); ok && s.stands(d) {
			out = append(out, d)
		}
	}
	for _, d := range out {
		s.machines[d.machines[0]].gone = true
	}
	return out
}

// single takes machine i off, if that pays, and puts everything back.
func (s *search) single(i int) (d draft, goes bool) {
	m, mark := &s.machines[i], s.cluster.Mark()
	takers, groups := s.takers.Len(), len(s.groups)
	if s.take(i, true) && s.cluster.HasAside(i) {
		s.try([]int{i})
	}
	if m.gone {
		g := group{}
		if len(s.groups) > groups {
			g = s.groups[groups]
		}
		d, goes = s.draft([]int{i}, g), true
	}
	s.takers.Cut(takers)
	m.gone, s.groups = false, s.groups[:groups]
	s.cluster.Undo(mark)
	return d, goes
}

// heldUp says what keeps the command from starting now; nil if nothing does.
func (s *search) heldUp(d draft, rooms map[world.PoolID]int, guards map[*world.Guard]int) *reason.Why {
	need := map[world.PoolID]int{}
	for _, i := range d.machines {
		need[s.machines[i].place.Pool()]++
	}
	for _, p := range s.world.Pools() {
		if n := need[p.ID]; n > rooms[p.ID] && !s.options.Unbudgeted {
			r := hold.RoomOf(s.world, p, plan.Underutilized)
			return &reason.Why{
				Code: reason.Budget, Subject: p.ID.Name, Hint: hold.BudgetHint,
				Detail: fmt.Sprintf("its budgets let %d of %s go at once, and %d go already or go before it", r.Allowed, amount.Count(r.Machines, "node"), r.Allowed-max(rooms[p.ID], 0)),
			}
		}
		if why := s.unbalanced(p, d); why != nil {
			return why
		}
	}
	mine := s.guarded(d)
	for _, g := range s.world.Guards() {
		if n := mine[g]; n > 0 && guards[g] > 0 && guards[g]+n > g.Allowed && !s.options.Unbudgeted {
			return &reason.Why{Code: reason.Guarded, Subject: g.String(), Detail: fmt.Sprintf("it lets %s go at once, and other nodes that go before it have %d", amount.Count(g.Allowed, "pod"), guards[g])}
		}
	}
	mark := s.cluster.Mark()
	if !s.cluster.Move(d.machines, d.where) {
		s.cluster.Undo(mark)
		return &reason.Why{Code: reason.AfterOthers, Detail: "with what goes before it its pods would be spread or kept apart otherwise than they want"}
	}
	s.cluster.Commit(mark)
	return nil
}

// guarded counts the pods of the command that each pod disruption budget guards.
func (s *search) guarded(d draft) map[*world.Guard]int {
	out := map[*world.Guard]int{}
	if len(s.world.Guards()) == 0 {
		return out
	}
	for _, i := range d.machines {
		for _, p := range s.cluster.Movable(i) {
			for _, g := range s.world.GuardsOf(p) {
				out[g]++
			}
		}
	}
	return out
}

// unbalanced says that the command saves a smaller share of a balanced pool's
// cost than half the share of the pool that it disrupts.
func (s *search) unbalanced(p *world.Pool, d draft) *reason.Why {
	b, ok := s.balance(p, d)
	if !ok || b.enough() {
		return nil
	}
	saved, stays := parts(b.saved, 1000), parts(new(big.Rat).Sub(big.NewRat(1, 1), b.moved), 1000) // cut off, so that the numbers say that it is too little
	return &reason.Why{
		Code: reason.Unbalanced, Subject: p.ID.Name,
		Detail: fmt.Sprintf("it saves %s %% of the pool's cost and disrupts %s %% of it, and has to save half as large a share", percent(saved), percent(1000-stays)),
	}
}

// percent writes thousandths.
func percent(thousandths int64) string { return big.NewRat(thousandths, 10).FloatString(1) }

// scores are what the command comes to for each balanced pool.
func (s *search) scores(d draft) (out []plan.Score) {
	for _, p := range s.world.Pools() {
		if b, ok := s.balance(p, d); ok {
			out = append(out, plan.Score{Pool: p.ID, Saved: parts(b.saved, plan.Whole), Moved: parts(b.moved, plan.Whole)})
		}
	}
	return out
}

// shares are those of a pool that a command saves and disrupts. They are fractions of integers, so that what is just
// enough is enough.
type shares struct{ saved, moved *big.Rat }

// enough reports whether so much is saved that what is disrupted is worth it.
func (b shares) enough() bool {
	least := new(big.Rat).Mul(b.moved, big.NewRat(plan.LeastScore, plan.Whole))
	return b.saved.Cmp(least) >= 0
}

// parts is how many of so many parts a share is, cut off below one.
func parts(share *big.Rat, of int64) int64 {
	n := new(big.Int).Mul(share.Num(), big.NewInt(of))
	return n.Quo(n, share.Denom()).Int64()
}

// balance weighs the command for a pool; not ok if the pool is not balanced, or nothing of it goes.
func (s *search) balance(p *world.Pool, d draft) (_ shares, ok bool) {
	if !p.Disruption.Balanced {
		return shares{}, false
	}
	var cost, gone, all money.Micro // of the pool, of the command there, and of all of the command
	var weight, moved int64         // the same
	for i := range s.machines {
		m := &s.machines[i]
		mine := slices.Contains(d.machines, i)
		if mine {
			all = amount.Plus(all, m.price)
		}
		if m.place.Pool() != p.ID {
			continue
		}
		w := int64(1000)
		for _, pod := range m.place.Pods {
			if pod.Moves() {
				w += hold.Cost(pod)
			}
		}
		cost, weight = amount.Plus(cost, m.price), weight+w
		if mine {
			gone, moved = amount.Plus(gone, m.price), moved+w
		}
	}
	if all == 0 || cost == 0 || moved == 0 {
		return shares{}, false
	}
	saved := new(big.Rat).Mul(big.NewRat(int64(d.saving), int64(all)), big.NewRat(int64(gone), int64(cost)))
	return shares{saved, big.NewRat(moved, weight)}, true
}

// write puts the draft into the words of a plan.
func (s *search) write(d draft, named map[world.PoolID]int) plan.Command {
	c := plan.Command{Reason: plan.Underutilized, Verdict: plan.Begin, Saving: d.saving - d.charge, Charge: d.charge, Effort: d.effort, Scores: s.scores(d)}
	received := map[int][]world.Key{}
	for n, i := range d.machines {
		m := &s.machines[i]
		give := plan.GiveOf(s.world, m.place, plan.Underutilized)
		give.Price = m.price - m.charge // a reservation is paid for anyway
		c.Back = append(c.Back, give)
		for j, p := range s.cluster.Movable(i) {
			c.Pods++
			if at := d.where[n][j]; at >= 0 {
				received[at] = append(received[at], p.Key)
			}
		}
	}
	for _, j := range sortedKeys(d.asks) {
		a := d.asks[j]
		named[a.Pool]++
		a.Name = fmt.Sprintf("%s-%d", a.Pool.Name, named[a.Pool])
		c.New = append(c.New, a)
	}
	for _, at := range sortedKeys(received) {
		f := plan.Fill{Node: s.name(at), Pods: received[at]}
		if claim := s.machines[at].place.Claim; claim != nil {
			f.Claim = claim.Name
		}
		slices.SortFunc(f.Pods, func(a, b world.Key) int { return strings.Compare(a.String(), b.String()) })
		c.Moves = append(c.Moves, f)
	}
	slices.SortFunc(c.Back, func(a, b plan.Give) int { return strings.Compare(a.Claim, b.Claim) })
	slices.SortFunc(c.Moves, func(a, b plan.Fill) int { return strings.Compare(a.Node, b.Node) })
	return c
}

func sortedKeys[V any](m map[int]V) []int {
	var out []int
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
