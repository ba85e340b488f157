package fill

import (
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/relax"
)

// hostView is what filling one host looks at: its classes, and for each how large it is there and how much dearer than elsewhere.
type hostView struct {
	classes []int32
	gains   []float64 // for each class and dimension, what one item gains for each part of the room that is free
	losses  []float64 // for each class, what it loses whatever is free
	detours []float64 // by what part of the host's price the item costs more here than where it is cheapest
}

// entrant is a class of the view as the filling goes on.
type entrant struct {
	at          int32 // in the view
	class       int32
	left        int // how many more may be taken
	base        float64
	score       float64 // when last looked at, which only gets smaller
	constrained bool
}

// filling is what one host would hold and what that is worth.
type filling struct {
	items []model.Portion
	worth float64
}

// Packer fills hosts one by one. Its buffers live as long as the model. What is to be placed is set in Remaining before it is asked, and taken
// off there as it is placed.
type Packer struct {
	Model     *model.Model    // of which it fills the hosts
	needs     []int64         // of each class, dims numbers
	Remaining []int           // of each class, how many are to be placed
	Occupancy model.Occupancy // of the host that is filled now; all zero between two
	views     []hostView
	ratio     []float64 // of each host, what it would hold for its price when last looked at
	fresh     []bool    // that was just now
	open      []bool    // it may be chosen now
	capDemand capDemand
	Steps     int // the counted work

	trial    filling // of the host looked at now
	kept     filling // of the best of the hosts looked at for one node
	free     []int64
	part     []float64
	size     []float64 // of the room
	unit     []float64 // the price of one unit of each dimension on the host
	on       []int
	entrants []entrant
	order    tournament // of the entrants, by score
}

// capDemand is how many hosts the caps of classes demand: those of each group, of those that each set of hosts can take, and of those that each host can take.
type capDemand struct {
	groups, sets, hosts []float64
	order               []int32 // the sets of hosts that demand more than one, those that demand most first
}

// NewPacker returns a packer of which nothing is to be placed yet.
func NewPacker(m *model.Model) *Packer {
	k := &Packer{
		Model:     m,
		Remaining: make([]int, len(m.Classes)),
		views:     make([]hostView, len(m.Hosts)),
		ratio:     make([]float64, len(m.Hosts)),
		fresh:     make([]bool, len(m.Hosts)),
		open:      make([]bool, len(m.Hosts)),
		capDemand: capDemand{groups: make([]float64, len(m.Groups)), sets: make([]float64, len(m.TakerSets)), hosts: make([]float64, len(m.Hosts))},
		free:      make([]int64, m.Dims),
		part:      make([]float64, m.Dims),
		size:      make([]float64, m.Dims),
		unit:      make([]float64, m.Dims),
		on:        make([]int, len(m.Classes)),
	}
	k.needs = make([]int64, 0, len(m.Classes)*m.Dims)
	for c := range m.Classes {
		k.needs = append(k.needs, m.Classes[c].Need...)
	}
	k.Occupancy.Reset(m)
	return k
}

// scoreTolerance is by what part of the first score of a host a score may be below the best, to be as good.
const scoreTolerance = 0.01

// maxLook is how many classes one pick looks at when there are more.
const maxLook = 400

// view prepares the view of a host and returns what all in it is worth.
func (k *Packer) view(h int32, p *relax.Pricing, classes []int32) float64 {
	host := &k.Model.Hosts[h]
	l := &k.views[h]
	l.classes, l.gains, l.losses, l.detours = l.classes[:0], l.gains[:0], l.losses[:0], l.detours[:0]
	for _, c := range classes {
		if k.Remaining[c] > 0 && k.Model.Classes[c].Takers.Has(int(h)) {
			l.classes = append(l.classes, c)
		}
	}
	unit, weight := k.unit, k.part
	p.UnitOf(h, unit)
	price := float64(host.Price+k.Model.Charge) + 1
	k.weigh(host, l.classes, unit, price, weight)
	worth := 0.0
	for _, c := range l.classes {
		worth += float64(p.Value[c] * float64(k.Remaining[c]))
		cost, loss := 0.0, 0.0
		for d, n := range k.Model.Classes[c].Need {
			cost += float64(float64(n) * unit[d])
			part := float64(n) / float64(max(host.Room[d], 1))
			gain := part * weight[d]
			loss += float64(gain * part)
			l.gains = append(l.gains, 2*gain)
		}
		l.losses = append(l.losses, loss)
		l.detours = append(l.detours, (cost-p.Value[c])/price)
	}
	k.Steps += len(classes)
	return worth
}

