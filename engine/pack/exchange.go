package pack

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// partners bounds how many machines on their way are asked for pods in exchange for one.
const partners = 64

// exchange has pods that cannot be bound yet, because their zone is ahead of the
// others, change places with pods of machines still on their way that can. kube-scheduler
// keeps no place for a pod that it had to turn down: whoever comes next would have it.
func (k *Packer) exchange() {
	if !k.options.Nominated || !k.ledger.Counts() {
		return
	}
	coming := k.comingByZone()
	if len(coming) == 0 {
		return
	}
	bindable := map[world.Key]bool{}
	for _, x := range plan.Bindable(k.world, k.fills()) {
		bindable[x.Pod.Key] = true
	}
	for _, b := range k.old {
		if b.machine.Node == nil {
			continue
		}
		for _, x := range slices.Clone(b.pods) {
			if x.pod.Node == "" && !x.held && !bindable[x.pod.Key] && k.settled(x.class) {
				k.exchangeOne(x, coming[b.place.Labels[label.Zone]])
			}
		}
	}
}

// comingByZone are the machines on their way by their zone.
func (k *Packer) comingByZone() map[string][]*bin {
	out := map[string][]*bin{}
	for _, b := range k.old {
		if zone := b.place.Labels[label.Zone]; b.machine.Node == nil && !b.place.Deleting && zone != "" {
			out[zone] = append(out[zone], b)
		}
	}
	return out
}

// fills are the pods sent to nodes that are there.
func (k *Packer) fills() []plan.Fill {
	var out []plan.Fill
	for _, b := range k.old {
		if b.machine.Node == nil || len(b.pods) == 0 {
			continue
		}
		f := plan.Fill{Node: b.machine.Node.Name}
		for _, x := range b.pods {
			f.Pods = append(f.Pods, x.pod.Key)
		}
		slices.SortFunc(f.Pods, compareKey)
		out = append(out, f)
	}
	return out
}

// settled reports whether it makes no difference to others on which machine of a zone pods of the class are.
func (k *Packer) settled(c *class) bool {
	clings, others := k.ledger.Clings(c.subject)
	return !clings && !others && !c.sig.open && !special(c.pod)
}

// exchangeOne sends the pod to one of the machines, for others that can be bound where it was.
func (k *Packer) exchangeOne(x *waiting, coming []*bin) {
	from, c := x.bin, x.class
	for _, to := range coming[:min(len(coming), partners)] {
		if !k.stands(c.sig).has(to.number) || !k.ledger.Allows(c.subject, to.node, k.wide()...) {
			continue
		}
		if back, ok := k.inReturn(x, to); ok {
			k.quit(x)
			for _, y := range back {
				k.quit(y)
				k.join(from, y)
			}
			k.join(to, x)
			return
		}
	}
}

// inReturn are the fewest of the machine's pods that make room for x and fit where x was.
func (k *Packer) inReturn(x *waiting, to *bin) (back []*waiting, ok bool) {
	from := x.bin
	there, here := slices.Clone(to.free), slices.Clone(from.free)
	for i, n := range x.class.need {
		here[i] += n
	}
	pods := slices.Clone(to.pods)
	slices.SortStableFunc(pods, func(a, b *waiting) int { return slices.Compare(b.class.need, a.class.need) })
	for _, y := range pods {
		if fits(x.class.need, there) {
			break
		}
		d := y.class
		if k.steps++; y.held || !d.plain || d.sig.open || !fits(d.need, here) || !k.stands(d.sig).has(from.number) {
			continue
		}
		for i, n := range d.need {
			here[i] -= n
			there[i] += n
		}
		back = append(back, y)
	}
	return back, fits(x.class.need, there)
}

// wide are the topology keys of which one domain may have several machines.
func (k *Packer) wide() []string {
	return slices.DeleteFunc(slices.Clone(k.ledger.Keys()), func(key string) bool { return key == label.Hostname })
}
