package repair

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/packing"
)

// exchangeWith has the pod go to another machine of its zone, for pods that come from there
// and that are welcome, and reports whether it does. Where what is asked in return is larger, other
// pods go with it.
func (k *Repairer) exchangeWith(x *packing.Pod, to *packing.Bin, welcome func(*packing.Pod) bool) bool {
	here, there := slices.Clone(x.Bin.Free), slices.Clone(to.Free)
	transfer(x.Class.Need, here, there)
	if sufficient(there) {
		k.swap([]*packing.Pod{x}, nil, to)
		return true
	}
	anyPod := func(*packing.Pod) bool { return true }
	var last *packing.Class
	for _, y := range to.Pods {
		if y.Class == last {
			continue
		}
		if last = y.Class; !welcome(y) || !k.mayExchange(y, x.Bin, nil) {
			continue
		}
		out, back := []*packing.Pod{x}, []*packing.Pod{y}
		a, b := side{x.Bin, slices.Clone(here)}, side{to, slices.Clone(there)}
		transfer(y.Class.Need, b.room, a.room)
		out = k.balance(a, b, out, anyPod)
		back = k.balance(b, a, back, welcome)
		if sufficient(a.room) && sufficient(b.room) {
			k.swap(out, back, to)
			return true
		}
	}
	return false
}

// A side is one of the two machines that exchange pods, with the room that it has after what is exchanged already.
type side struct {
	bin  *packing.Bin
	room []int64
}

// balance adds pods to those that leave a machine which would be too full, as long as they fit on the other.
func (k *Repairer) balance(from, to side, gone []*packing.Pod, welcome func(*packing.Pod) bool) []*packing.Pod {
	if sufficient(from.room) {
		return gone
	}
	pods := slices.Clone(from.bin.Pods)
	slices.SortStableFunc(pods, func(a, b *packing.Pod) int { return slices.Compare(b.Class.Need, a.Class.Need) })
	for _, y := range pods {
		if k.Steps++; !relieves(y.Class.Need, from.room) || !market.Fits(y.Class.Need, to.room) || slices.Contains(gone, y) || !welcome(y) || !k.mayExchange(y, to.bin, gone) {
			continue
		}
		transfer(y.Class.Need, from.room, to.room)
		if gone = append(gone, y); sufficient(from.room) {
			break
		}
	}
	return gone
}

// mayExchange reports whether the machine is one for the pod, room aside, and, together with those
// that come as well, would not hold more of its class than the pod's own machine keeps.
func (k *Repairer) mayExchange(y *packing.Pod, to *packing.Bin, others []*packing.Pod) bool {
	if y.Held || !k.interchangeable(y.Class) || !k.admits(to, y) {
		return false
	}
	most, n := bindableAtOnce(y.Class), countOf(to.Pods, y.Class)+countOf(others, y.Class)
	return most == 0 || n < max(most, countOf(y.Bin.Pods, y.Class)-1)
}

// admits reports whether the machine is one for the pod, room aside.
func (k *Repairer) admits(b *packing.Bin, x *packing.Pod) bool {
	stands, n := x.Class.Demands.Offers, b.Offer
	if b.Machine != nil {
		stands, n = k.Stands(x.Class.Demands), b.Number
	}
	return stands.Has(n) && k.Ledger.Allows(x.Class.PodInfo, b.Node, k.sharedDomainKeys()...) && (b.Machine != nil || k.KeepsMinValues(b.Offer, b, x))
}

// swap has pods of one machine change places with those of another.
func (k *Repairer) swap(out, back []*packing.Pod, to *packing.Bin) {
	from := out[0].Bin
	for _, y := range slices.Concat(out, back) {
		k.Leave(y)
	}
	for _, y := range back {
		k.Join(from, y)
	}
	for _, y := range out {
		k.Join(to, y)
	}
}

// countOf is how many of the pods are of the class.
func countOf(pods []*packing.Pod, c *packing.Class) int {
	n := 0
	for _, x := range pods {
		if x.Class == c {
			n++
		}
	}
	return n
}

// transfer takes what a pod needs off one machine and onto another.
func transfer(need, off, onto []int64) {
	for i, n := range need {
		off[i] += n
		onto[i] -= n
	}
}

// sufficient reports whether nothing is lacking.
func sufficient(free []int64) bool {
	return !slices.ContainsFunc(free, func(n int64) bool { return n < 0 })
}

// relieves reports whether the need is of what is lacking.
func relieves(need, free []int64) bool {
	for i, n := range need {
		if n > 0 && free[i] < 0 {
			return true
		}
	}
	return false
}

// bindableAtOnce is how many pods of the class can be bound on one machine whenever that takes pods; 0 for any number.
func bindableAtOnce(c *packing.Class) int {
	most := 0
	for _, s := range c.Pod.Spread {
		if !s.Soft && s.Key != label.Hostname && (most == 0 || s.MaxSkew < most) {
			most = s.MaxSkew
		}
	}
	return most
}

// interchangeable reports whether it makes no difference to others on which machine of a zone pods of the class are.
func (k *Repairer) interchangeable(c *packing.Class) bool {
	clings, others := k.Advice.Clings(c.PodInfo)
	return !clings && !others && !c.Demands.Open && !c.Special
}

// sharedDomainKeys are the topology keys of which one domain may have several machines.
func (k *Repairer) sharedDomainKeys() []string {
	return slices.DeleteFunc(slices.Clone(k.Ledger.TopologyKeys()), func(key string) bool { return key == label.Hostname })
}
