package explain

import (
	"fmt"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Hold is one thing that keeps a node from being given back.
type Hold struct {
	Code   reason.Code `json:"code"`
	Pods   []string    `json:"pods,omitempty"` // because of which
	Detail string      `json:"detail"`
	Hint   string      `json:"hint,omitempty"`  // what would end it
	Until  string      `json:"until,omitempty"` // when it ends by itself
}

// holds puts what keeps a machine into words; what several pods have in common is told once.
func (e *Explainer) holds(p *world.Place, found []disrupt.Hold) []Hold {
	out := []Hold{}
	said := map[common]int{}
	for _, f := range found {
		h := e.hold(p, f)
		key := common{h.Code, h.Detail}
		i, there := said[key]
		if !there {
			i = len(out)
			said[key] = i
			out = append(out, h)
		}
		if f.Pod != nil {
			out[i].Pods = append(out[i].Pods, f.Pod.String())
		}
	}
	return out
}

// common is what several pods' holds may have in common.
type common struct {
	code   reason.Code
	detail string
}

func (e *Explainer) hold(p *world.Place, f disrupt.Hold) Hold {
	h := Hold{Code: f.Code, Until: moment(f.Until)}
	pool := e.world.Pool(p.Pool())
	switch f.Code {
	case reason.Foreign:
		h.Detail = "no pool asked for this node, and only nodes of pools are given back"
	case reason.Deleting:
		h.Detail = "it is going already"
	case reason.Starting:
		h.Detail = "the machine has not joined and become complete yet"
	case reason.DoNotDisrupt:
		h.Detail, h.Hint = "the node carries karpenter.sh/do-not-disrupt", "take the annotation off the node"
		if f.Pod != nil {
			h.Detail, h.Hint = "karpenter.sh/do-not-disrupt", "take the annotation off the pod"
		}
	case reason.Promised:
		h.Detail = "waiting pods are on their way there"
	case reason.Alone:
		h.Detail, h.Hint = disrupt.Alone, disrupt.AloneHint
	case reason.Guarded:
		h.Detail, h.Hint = f.Guarding()
	case reason.Policy:
		h.Detail = "its pool is gone, so nothing says when it may be"
		if pool != nil {
			h.Detail = fmt.Sprintf("%s %s gives no empty node back: %s", pool.ID.Kind, pool.ID.Name, disrupt.Nothing(pool))
			h.Hint = disrupt.SomethingHint(pool)
		}
	case reason.Static:
		h.Detail, h.Hint = fmt.Sprintf("%s %s is static and keeps %s", pool.ID.Kind, pool.ID.Name, amount.Count(*pool.Replicas, "node")), "lower its replicas"
	case reason.TooSoon:
		h.Detail = fmt.Sprintf("its pool waits until no pod has come or gone for %s", span(*pool.Disruption.EmptyAfter))
	case reason.Budget:
		r := disrupt.RoomOf(e.world, pool, disrupt.Empty)
		h.Detail = fmt.Sprintf("its pool's budgets let %d of %s go at once, and %d go already or are not ready", r.Allowed, amount.Count(r.Machines, "node"), r.Going)
		h.Hint = "wait, or widen spec.disruption.budgets"
	case reason.InUse:
		h.Detail = used + "only empty nodes are given back"
	}
	return h
}

// ends says what time brings when the hold is over.
func (h Hold) ends() string {
	if h.Code == reason.TooSoon {
		return "its pool has waited long enough, if no pod comes or goes"
	}
	return "what keeps it ends: " + h.Detail
}

// span writes seconds as 30s, 5m or 720h.
func span(seconds int64) string {
	d := (time.Duration(seconds) * time.Second).String()
	if s, ok := strings.CutSuffix(d, "m0s"); ok {
		d = s + "m"
	}
	if s, ok := strings.CutSuffix(d, "h0m"); ok {
		d = s + "h"
	}
	return d
}
