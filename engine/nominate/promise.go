// Package nominate says for which nodes waiting pods are nominated, and when nodes that have joined take pods.
//
// Pods that a plan sends to nodes are nominated for as many of these at a time as kube-scheduler can bind there: it
// counts the nominees of a node as if they ran there. Where pods run, and of which kinds, is counted once, in counts.go;
// which pods are nominated together is in nominations.go.
package nominate

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Promise is a waiting pod that can be nominated for the node it is sent to.
type Promise struct {
	Pod  *world.Pod
	Node string
}

// Promises are those of the pods sent to nodes that can be nominated for them at
// the same time. Pods that are nominated already come first; those nominated by kube-scheduler are left out.
//
// kube-scheduler takes all that are nominated for a node for running there, and
// none of those for other nodes: if too many that are to be spread over zones
// were nominated for one node, each would wait for the others to be gone. As many
// as the skew can be in any case, and more as long as their zone lags behind the others by that many.
func Promises(w *world.World, fills []plan.Fill) []Promise { return NewPodCounts(w).Promises(fills) }

// Promises is Promises of the World that was counted.
func (s *PodCounts) Promises(fills []plan.Fill) []Promise {
	w, c := s.world, s.nominations()
	c.soon = true
	var out []Promise
	for _, already := range []bool{true, false} {
		for _, f := range fills {
			for _, key := range f.Pods {
				p := w.Pod(key)
				if p == nil || p.Virtual || p.Node != "" || p.Done || p.Nominated != "" && !p.Promised || (p.Nominated == f.Node) != already {
					continue
				}
				if c.Admit(p, f.Node) {
					out = append(out, Promise{p, f.Node})
				}
			}
		}
	}
	return out
}