// scarcityWeight is how much of the weight of a dimension is due to what would run out if the host took of everything alike.
const scarcityWeight = 0.2

// weigh says how much it matters that a host uses up each dimension: what share of the price the relaxation gives it, and how soon
// the mix of what is left would run out of it. By its share alone, what just suffices for all is worth nothing, is left unused on
// the first hosts, and does not suffice on the last.
func (k *Packer) weigh(host *model.Host, classes []int32, unit []float64, price float64, weight []float64) {
	clear(weight)
	for _, c := range classes {
		for d, n := range k.Model.Classes[c].Need {
			weight[d] += float64(float64(n) * float64(k.Remaining[c]))
		}
	}
	sum := 0.0
	for d, load := range weight {
		full := load / float64(max(host.Room[d], 1))
		weight[d] = full * full
		sum += weight[d]
	}
	for d := range weight {
		weight[d] *= scarcityWeight / max(sum, 1e-9)
		weight[d] += float64((1 - scarcityWeight) * unit[d] / price * float64(host.Room[d]))
	}
}

// fill leaves in k.trial what a host would hold: first no class beyond fairShare times its fair share, then whatever still fits.
func (k *Packer) fill(h int32, p *relax.Pricing, st Style, worth float64) {
	host := &k.Model.Hosts[h]
	copy(k.free, host.Room)
	for d, room := range host.Room {
		k.size[d] = float64(max(room, 1))
	}
	k.trial.items, k.trial.worth = k.trial.items[:0], 0
	fair := 1.0
	if st.FairShare > 0 && worth > 0 {
		fair = min(st.FairShare*float64(host.Price+k.Model.Charge)/worth, 1)
	}
	k.prune(h)
	l := &k.views[h]
	stride := 1 + len(l.classes)/maxLook
	if fair < 1 {
		k.enlist(l, st.DetourWeight, fair, stride)
		k.pick(l, p)
	}
	k.enlist(l, st.DetourWeight, 1, stride)
	k.pick(l, p)
	if stride > 1 {
		k.enlist(l, st.DetourWeight, 1, 1)
		k.pick(l, p)
	}
	for _, it := range k.trial.items {
		k.on[it.Class] = 0
	}
	k.Occupancy.Unload(k.Model, k.trial.items)
}

// prune drops from the view the classes of which nothing is left, once they are many.
func (k *Packer) prune(h int32) {
	l := &k.views[h]
	dead := 0
	for _, c := range l.classes {
		if k.Remaining[c] == 0 {
			dead++
		}
	}
	if dead*4 <= len(l.classes) {
		return
	}
	to, dims := 0, k.Model.Dims
	for at, c := range l.classes {
		if k.Remaining[c] > 0 {
			l.classes[to], l.losses[to], l.detours[to] = c, l.losses[at], l.detours[at]
			copy(l.gains[to*dims:(to+1)*dims], l.gains[at*dims:(at+1)*dims])
			to++
		}
	}
	l.classes, l.losses, l.detours, l.gains = l.classes[:to], l.losses[:to], l.detours[:to], l.gains[:to*dims]
}

// enlist makes entrants of every stride-th class of the view that fits, allowing the fair part of what is left of each.
func (k *Packer) enlist(l *hostView, detourWeight, fair float64, stride int) {
	k.entrants = k.entrants[:0]
	for at := 0; at < len(l.classes); at += stride {
		c := l.classes[at]
		n := k.Remaining[c]
		if n == 0 || !model.Fits(k.needOf(c), k.free) {
			continue
		}
		class := &k.Model.Classes[c]
		if fair < 1 {
			n = min(int(float64(float64(n)*fair))+1, n)
		}
		if n = min(n, class.Cap) - k.on[c]; n > 0 {
			k.entrants = append(k.entrants, entrant{at: int32(at), class: c, left: n, base: -l.losses[at] - float64(detourWeight*l.detours[at]), constrained: class.Constrained})
		}
	}
	k.Steps += len(l.classes) / stride
}

