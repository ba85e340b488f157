package static

import (
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cluster"
)

const (
	limited   = 30 * time.Second // until a limit may have room again, or something is sold again
	lookEvery = time.Minute      // whatever happens
)

// matters reports whether a change may be one of what is decided: pools, claims and what is sold are, pods and nodes are not.
func matters(k cluster.Kind) bool { return k != cluster.Pod && k != cluster.Node }

// next is how long to wait for the next look although nothing changes.
func next(p plan.Plan, now time.Time) time.Duration {
	wait := lookEvery
	for _, s := range p.Static {
		if s.Missing > 0 {
			wait = limited
		}
	}
	if p.Again > 0 {
		wait = min(wait, time.Unix(p.Again, 0).Sub(now))
	}
	return wait
}

// lack is how many machines a pool cannot have, and why.
type lack struct {
	missing int
	code    reason.Code
}

// lacks are what keeps pools from their number.
func lacks(p plan.Plan) map[world.PoolID]lack {
	out := map[world.PoolID]lack{}
	for _, s := range p.Static {
		if s.Why != nil {
			out[s.Pool] = lack{s.Missing, s.Why.Code}
		}
	}
	return out
}

// news are the pools that lack something else than the last event about them said.
func news(logged map[world.PoolID]lack, p plan.Plan) []world.PoolID {
	is := lacks(p)
	var out []world.PoolID
	for _, s := range p.Static {
		if is[s.Pool] != logged[s.Pool] && s.Why != nil {
			out = append(out, s.Pool)
		}
	}
	return out
}
