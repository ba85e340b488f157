package solve

import (
	"math"
	"slices"
)

// lane is what filling one host looks at: its classes, and for each how large it is there and how much dearer than elsewhere.
type lane struct {
	class  []int32
	gain   []float64 // for each class and dimension, what one item gains for each part of the room that is free
	loss   []float64 // for each class, what it loses whatever is free
	detour []float64 // by what part of the host's price the item costs more here than where it is cheapest
}

// slot is a class of the lane as the filling goes on.
type slot struct {
	at    int32 // in the lane
	class int32
	left  int // how many more may be taken
	base  float64
	score float64 // when last looked at, which only gets smaller
	bound bool
}

// filling is what one host would hold and what that is worth.
type filling struct {
	items []share
	worth float64
}

// packer fills hosts one by one. Its buffers live as long as the model.
type packer struct {
	m     *model
	needs []int64 // of each class, dims numbers
	rem   []int   // of each class, how many are to be placed
	floor floor
	lanes []lane
	ratio []float64 // of each host, what it would hold for its price when last looked at
	fresh []bool    // that was just now
	open  []bool    // it may be chosen now
	crowd crowd
	steps int

	trial filling // of the host looked at now
	kept  filling // of the best of the hosts looked at for one node
	free  []int64
	part  []float64
	size  []float64 // of the room
	unit  []float64 // the price of one unit of each dimension on the host
	on    []int
	slots []slot
	order tournament // of the slots, by score
}

// crowd is how many hosts the caps of classes demand: those of each group, of those that each set of hosts can take, and of those that each host can take.
type crowd struct {
	rows, sets, hosts []float64
	order             []int32 // the sets of hosts that demand more than one, those that demand most first
}

func newPacker(m *model) *packer {
	k := &packer{
		m:     m,
		rem:   make([]int, len(m.classes)),
		lanes: make([]lane, len(m.hosts)),
		ratio: make([]float64, len(m.hosts)),
		fresh: make([]bool, len(m.hosts)),
		open:  make([]bool, len(m.hosts)),
		crowd: crowd{rows: make([]float64, len(m.rows)), sets: make([]float64, len(m.takers)), hosts: make([]float64, len(m.hosts))},
		free:  make([]int64, m.dims),
		part:  make([]float64, m.dims),
		size:  make([]float64, m.dims),
		unit:  make([]float64, m.dims),
		on:    make([]int, len(m.classes)),
	}
	k.needs = make([]int64, 0, len(m.classes)*m.dims)
	for c := range m.classes {
		k.needs = append(k.needs, m.classes[c].need...)
	}
	k.floor.init(m)
	return k
}

// scoreTolerance is by what part of the first score of a host a score may be below the best, to be as good.
const scoreTolerance = 0.01

// maxLook is how many classes one pick looks at when there are more.
const maxLook = 400

// sortLane prepares the lane of a host and returns what all in it is worth.
func (k *packer) sortLane(h int32, p *pricing, classes []int32) float64 {
	host := &k.m.hosts[h]
	l := &k.lanes[h]
	l.class, l.gain, l.loss, l.detour = l.class[:0], l.gain[:0], l.loss[:0], l.detour[:0]
	for _, c := range classes {
		if k.rem[c] > 0 && k.m.classes[c].takers.Has(int(h)) {
			l.class = append(l.class, c)
		}
	}
	unit, weight := k.unit, k.part
	p.unitOf(h, unit)
	price := float64(host.price+k.m.charge) + 1
	k.weigh(host, l.class, unit, price, weight)
	worth := 0.0
	for _, c := range l.class {
		worth += float64(p.value[c] * float64(k.rem[c]))
		cost, loss := 0.0, 0.0
		for d, n := range k.m.classes[c].need {
			cost += float64(float64(n) * unit[d])
			part := float64(n) / float64(max(host.room[d], 1))
			gain := part * weight[d]
			loss += float64(gain * part)
			l.gain = append(l.gain, 2*gain)
		}
		l.loss = append(l.loss, loss)
		l.detour = append(l.detour, (cost-p.value[c])/price)
	}
	k.steps += len(classes)
	return worth
}

// scarcityWeight is how much of the weight of a dimension is due to what would run out if the host took of everything alike.
const scarcityWeight = 0.2

// weigh says how much it matters that a host uses up each dimension: what share of the price the relaxation gives it, and how soon
// the mix of what is left would run out of it. By its share alone, what just suffices for all is worth nothing, is left unused on
// the first hosts, and does not suffice on the last.
func (k *packer) weigh(host *host, classes []int32, unit []float64, price float64, weight []float64) {
	clear(weight)
	for _, c := range classes {
		for d, n := range k.m.classes[c].need {
			weight[d] += float64(float64(n) * float64(k.rem[c]))
		}
	}
	sum := 0.0
	for d, load := range weight {
		full := load / float64(max(host.room[d], 1))
		weight[d] = full * full
		sum += weight[d]
	}
	for d := range weight {
		weight[d] *= scarcityWeight / max(sum, 1e-9)
		weight[d] += float64((1 - scarcityWeight) * unit[d] / price * float64(host.room[d]))
	}
}

// fill leaves in k.trial what a host would hold: first no class beyond slack times its fair share, then whatever still fits.
func (k *packer) fill(h int32, p *pricing, st style, worth float64) {
	host := &k.m.hosts[h]
	copy(k.free, host.room)
	for d, room := range host.room {
		k.size[d] = float64(max(room, 1))
	}
	k.trial.items, k.trial.worth = k.trial.items[:0], 0
	fair := 1.0
	if st.slack > 0 && worth > 0 {
		fair = min(st.slack*float64(host.price+k.m.charge)/worth, 1)
	}
	k.prune(h)
	l := &k.lanes[h]
	stride := 1 + len(l.class)/maxLook
	if fair < 1 {
		k.enlist(l, st.pull, fair, stride)
		k.pick(l, p)
	}
	k.enlist(l, st.pull, 1, stride)
	k.pick(l, p)
	if stride > 1 {
		k.enlist(l, st.pull, 1, 1)
		k.pick(l, p)
	}
	for _, it := range k.trial.items {
		k.on[it.class] = 0
	}
	k.floor.unload(k.m, k.trial.items)
}

