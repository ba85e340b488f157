package pack

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
)

// partners bounds how many machines are asked for pods in exchange for one.
const partners = 64

// exchange has pods that cannot be bound yet, because their zone is ahead of the
// others, change places with pods of machines that take pods later and that can. kube-scheduler
// keeps no place for a pod that it had to turn down: whoever comes next would have it.
func (k *Packer) exchange() {
	if !k.options.Nominated || !k.ledger.Counts() {
		return
	}
	crowd := plan.NewCrowd(k.world)
	order := k.byOpening()
	for i, b := range order {
		if b.machine.Node == nil {
			break
		}
		k.exchangeOf(b, order[i+1:], crowd)
	}
}

// byOpening are the machines that stay, in the order in which they take pods: those that do,
// those that have joined, who came first first, and those on their way.
func (k *Packer) byOpening() []*bin {
	out := slices.DeleteFunc(slices.Clone(k.old), func(b *bin) bool { return b.place.Deleting })
	slices.SortStableFunc(out, func(a, b *bin) int { return cmp.Compare(a.opens(), b.opens()) })
	return out
}

// opens is about when a machine that is there or on its way takes pods.
func (b *bin) opens() int64 {
	switch {
	case b.machine.Node == nil:
		return math.MaxInt64
	case plan.Closed(b.machine):
		return b.machine.Node.Created
	}
	return math.MinInt64
}

// later are those of the machines, in the order in which they open, that are in the same zone and take no pods yet, the last first.
func later(b *bin, all []*bin) []*bin {
	var out []*bin
	for _, o := range slices.Backward(all) {
		if len(out) == partners || o.opens() == math.MinInt64 { // nor does any before it wait to take pods
			break
		}
		if o.place.Labels[label.Zone] == b.place.Labels[label.Zone] {
			out = append(out, o)
		}
	}
	return out
}

// exchangeOf has those of the machine's pods that cannot be bound change places with pods of the
// machines that follow it, and counts the others among the crowd.
func (k *Packer) exchangeOf(b *bin, following []*bin, crowd *plan.Crowd) {
	node := b.machine.Node.Name
	var partners []*bin
	asked := false
	seen := map[*waiting]bool{}
	for i := 0; i < len(b.pods); i++ {
		x := b.pods[i]
		if seen[x] || x.pod.Node != "" || x.held {
			continue
		}
		seen[x] = true
		if crowd.Admit(x.pod, node) || !k.settled(x.class) {
			continue
		}
		if !asked {
			partners, asked = later(b, following), true
		}
		for _, to := range partners {
			if k.takes(to, x) && k.barter(x, to, func(y *waiting) bool { return crowd.Allows(y.pod, node) }) {
				i = -1 // who has come is looked at as well
				break
			}
		}
	}
}

// settled reports whether it makes no difference to others on which machine of a zone pods of the class are.
func (k *Packer) settled(c *class) bool {
	clings, others := k.ledger.Clings(c.subject)
	return !clings && !others && !c.sig.Open && !special(c.pod)
}

// wide are the topology keys of which one domain may have several machines.
func (k *Packer) wide() []string {
	return slices.DeleteFunc(slices.Clone(k.ledger.Keys()), func(key string) bool { return key == label.Hostname })
}
