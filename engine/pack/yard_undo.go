package pack

import (
	"slices"
)

// Undo takes back all that was done since the mark. Nothing is in the air then.
func (y *Yard) Undo(to Mark) {
	k := y.k
	was := map[*waiting]*bin{}
	var pods []*waiting
	for _, s := range y.trail[to:] {
		if s.pod == nil {
			continue
		}
		if _, known := was[s.pod]; known {
			continue
		}
		was[s.pod] = s.from
		pods = append(pods, s.pod)
		if s.pod.bin != nil {
			k.unload(s.pod)
		}
	}
	var again []int
	for _, s := range slices.Backward(y.trail[to:]) {
		switch {
		case s.pod != nil:
		case s.recalled > 0:
			again = append(again, s.recalled-1)
		case s.bought != nil:
			y.giveBack(s.bought)
		default:
			y.reopen(s.closed)
		}
	}
	for _, x := range pods {
		if was[x] != nil {
			k.join(was[x], x)
		}
	}
	k.left, y.trail = nil, y.trail[:to]
	for _, i := range again {
		for _, x := range y.lodgers[i].pods {
			if x.bin == nil {
				y.put(x)
			}
		}
	}
}

// Reset puts everything back. What was bought can be bought once more by Move.
func (y *Yard) Reset() {
	k := y.k
	for i := range y.lodgers {
		for _, x := range y.lodgers[i].pods {
			if x.bin != nil && x.bin != k.old[i] {
				k.unload(x)
			}
		}
	}
	for _, b := range slices.Clone(y.standing) {
		y.giveBack(b)
	}
	for i := range y.lodgers {
		if y.lodgers[i].closed {
			y.reopen(i)
		}
		for _, x := range y.lodgers[i].pods {
			if x.bin == nil {
				k.join(k.old[i], x)
			}
		}
	}
	k.left, y.trail = nil, nil
}

// Where says where the pods of machine i are: on a machine by its position, or,
// as the complement, on one that was bought.
func (y *Yard) Where(i int) []int {
	out := make([]int, len(y.lodgers[i].pods))
	for n, x := range y.lodgers[i].pods {
		if x.bin.machine != nil {
			out[n] = x.bin.number
		} else {
			out[n] = ^slices.Index(y.bought, x.bin)
		}
	}
	return out
}

// Move clears machines and puts their pods where told, as Where says it, buying
// once more what is named. It reports whether kube-scheduler could bind all of
// them one after the other; if not, what was done is to be undone.
func (y *Yard) Move(machines []int, where [][]int) bool {
	target := map[*waiting]*bin{}
	for n, i := range machines {
		for j, x := range y.lodgers[i].pods {
			if at := where[n][j]; at >= 0 {
				target[x] = y.k.old[at]
			} else {
				target[x] = y.bought[^at]
			}
		}
		y.Clear(i)
	}
	for _, x := range y.k.left {
		b := target[x]
		if b == nil {
			return false // somebody else's, who is there only for now
		}
		if b.machine == nil && !slices.Contains(y.standing, b) {
			y.again(b)
		}
	}
	ok := y.follow(target)
	for _, s := range y.trail {
		if s.bought != nil {
			s.bought.shut = true
		}
	}
	return ok
}

// follow puts the pods in the air onto their targets, in an order in which that is allowed.
func (y *Yard) follow(target map[*waiting]*bin) bool {
	k := y.k
	sortWaiting(k.left)
	for len(k.left) > 0 {
		var rest []*waiting
		for _, x := range k.left {
			if k.accepts(target[x], x) {
				k.join(target[x], x)
				continue
			}
			rest = append(rest, x)
		}
		if len(rest) == len(k.left) {
			return false
		}
		k.left = rest
	}
	return true
}

// again buys a machine once more that was given back by Undo.
func (y *Yard) again(b *bin) {
	b.node, b.shut = y.k.ledger.Enter(b.place), false
	y.k.market.Charge(b.offer, 1)
	y.stand(b)
}
