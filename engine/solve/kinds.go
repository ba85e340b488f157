package solve

import "encoding/binary"

// kinds are the hosts as the relaxation sees them, and which of them items can go to.
type kinds struct {
	of    []int32 // the kind of each host
	all   []host  // one host of each kind
	sets  [][]int32
	setOf []int32 // for each class the set of kinds that can take it
}

// kinds gathers the hosts of the model, in their order.
func (m *model) kinds() *kinds { return m.kindsBy(nil) }

// kindsApart gathers them such that hosts of one kind also take the same classes: there are more kinds then, such as one type in
// several pools, and less is pretended.
func (m *model) kindsApart() *kinds {
	welcome := make([]Bits, len(m.hosts))
	for h := range welcome {
		welcome[h] = NewBits(len(m.classes))
	}
	for c := range m.classes {
		m.classes[c].takers.each(func(h int) { welcome[h].Set(c) })
	}
	return m.kindsBy(welcome)
}

// kindsBy gathers the hosts, and keeps those apart that welcome other classes, if that is told.
func (m *model) kindsBy(welcome []Bits) *kinds {
	k := &kinds{of: make([]int32, len(m.hosts)), setOf: make([]int32, len(m.classes))}
	known := make(map[string]int32)
	var b []byte
	for h := range m.hosts {
		b = m.hosts[h].appendKind(b[:0])
		if welcome != nil {
			b = welcome[h].append(b)
		}
		n, ok := known[string(b)]
		if !ok {
			n = int32(len(k.all))
			known[string(b)] = n
			k.all = append(k.all, m.hosts[h])
		}
		k.of[h] = n
	}
	clear(known)
	in := NewBits(len(k.all))
	for c := range m.classes {
		clear(in)
		m.classes[c].takers.each(func(h int) { in.Set(int(k.of[h])) })
		b = in.append(b[:0])
		s, ok := known[string(b)]
		if !ok {
			s = int32(len(k.sets))
			known[string(b)] = s
			var set []int32
			in.each(func(n int) { set = append(set, int32(n)) })
			k.sets = append(k.sets, set)
		}
		k.setOf[c] = s
	}
	return k
}

// appendKind names the kind of the host.
func (h *host) appendKind(b []byte) []byte {
	b = binary.AppendVarint(b, h.price)
	for _, room := range h.room {
		b = binary.AppendVarint(b, room)
	}
	for _, d := range h.draws {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(d.Budget)), d.Amount)
	}
	return b
}

// takers are the kinds that can take the class.
func (k *kinds) takers(c int) []int32 { return k.sets[k.setOf[c]] }
