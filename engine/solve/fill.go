package solve

import "slices"

// lane is what filling one host looks at: its classes, and for each how large it is there and how much dearer than elsewhere.
type lane struct {
	class  []int32
	part   []float64 // for each class and dimension the part of the room one item takes
	detour []float64 // by what part of the host's price the item costs more here than where it is cheapest
	weight []float64 // of each dimension: its share of the price
}

// slot is a class of the lane as the filling goes on.
type slot struct {
	at    int32 // in the lane
	class int32
	left  int // how many more may be taken
}

// filling is what one host would hold and what that is worth.
type filling struct {
	items []share
	worth float64
}

// maxLook is how many classes one pick looks at when there are more.
const maxLook = 400

// sortLane prepares the lane of a host.
func (k *packer) sortLane(h int32, p *pricing, classes []int32) {
	host := &k.m.hosts[h]
	l := &k.lanes[h]
	l.class, l.part, l.detour, l.weight = l.class[:0], l.part[:0], l.detour[:0], l.weight[:0]
	unit := p.unit[int(h)*p.fluid.width:]
	price := float64(host.price+k.m.charge) + 1
	for d, room := range host.room {
		l.weight = append(l.weight, float64(room)*unit[d]/price)
	}
	for _, c := range classes {
		class := &k.m.classes[c]
		if k.rem[c] == 0 || !class.takers.Has(int(h)) {
			continue
		}
		cost := 0.0
		for d, n := range class.need {
			cost += float64(float64(n) * unit[d])
			l.part = append(l.part, float64(n)/float64(max(host.room[d], 1)))
		}
		l.class = append(l.class, c)
		l.detour = append(l.detour, (cost-p.value[c])/price)
	}
	k.steps += len(classes)
}

// fill leaves in k.trial what a host would hold: first no class beyond slack times its fair share, then whatever still fits.
func (k *packer) fill(h int32, p *pricing, st style, worth float64) {
	host := &k.m.hosts[h]
	copy(k.free, host.room)
	k.trial.items, k.trial.worth = k.trial.items[:0], 0
	fair := 1.0
	if st.slack > 0 && worth > 0 {
		fair = min(st.slack*float64(host.price+k.m.charge)/worth, 1)
	}
	k.prune(h)
	l := &k.lanes[h]
	stride := 1 + len(l.class)/maxLook
	if fair < 1 {
		k.enlist(l, fair, stride)
		k.pick(host.room, l, p, st)
	}
	k.enlist(l, 1, stride)
	k.pick(host.room, l, p, st)
	if stride > 1 {
		k.enlist(l, 1, 1)
		k.pick(host.room, l, p, st)
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
			l.class[to], l.detour[to] = c, l.detour[at]
			copy(l.part[to*dims:(to+1)*dims], l.part[at*dims:(at+1)*dims])
			to++
		}
	}
	l.class, l.detour, l.part = l.class[:to], l.detour[:to], l.part[:to*dims]
}

// enlist makes slots of every stride-th class of the lane that fits, allowing the fair part of what is left of each.
func (k *packer) enlist(l *lane, fair float64, stride int) {
	k.slots = k.slots[:0]
	for at := 0; at < len(l.class); at += stride {
		c := l.class[at]
		n := k.rem[c]
		if n == 0 || !fits(k.m.classes[c].need, k.free) {
			continue
		}
		if fair < 1 {
			n = min(int(float64(float64(n)*fair))+1, n)
		}
		if n = min(n, k.m.classes[c].cap) - k.on[c]; n > 0 {
			k.slots = append(k.slots, slot{int32(at), c, n})
		}
	}
	k.steps += len(l.class) / stride
}

// pick takes, one after the other, the item that leaves least room unused in the dimensions that matter: large items first,
// and those that use up what there is too much of.
func (k *packer) pick(room []int64, l *lane, p *pricing, st style) {
	dims := k.m.dims
	free := k.part // twice the part of the room that is free
	for len(k.slots) > 0 {
		for d := range free {
			free[d] = float64(2*k.free[d]) / float64(max(room[d], 1))
		}
		k.steps += len(k.slots)
		best, top, to := -1, 0.0, 0
		for _, s := range k.slots {
			class := &k.m.classes[s.class]
			if !fits(class.need, k.free) || class.bound && k.floor.allowed(k.m, s.class, 1) == 0 {
				continue
			}
			k.slots[to] = s
			score := -float64(st.pull * l.detour[s.at])
			part := l.part[int(s.at)*dims : int(s.at)*dims+dims]
			for d, a := range part {
				score += float64(l.weight[d] * a * (free[d] - a))
			}
			if best < 0 || score > top {
				best, top = to, score
			}
			to++
		}
		k.slots = k.slots[:to]
		if best < 0 {
			return
		}
		s := &k.slots[best]
		n := 1 + s.left/8
		class := &k.m.classes[s.class]
		n = times(class.need, k.free, k.floor.allowed(k.m, s.class, n))
		k.put(s.class, n)
		k.trial.worth += float64(p.value[s.class] * float64(n))
		if s.left -= n; s.left == 0 {
			k.slots = slices.Delete(k.slots, best, best+1)
		}
	}
}

// put adds n items of a class to the trial.
func (k *packer) put(c int32, n int) {
	class := &k.m.classes[c]
	for d, need := range class.need {
		k.free[d] -= need * int64(n)
	}
	if k.on[c] == 0 {
		k.trial.items = append(k.trial.items, share{c, n})
		k.floor.put(k.m, c, n)
	} else {
		at := slices.IndexFunc(k.trial.items, func(it share) bool { return it.class == c })
		k.trial.items[at].n += n
		for _, r := range class.rows {
			k.floor.rows[r] += n
		}
	}
	k.on[c] += n
}