// prune drops from the lane the classes of which nothing is left, once they are many.
func (k *packer) prune(h int32) {
	l := &k.lanes[h]
	dead := 0
	for _, c := range l.class {
		if k.rem[c] == 0 {
			dead++
		}
	}
	if dead*4 <= len(l.class) {
		return
	}
	to, dims := 0, k.m.dims
	for at, c := range l.class {
		if k.rem[c] > 0 {
			l.class[to], l.loss[to], l.detour[to] = c, l.loss[at], l.detour[at]
			copy(l.gain[to*dims:(to+1)*dims], l.gain[at*dims:(at+1)*dims])
			to++
		}
	}
	l.class, l.loss, l.detour, l.gain = l.class[:to], l.loss[:to], l.detour[:to], l.gain[:to*dims]
}

// enlist makes slots of every stride-th class of the lane that fits, allowing the fair part of what is left of each.
func (k *packer) enlist(l *lane, pull, fair float64, stride int) {
	k.slots = k.slots[:0]
	for at := 0; at < len(l.class); at += stride {
		c := l.class[at]
		n := k.rem[c]
		if n == 0 || !fits(k.needOf(c), k.free) {
			continue
		}
		class := &k.m.classes[c]
		if fair < 1 {
			n = min(int(float64(float64(n)*fair))+1, n)
		}
		if n = min(n, class.cap) - k.on[c]; n > 0 {
			k.slots = append(k.slots, slot{at: int32(at), class: c, left: n, base: -l.loss[at] - float64(pull*l.detour[at]), bound: class.bound})
		}
	}
	k.steps += len(l.class) / stride
}

// pick takes, one after the other, the item that leaves least room unused in the dimensions that matter: of what is free in each,
// squared and weighted with the share of the price, as little as possible shall remain. That takes large items first,
// and those that use up what there is too much of.
//
// What is free only gets less, and with it every score. So a score from an earlier look is never too small,
// and the slots are ordered by such scores: the first with an up-to-date score is the best of all, or nearly so.
func (k *packer) pick(l *lane, p *pricing) {
	if len(k.slots) == 0 {
		return
	}
	free := k.part // the part of the room that is free
	k.look(free)
	k.order.reset()
	for i := range k.slots {
		s := &k.slots[i]
		s.score = s.rate(l, free)
		k.order.enter(s.score)
	}
	k.order.play()
	good := scoreTolerance * math.Abs(k.slots[k.order.first()].score) // what the score may lack of the best there could be
	full, steps := 0, 0                                               // how many did not fit since those that do not were last dropped
	for ; k.order.left > 0; steps++ {
		s := &k.slots[k.order.first()]
		need := k.needOf(s.class)
		if !fits(need, k.free) {
			k.order.drop()
			if full++; full*maxSweeps > k.order.left {
				k.sweep()
				full = 0
			}
			continue
		}
		if s.bound && k.floor.allowed(k.m, s.class, 1) == 0 {
			k.order.drop()
			continue
		}
		if score := s.rate(l, free); score < s.score-good {
			s.score = score
			k.order.lower(score)
			continue
		}
		n := 1 + s.left/8
		if s.bound {
			n = k.floor.allowed(k.m, s.class, n)
		}
		n = times(need, k.free, n)
		k.put(s.class, n)
		k.trial.worth += float64(p.value[s.class] * float64(n))
		if s.left -= n; s.left == 0 {
			k.order.drop()
		}
		k.look(free)
	}
	k.steps += steps
}

// look finds what part of the room is free.
func (k *packer) look(free []float64) {
	for d, size := range k.size {
		free[d] = float64(k.free[d]) / size
	}
}

// needOf is what one item of the class takes.
func (k *packer) needOf(c int32) []int64 { return k.needs[int(c)*k.m.dims:][:k.m.dims] }

// rate is what taking one item of the slot gains now.
func (s *slot) rate(l *lane, free []float64) float64 {
	sum := s.base
	for d, g := range l.gain[int(s.at)*len(free):][:len(free)] {
		sum += float64(g * free[d])
	}
	return sum
}

// maxSweeps is how often slots are swept at most while as many as there are turn out not to fit.
const maxSweeps = 8

// sweep drops all that does not fit any more, which costs less than to find it out when it is the first, one after the other.
func (k *packer) sweep() {
	t, before, kept := &k.order, k.order.left, 0
	for i := range k.slots {
		if t.keys[i] != gone && fits(k.needOf(k.slots[i].class), k.free) {
			k.slots[kept], t.keys[kept] = k.slots[i], t.keys[i]
			kept++
		}
	}
	k.slots, t.keys = k.slots[:kept], t.keys[:kept]
	k.steps += before - kept
	t.play()
}

// put adds n items of a class to the trial.
func (k *packer) put(c int32, n int) {
	for d, need := range k.needOf(c) {
		k.free[d] -= need * int64(n)
	}
	if k.on[c] == 0 {
		k.trial.items = append(k.trial.items, share{c, n})
		k.floor.put(k.m, c, n)
	} else {
		at := slices.IndexFunc(k.trial.items, func(it share) bool { return it.class == c })
		k.trial.items[at].n += n
		for _, r := range k.m.classes[c].rows {
			k.floor.rows[r] += n
		}
	}
	k.on[c] += n
}
