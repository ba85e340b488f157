package relax

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/solve/model"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Kinds are the hosts as the relaxation sees them, and which of them items can go to.
type Kinds struct {
	Of    []int32      // the kind of each host
	All   []model.Host // one host of each kind
	Sets  [][]int32    // the different sets of kinds that can take a class
	SetOf []int32      // for each class the set of kinds that can take it
}

// KindsOf gathers the hosts of the model, in their order.
func KindsOf(m *model.Model) *Kinds { return kindsBy(m, nil) }

// KindsApart gathers them such that hosts of one kind also take the same classes: there are more kinds then, such as one type in
// several pools, and less is pretended.
func KindsApart(m *model.Model) *Kinds {
	welcome := make([]problem.Bits, len(m.Hosts))
	for h := range welcome {
		welcome[h] = problem.NewBits(len(m.Classes))
	}
	for c := range m.Classes {
		m.Classes[c].Takers.Each(func(h int) { welcome[h].Set(c) })
	}
	return kindsBy(m, welcome)
}

// kindsBy gathers the hosts, and keeps those apart that welcome other classes, if that is told.
func kindsBy(m *model.Model, welcome []problem.Bits) *Kinds {
	k := &Kinds{Of: make([]int32, len(m.Hosts)), SetOf: make([]int32, len(m.Classes))}
	known := make(map[string]int32)
	var b []byte
	for h := range m.Hosts {
		b = appendKind(&m.Hosts[h], b[:0])
		if welcome != nil {
			b = welcome[h].Append(b)
		}
		n, ok := known[string(b)]
		if !ok {
			n = int32(len(k.All))
			known[string(b)] = n
			k.All = append(k.All, m.Hosts[h])
		}
		k.Of[h] = n
	}
	clear(known)
	in := problem.NewBits(len(k.All))
	for c := range m.Classes {
		clear(in)
		m.Classes[c].Takers.Each(func(h int) { in.Set(int(k.Of[h])) })
		b = in.Append(b[:0])
		s, ok := known[string(b)]
		if !ok {
			s = int32(len(k.Sets))
			known[string(b)] = s
			var set []int32
			in.Each(func(n int) { set = append(set, int32(n)) })
			k.Sets = append(k.Sets, set)
		}
		k.SetOf[c] = s
	}
	return k
}

// appendKind names the kind of the host.
func appendKind(h *model.Host, b []byte) []byte {
	b = binary.AppendVarint(b, h.Price)
	for _, room := range h.Room {
		b = binary.AppendVarint(b, room)
	}
	for _, d := range h.Draws {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(d.Budget)), d.Amount)
	}
	return b
}

// Takers are the kinds that can take the class.
func (k *Kinds) Takers(c int) []int32 { return k.Sets[k.SetOf[c]] }
