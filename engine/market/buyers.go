package market

import (
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/world"
)

// buyers are what machines may be bought for: one pod of each signature. Of a
// thousand pools most are for the pods of others, and what none of these pods
// could use is not worth the room that a list of its offers takes.
type buyers struct {
	pods     []*world.Pod
	everyone bool
}

func newBuyers(pods []*world.Pod) buyers {
	out := buyers{everyone: pods == nil}
	known := map[string]bool{}
	var b []byte
	for _, p := range pods {
		if b = fit.AppendIdentity(b[:0], p); !known[string(b)] {
			known[string(b)] = true
			out.pods = append(out.pods, p)
		}
	}
	return out
}

// want reports whether the pool's taints and its own labels and requirements let one of the pods onto its machines.
func (b buyers) want(p *Pool) bool {
	for _, pod := range b.pods {
		if len(fit.Untolerated(pod.Tolerations, p.Taints)) == 0 && !p.demand(pod).impossible {
			return true
		}
	}
	return b.everyone
}