// pick takes, one after the other, the item that leaves least room unused in the dimensions that matter: of what is free in each,
// squared and weighted with the share of the price, as little as possible shall remain. That takes large items first,
// and those that use up what there is too much of.
//
// What is free only gets less, and with it every score. So a score from an earlier look is never too small,
// and the entrants are ordered by such scores: the first with an up-to-date score is the best of all, or nearly so.
func (k *Packer) pick(l *hostView, p *relax.Pricing) {
	if len(k.entrants) == 0 {
		return
	}
	free := k.part // the part of the room that is free
	k.look(free)
	k.order.reset()
	for i := range k.entrants {
		s := &k.entrants[i]
		s.score = s.rate(l, free)
		k.order.enter(s.score)
	}
	k.order.play()
	good := scoreTolerance * math.Abs(k.entrants[k.order.first()].score) // what the score may lack of the best there could be
	full, steps := 0, 0                                                  // how many did not fit since those that do not were last dropped
	for ; k.order.left > 0; steps++ {
		s := &k.entrants[k.order.first()]
		need := k.needOf(s.class)
		if !model.Fits(need, k.free) {
			k.order.drop()
			if full++; full*maxSweeps > k.order.left {
				k.sweep()
				full = 0
			}
			continue
		}
		if s.constrained && k.Occupancy.Allowed(k.Model, s.class, 1) == 0 {
			k.order.drop()
			continue
		}
		if score := s.rate(l, free); score < s.score-good {
			s.score = score
			k.order.lower(score)
			continue
		}
		n := 1 + s.left/8
		if s.constrained {
			n = k.Occupancy.Allowed(k.Model, s.class, n)
		}
		n = model.Times(need, k.free, n)
		k.put(s.class, n)
		k.trial.worth += float64(p.Value[s.class] * float64(n))
		if s.left -= n; s.left == 0 {
			k.order.drop()
		}
		k.look(free)
	}
	k.Steps += steps
}

// look finds what part of the room is free.
func (k *Packer) look(free []float64) {
	for d, size := range k.size {
		free[d] = float64(k.free[d]) / size
	}
}

// needOf is what one item of the class takes.
func (k *Packer) needOf(c int32) []int64 { return k.needs[int(c)*k.Model.Dims:][:k.Model.Dims] }

// rate is what taking one item of the entrant gains now.
func (s *entrant) rate(l *hostView, free []float64) float64 {
	sum := s.base
	for d, g := range l.gains[int(s.at)*len(free):][:len(free)] {
		sum += float64(g * free[d])
	}
	return sum
}

// maxSweeps is how often entrants are swept at most while as many as there are turn out not to fit.
const maxSweeps = 8

// sweep drops all that does not fit any more, which costs less than to find it out when it is the first, one after the other.
func (k *Packer) sweep() {
	t, before, kept := &k.order, k.order.left, 0
	for i := range k.entrants {
		if t.keys[i] != gone && model.Fits(k.needOf(k.entrants[i].class), k.free) {
			k.entrants[kept], t.keys[kept] = k.entrants[i], t.keys[i]
			kept++
		}
	}
	k.entrants, t.keys = k.entrants[:kept], t.keys[:kept]
	k.Steps += before - kept
	t.play()
}

// put adds n items of a class to the trial.
func (k *Packer) put(c int32, n int) {
	for d, need := range k.needOf(c) {
		k.free[d] -= need * int64(n)
	}
	if k.on[c] == 0 {
		k.trial.items = append(k.trial.items, model.Portion{Class: c, Count: n})
		k.Occupancy.Put(k.Model, c, n)
	} else {
		at := slices.IndexFunc(k.trial.items, func(it model.Portion) bool { return it.Class == c })
		k.trial.items[at].Count += n
		for _, r := range k.Model.Classes[c].Groups {
			k.Occupancy.Groups[r] += n
		}
	}
	k.on[c] += n
}
