package domain

import "slices"

// Tally counts by domain. A group has members in few of the domains that there are
// where each machine is one, so beyond the first domains only those are kept of which something was counted.
type Tally struct {
	first []int32 // the first domains
	slots []slot  // the others, by a hash; their number is a power of two
	used  int
}

// slot is what is counted in a domain; the domain is one more than its number, and 0 where the slot is free.
type slot struct{ domain, n int32 }

// firstDomains is how many domains are counted in place: more than there are zones.
const firstDomains = 32

// In is what is counted in domain d.
func (t *Tally) In(d int32) int32 {
	if d < firstDomains {
		return Count(t.first, d)
	}
	if len(t.slots) == 0 {
		return 0
	}
	return t.slots[t.find(d)].n
}

// Bump changes what is counted in domain d.
func (t *Tally) Bump(d, by int32) {
	if d < firstDomains {
		t.first = Bump(t.first, d, by)
		return
	}
	if 4*(t.used+1) > 3*len(t.slots) {
		t.grow()
	}
	s := &t.slots[t.find(d)]
	if s.domain == 0 {
		s.domain = d + 1
		t.used++
	}
	s.n += by
}

// find is where domain d is, or the free slot where it would be.
func (t *Tally) find(d int32) int {
	mask := len(t.slots) - 1
	at := int(uint32(d)*0x9e3779b1>>7) & mask
	for t.slots[at].domain != 0 && t.slots[at].domain != d+1 {
		at = (at + 1) & mask
	}
	return at
}

// grow makes room for more domains, and drops those of which nothing is counted any more.
func (t *Tally) grow() {
	old, kept := t.slots, 0
	for _, s := range old {
		if s.n != 0 {
			kept++
		}
	}
	size := 8
	for size < 2*(kept+1) {
		size *= 2
	}
	t.slots, t.used = make([]slot, size), kept
	for _, s := range old {
		if s.n != 0 {
			t.slots[t.find(s.domain-1)] = s
		}
	}
}

// Least is the first domain of which something is counted; none if there is none.
func (t *Tally) Least() int32 {
	if at := slices.IndexFunc(t.first, func(n int32) bool { return n > 0 }); at >= 0 {
		return int32(at)
	}
	least := None
	for _, s := range t.slots {
		if s.n > 0 && (least == None || s.domain-1 < least) {
			least = s.domain - 1
		}
	}
	return least
}
