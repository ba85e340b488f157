package packing

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// classify puts the pods to plan into classes, in the order in which they are placed.
func classify(k *Packing, pods []*world.Pod) {
	byIdentity := map[string]*Class{}
	signatures := map[string]*Demands{}
	var b []byte
	for _, p := range pods {
		b = identity(k, b[:0], p)
		c := byIdentity[string(b)]
		if c == nil {
			c = &Class{Pod: p}
			byIdentity[string(b)] = c
			k.Classes = append(k.Classes, c)
		}
		c.Pods = append(c.Pods, p)
	}
	for _, c := range k.Classes {
		b = k.Backoffs.AppendIdentity(k.Market.Rules.AppendIdentity(b[:0], c.Pod), c.Pod.Key)
		if c.Demands = signatures[string(b)]; c.Demands == nil {
			c.Demands = &Demands{Signature: k.Market.Sign(c.Pod, k.Backoffs)}
			signatures[string(b)] = c.Demands
		}
		compile(k, c)
	}
	for _, c := range k.Classes {
		c.Rank = k.Advice.Rank(c.PodInfo)
		c.Colocated, _ = k.Advice.Clings(c.PodInfo)
	}
	slices.SortStableFunc(k.Classes, compareClass)
	for i, c := range k.Classes {
		c.Number = i
	}
}

// compareClass orders classes: priority, rank, size, name.
func compareClass(a, b *Class) int {
	return cmp.Or(
		cmp.Compare(b.Pod.Priority, a.Pod.Priority),
		cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(b.Pod.Requests.Value(amount.CPU), a.Pod.Requests.Value(amount.CPU)),
		cmp.Compare(b.Pod.Requests.Value(amount.Memory), a.Pod.Requests.Value(amount.Memory)),
		cmp.Compare(a.Pod.Namespace, b.Pod.Namespace),
		cmp.Compare(a.Pod.Name, b.Pod.Name),
	)
}

// identity is a text that two pods share only if nothing tells them apart.
func identity(k *Packing, b []byte, p *world.Pod) []byte {
	b = k.Backoffs.AppendIdentity(k.Market.Rules.AppendIdentity(b, p), p.Key)
	b = binary.AppendVarint(b, int64(p.Priority))
	b = binary.AppendUvarint(b, uint64(len(p.Requests)))
	for _, e := range p.Requests {
		b = binary.AppendVarint(label.AppendText(b, e.Name), e.Value)
	}
	b = binary.AppendUvarint(b, uint64(len(p.NodeWishes)))
	for _, w := range p.NodeWishes {
		b = binary.AppendVarint(fit.AppendTerm(b, w.Term), int64(w.Weight))
	}
	for _, x := range p.Ports {
		b = binary.AppendVarint(label.AppendText(label.AppendText(append(b, 'p'), x.IP), x.Protocol), int64(x.Port))
	}
	alike := k.Counters.Cover(p)
	for _, v := range p.Volumes {
		b = label.AppendText(append(b, 'v'), v.Driver)
		if !alike {
			b = label.AppendText(b, v.ID)
		}
	}
	if len(p.Spread)+len(p.PodTerms) > 0 {
		b = terms.AppendIdentity(b, p)
	}
	if k.Ledger.Counts() {
		for _, g := range k.Ledger.Members(p) {
			b = binary.AppendUvarint(append(b, 'm'), uint64(g))
		}
	}
	return b
}

// compile finds out all that is the same for the pods of c.
func compile(k *Packing, c *Class) {
	c.Need = make([]int64, len(k.Market.Dims))
	for i, d := range k.Market.Dims {
		c.Need[i] = c.Pod.Requests.Value(d)
	}
	k.Counters.Need(c.Pod, c.Need)
	c.PodInfo = k.Ledger.PodInfo(c.Pod)
	c.Special = k.special(c.Pod)
	c.Plain = c.PodInfo.Indifferent() && k.Counters.Cover(c.Pod)
	c.Pinned = k.Advice.Reaches(c.PodInfo, label.Hostname) || k.accompanied && !c.PodInfo.Indifferent()
	if k.Options.PreferencePolicy != Ignore {
		for i, w := range c.Pod.NodeWishes {
			c.Wishes = append(c.Wishes, wish{w.Weight, w.Term, i})
		}
	}
	c.Offers = slices.Clone(c.Demands.Offers)
	k.Market.KeepFitting(c.Offers, c.Need)
}

// special reports whether the pod takes more of a machine than resources.
func (k *Packing) special(p *world.Pod) bool {
	return len(p.Ports) > 0 || fit.Attaches(p) || !k.Market.Rules.Counted(p)
}

// ByClass divides pods that lie side by side by class.
func ByClass(pods []*Pod) iter.Seq2[*Class, []*Pod] {
	return func(yield func(*Class, []*Pod) bool) {
		for from, to := 0, 0; from < len(pods); from = to {
			c := pods[from].Class
			for to < len(pods) && pods[to].Class == c {
				to++
			}
			if !yield(c, pods[from:to]) {
				return
			}
		}
	}
}
