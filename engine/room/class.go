package room

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// class is pods that nothing tells apart where places are concerned.
type class struct {
	need      []int64 // by dimension
	signature *signature
	subject   *spread.Subject
	special   bool // it takes ports or volumes
	plain     bool // whether a place takes one depends on labels, taints and room only
}

// signature is what pods demand of machines by label, taint and volume.
type signature struct {
	pod    *world.Pod // one that does
	stands []bool     // for each machine, whether it meets the demands; nil until asked for
}

// classes are those that were asked for so far.
type classes struct {
	of         map[*world.Pod]*class
	byIdentity map[string]*class
	signatures map[string]*signature
	text       []byte
}

// class returns the class of a pod.
func (l *Ledger) class(p *world.Pod) *class {
	k := &l.classes
	if c := k.of[p]; c != nil {
		return c
	}
	if k.of == nil {
		k.of, k.byIdentity, k.signatures = map[*world.Pod]*class{}, map[string]*class{}, map[string]*signature{}
	}
	k.text = l.identity(k.text[:0], p)
	c := k.byIdentity[string(k.text)]
	if c == nil {
		id := string(k.text)
		c = l.newClass(p)
		k.byIdentity[id] = c
	}
	k.of[p] = c
	return c
}

// identity appends a text that pods share only if they are of one class.
func (l *Ledger) identity(b []byte, p *world.Pod) []byte {
	b = fit.AppendIdentity(b, p)
	b = binary.AppendVarint(b, int64(p.Priority))
	b = binary.AppendUvarint(b, uint64(len(p.Requests)))
	for _, e := range p.Requests {
		b = binary.AppendVarint(label.AppendText(b, e.Name), e.Value)
	}
	for _, x := range p.Ports {
		b = binary.AppendVarint(label.AppendText(label.AppendText(append(b, 'p'), x.IP), x.Protocol), int64(x.Port))
	}
	for _, v := range p.Volumes {
		b = label.AppendText(label.AppendText(append(b, 'v'), v.Driver), v.ID)
	}
	b = spread.AppendIdentity(b, p)
	for _, g := range l.spread.Members(p) {
		b = binary.AppendUvarint(append(b, 'm'), uint64(g))
	}
	return b
}

func (l *Ledger) newClass(p *world.Pod) *class {
	k := &l.classes
	c := &class{need: make([]int64, len(l.dims)), subject: l.spread.Describe(p)}
	for i, d := range l.dims {
		c.need[i] = p.Requests.Value(d)
	}
	k.text = fit.AppendIdentity(k.text[:0], p)
	if c.signature = k.signatures[string(k.text)]; c.signature == nil {
		c.signature = &signature{pod: p}
		k.signatures[string(k.text)] = c.signature
	}
	c.special = len(p.Ports) > 0 || slices.ContainsFunc(p.Volumes, func(v world.Volume) bool { return v.Driver != "" })
	c.plain = c.subject.Indifferent() && !c.special
	return c
}

// stands are the machines that meet the signature.
func (l *Ledger) stands(s *signature) []bool {
	if s.stands == nil {
		s.stands = make([]bool, len(l.machines))
		for i := range l.machines {
			s.stands[i] = fit.Stands(s.pod, &l.machines[i].at)
		}
	}
	return s.stands
}

// lot is pods of one class that are to be placed.
type lot struct {
	class *class
	pods  []*world.Pod // by key
	rank  int
	from  int // machines before it are known to take none, if the class is plain
}

// lots puts the pods into the order in which they are placed. Those for which no
// place can be looked for are returned apart.
func (l *Ledger) lots(pods []*world.Pod) (lots []lot, rest []*world.Pod) {
	pods = slices.SortedFunc(slices.Values(pods), compareKey)
	at := make(map[*class]int, len(pods))
	for _, p := range pods {
		if !p.Plannable() {
			rest = append(rest, p)
			continue
		}
		c := l.class(p)
		i, known := at[c]
		if !known {
			i = len(lots)
			at[c] = i
			lots = append(lots, lot{class: c})
			l.spread.Consider(c.subject)
		}
		lots[i].pods = append(lots[i].pods, p)
	}
	for i := range lots {
		lots[i].rank = l.spread.Rank(lots[i].class.subject)
	}
	for _, t := range lots {
		l.spread.Dismiss(t.class.subject)
	}
	slices.SortFunc(lots, compareLots)
	return lots, rest
}

// compareLots orders lots as the packer does: priority, rank, size, name.
func compareLots(a, b lot) int {
	x, y := a.pods[0], b.pods[0]
	return cmp.Or(
		cmp.Compare(y.Priority, x.Priority),
		cmp.Compare(a.rank, b.rank),
		cmp.Compare(y.Requests.Value(amount.CPU), x.Requests.Value(amount.CPU)),
		cmp.Compare(y.Requests.Value(amount.Memory), x.Requests.Value(amount.Memory)),
		compareKey(x, y),
	)
}
