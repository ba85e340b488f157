package market

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// buyers are what machines may be bought for: one pod of each signature. Of a
// thousand pools most are for the pods of others, and what none of these pods
// could use is not worth the room that a list of its offers takes.
type buyers struct {
	pods     []buyer
	everyone bool
}

// buyer is what a pod demands of pools.
type buyer struct {
	tolerations []world.Toleration
	groups      [][]world.NodeTerm
}

func newBuyers(pods []*world.Pod) buyers {
	out := buyers{everyone: pods == nil}
	known := map[string]bool{}
	var b []byte
	for _, p := range pods {
		if b = fit.AppendIdentity(b[:0], p); !known[string(b)] {
			known[string(b)] = true
			out.pods = append(out.pods, buyer{p.Tolerations, alternatives(p)})
		}
	}
	return out
}

// want reports whether the pool's taints and its own labels and requirements let one of the pods onto its machines.
func (b buyers) want(p *Pool) bool {
	for _, x := range b.pods {
		if len(fit.Untolerated(x.tolerations, p.Taints)) == 0 && !p.demand(x.groups).impossible {
			return true
		}
	}
	return b.everyone
}
