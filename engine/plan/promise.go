package plan

import (
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Promisable are those of the pods that go to one node which can be nominated
// for it at the same time. kube-scheduler takes all that are nominated for a node
// for running there, and none of those for other nodes: to each of several that
// are to be spread over zones, the zone would look too full for ever.
func Promisable(pods []*world.Pod) []*world.Pod {
	var out []*world.Pod
	for _, p := range pods {
		if next := append(out[:len(out):len(out)], p); evenly(next) {
			out = next
		}
	}
	return out
}

// evenly reports whether no zone, nor other domain of several nodes, looks too
// full to one of the pods if the others are there.
func evenly(pods []*world.Pod) bool {
	newest := pods[len(pods)-1]
	for _, p := range pods {
		for i := range p.Spread {
			c := &p.Spread[i]
			if c.Soft || c.Key == label.Hostname || !counts(c, p, newest) {
				continue
			}
			n := 0
			for _, q := range pods {
				if q == p || counts(c, p, q) {
					n++
				}
			}
			if n > c.MaxSkew {
				return false
			}
		}
	}
	return true
}

// counts reports whether q is among the pods that p's constraint spreads.
func counts(c *world.Spread, p, q *world.Pod) bool {
	return q.Namespace == p.Namespace && c.Selector.Match(q.Labels)
}
