package spread

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
)

// Vacate takes a machine out that is about to be given back and holds no pods
// any more, but only as a host. Its zone, and what else it shares with others,
// counts as before: a pod that is to be spread over zones does not leave one for
// good because the last machine there is given back.
func (l *counts) Vacate(n int) { l.lodge(n, -1) }

// Occupy puts a machine back that was vacated, without pods.
func (l *counts) Occupy(n int) { l.lodge(n, 1) }

func (l *counts) lodge(n int, by int32) {
	at := &l.nodes[n]
	for _, t := range l.Eligible() {
		if d := at.domain[t.Key]; l.TopologyKey(t.Key) == label.Hostname && d != domain.None && at.may[t.Filter] {
			t.Change(d, by)
		}
	}
}
