package pack

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// class is the pods that nothing in this World tells apart.
type class struct {
	number  int
	pod     *world.Pod // the first of them
	pods    []*world.Pod
	need    []int64 // by dimension
	sig     *demands
	subject *spread.Subject
	plain   bool       // whether a place takes one depends on labels, taints and room only
	pinned  bool       // it matters in which zone its machine is, or another domain beyond the machine
	rank    int        // classes of a lower rank are placed first
	clings  bool       // it wants the company of others, or its own, on the very machine
	offers  market.Set // offers that stand and have room for one
	opens   market.Set // those of them that may be bought for one
	needy   bool       // some of these are of exotic types
	reach   []int      // one of offers for each tuple of domains
	wishes  []wish     // soft demands on machines
	tried   int        // machines there or on their way that are known to be too full for it
	triedOn int        // the same for planned machines
}

// demands are a signature, and which machines there or on their way meet it.
type demands struct {
	*market.Signature
	stands market.Set // nil until asked for

	objections map[*bin]string // kinds of objection, by bin
}

// wish is a soft demand on the machine.
type wish struct {
	weight int
	term   world.NodeTerm
	at     int
}

// sort puts the pods to plan into classes, in the order in which they are placed.
func (k *Packer) sort(pods []*world.Pod) {
	byIdentity := map[string]*class{}
	signatures := map[string]*demands{}
	var b []byte
	for _, p := range pods {
		b = k.identity(b[:0], p)
		c := byIdentity[string(b)]
		if c == nil {
			c = &class{pod: p}
			byIdentity[string(b)] = c
			k.classes = append(k.classes, c)
		}
		c.pods = append(c.pods, p)
	}
	for _, c := range k.classes {
		b = k.backoffs.AppendIdentity(fit.AppendIdentity(b[:0], c.pod), c.pod.Key)
		if c.sig = signatures[string(b)]; c.sig == nil {
			c.sig = &demands{Signature: k.market.Sign(c.pod, k.backoffs)}
			signatures[string(b)] = c.sig
		}
		k.compile(c)
	}
	for _, c := range k.classes {
		c.rank = k.ledger.Rank(c.subject)
		c.clings, _ = k.ledger.Clings(c.subject)
	}
	slices.SortStableFunc(k.classes, compareClass)
	for i, c := range k.classes {
		c.number = i
	}
}

// compareClass orders classes: priority, rank, size, name.
func compareClass(a, b *class) int {
	return cmp.Or(
		cmp.Compare(b.pod.Priority, a.pod.Priority),
		cmp.Compare(a.rank, b.rank),
		cmp.Compare(b.pod.Requests.Value(amount.CPU), a.pod.Requests.Value(amount.CPU)),
		cmp.Compare(b.pod.Requests.Value(amount.Memory), a.pod.Requests.Value(amount.Memory)),
		cmp.Compare(a.pod.Namespace, b.pod.Namespace),
		cmp.Compare(a.pod.Name, b.pod.Name),
	)
}

// identity is a text that two pods share only if nothing tells them apart.
func (k *Packer) identity(b []byte, p *world.Pod) []byte {
	b = k.backoffs.AppendIdentity(fit.AppendIdentity(b, p), p.Key)
	b = binary.AppendVarint(b, int64(p.Priority))
	b = binary.AppendUvarint(b, uint64(len(p.Requests)))
	for _, e := range p.Requests {
		b = binary.AppendVarint(label.AppendText(b, e.Name), e.Value)
	}
	b = append(b, byte(len(p.NodeWishes)))
	for _, w := range p.NodeWishes {
		b = binary.AppendVarint(fit.AppendTerm(b, w.Term), int64(w.Weight))
	}
	for _, x := range p.Ports {
		b = binary.AppendVarint(label.AppendText(label.AppendText(append(b, 'p'), x.IP), x.Protocol), int64(x.Port))
	}
	alike := k.tallies.Cover(p)
	for _, v := range p.Volumes {
		b = label.AppendText(append(b, 'v'), v.Driver)
		if !alike {
			b = label.AppendText(b, v.ID)
		}
	}
	if len(p.Spread)+len(p.PodTerms) > 0 {
		b = spread.AppendIdentity(b, p)
	}
	if k.ledger.Counts() {
		for _, g := range k.ledger.Members(p) {
			b = binary.AppendUvarint(append(b, 'm'), uint64(g))
		}
	}
	return b
}

// compile finds out all that is the same for the pods of c.
func (k *Packer) compile(c *class) {
	c.need = make([]int64, len(k.market.Dims))
	for i, d := range k.market.Dims {
		c.need[i] = c.pod.Requests.Value(d)
	}
	k.tallies.Need(c.pod, c.need)
	c.subject = k.ledger.Subject(c.pod)
	c.plain = c.subject.Indifferent() && k.tallies.Cover(c.pod)
	c.pinned = k.ledger.Reaches(c.subject, label.Hostname)
	if k.options.PreferencePolicy != Ignore {
		for i, w := range c.pod.NodeWishes {
			c.wishes = append(c.wishes, wish{w.Weight, w.Term, i})
		}
	}
	c.offers = slices.Clone(c.sig.Offers)
	k.market.KeepFitting(c.offers, c.need)
}

// special reports whether the pod takes more of a machine than resources.
func special(p *world.Pod) bool { return len(p.Ports) > 0 || attaches(p) }

// attaches reports whether one of the pod's volumes may count against a limit.
func attaches(p *world.Pod) bool {
	return slices.ContainsFunc(p.Volumes, func(v world.Volume) bool { return v.Driver != "" })
}

// regret is the weight of the soft demands on the machine that it would not meet.
func (c *class) regret(k *Packer, offer int) int {
	sum := 0
	if k.options.PreferencePolicy == Ignore {
		return 0
	}
	p := k.market.Offers[offer].Type.Pool
	if p.SoftTaints > 0 {
		sum += spread.SoftSpread * softTaints(c.pod, p.Taints)
	}
	if len(c.wishes) == 0 {
		return sum
	}
	at := k.market.At(offer)
	for _, w := range c.wishes {
		if !at.Meets(w.term) {
			sum += w.weight
		}
	}
	return sum
}

// runs divides pods that lie side by side by class.
func runs(pods []*waiting) iter.Seq2[*class, []*waiting] {
	return func(yield func(*class, []*waiting) bool) {
		for from, to := 0, 0; from < len(pods); from = to {
			c := pods[from].class
			for to < len(pods) && pods[to].class == c {
				to++
			}
			if !yield(c, pods[from:to]) {
				return
			}
		}
	}
}
