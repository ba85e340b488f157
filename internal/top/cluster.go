package top

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/internal/web/live"
)

// Cluster is what is known of a cluster by now.
type Cluster struct {
	At        int64           `json:"at"`
	Currency  string          `json:"currency"`
	Totals    live.Totals     `json:"totals"`
	Nodes     []live.Node     `json:"nodes"` // by name
	Pools     []live.Pool     `json:"pools"`
	Waiting   []live.Group    `json:"waiting"`
	Decisions []live.Decision `json:"decisions"`
	Savings   *live.Savings   `json:"savings,omitempty"` // none before consolidation was looked for
}

// Apply takes over what a frame says.
func (c *Cluster) Apply(f live.Frame) {
	c.At, c.Currency, c.Totals = f.At, f.Currency, f.Totals
	if f.Whole {
		c.Nodes, c.Savings = nil, nil
	}
	if f.Savings != nil {
		c.Savings = f.Savings
	}
	other := make(map[string]bool, len(f.Nodes)+len(f.Gone))
	for _, n := range f.Nodes {
		other[n.Name] = true
	}
	for _, name := range f.Gone {
		other[name] = true
	}
	c.Nodes = slices.DeleteFunc(c.Nodes, func(n live.Node) bool { return other[n.Name] })
	c.Nodes = append(c.Nodes, f.Nodes...)
	slices.SortFunc(c.Nodes, func(a, b live.Node) int { return strings.Compare(a.Name, b.Name) })
	if f.Pools != nil {
		c.Pools = *f.Pools
	}
	if f.Waiting != nil {
		c.Waiting = *f.Waiting
	}
	if f.Decisions != nil {
		c.Decisions = *f.Decisions
	}
}

// pods is how many pods run on a node.
func pods(n live.Node) int { return len(n.Pods) / 3 }

// state is that of a node; a ready one may be drifted.
func state(n live.Node) string {
	if n.Drifted != "" && n.State == live.Ready {
		return "drifted"
	}
	return n.State
}

// keptBy says why a node goes, or what keeps it.
func keptBy(n live.Node) string {
	if live.Goes(n.State) {
		return n.Why
	}
	return strings.Join(n.Keeps, ", ")
}

// totalsOf are the figures of some of the nodes; of pods that wait they say nothing.
func totalsOf(nodes []live.Node) live.Totals {
	var t live.Totals
	var cpu, cpuRoom, memory, memoryRoom int64
	for _, n := range nodes {
		t.Price += n.Price
		t.OnDemand += n.OnDemand
		t.Running += pods(n)
		switch {
		case live.Goes(n.State):
			t.Going++
		case n.State == live.OnItsWay:
			t.Coming++
		case n.State == live.NotReady:
			t.NotReady++
		default:
			t.Ready++
		}
		cpu, cpuRoom = cpu+n.UsedCPU, cpuRoom+n.CPU
		memory, memoryRoom = memory+n.UsedMemory, memoryRoom+n.Memory
	}
	t.CPU, t.Memory = live.Percent(cpu, cpuRoom), live.Percent(memory, memoryRoom)
	return t
}

// matches reports whether a text has every word of a filter.
func matches(words []string, fields ...string) bool {
	all := strings.ToLower(strings.Join(fields, " "))
	for _, w := range words {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}

func share(used, room int64) float64 {
	if room <= 0 {
		return 0
	}
	return float64(used) / float64(room)
}

// born is when a node came; one without a time is the newest.
func born(n live.Node) int64 { return cmp.Or(n.Created, 1<<62) }
