package room

import (
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/fit"
)

// Mark is a moment in the life of a ledger.
type Mark int

// change is one thing that was done: a machine taken away, or a guest put there.
type change struct {
	machine int
	guest   guest      // zero: the machine was taken away
	was     *fit.Place // the machine before, where the guest takes more than room
}

// Mark returns the moment to which Undo can go back.
func (l *Ledger) Mark() Mark { return Mark(len(l.journal)) }

// Undo takes back what was done since the mark.
func (l *Ledger) Undo(to Mark) {
	for len(l.journal) > int(to) {
		c := l.journal[len(l.journal)-1]
		l.journal = l.journal[:len(l.journal)-1]
		if c.guest.pod == nil {
			l.restore(c.machine)
			continue
		}
		l.unput(c)
	}
}

// put puts a guest on machine i, whether it fits there or not.
func (l *Ledger) put(g guest, i int) {
	m := &l.machines[i]
	c := change{machine: i, guest: g}
	if g.class.special {
		was := m.at
		c.was = &was
		m.at.Put(g.pod)
	}
	for d, n := range g.class.need {
		f := &l.free[i*len(l.dims)+d]
		*f = amount.Plus(*f, -n) // who holds a promise may ask for more than can be counted; that is not undone
	}
	l.spread.Put(g.class.subject, m.node)
	m.guests = append(m.guests, g)
	l.journal = append(l.journal, c)
}

// unput takes the last guest off its machine.
func (l *Ledger) unput(c change) {
	m := &l.machines[c.machine]
	m.guests = m.guests[:len(m.guests)-1]
	l.spread.Take(c.guest.class.subject, m.node)
	for d, n := range c.guest.class.need {
		l.free[c.machine*len(l.dims)+d] += n
	}
	if c.was != nil {
		m.at = *c.was
	}
}

// restore puts machine i back with all that was there.
func (l *Ledger) restore(i int) {
	m := &l.machines[i]
	m.gone = false
	l.spread.Return(m.node)
	l.inhabit(m)
	for _, g := range m.guests {
		l.spread.Put(g.class.subject, m.node)
	}
}
