// Package refuse says of a packing why pods have no place in it: everything that pools and machines have against them.
package refuse

import (
	"fmt"
	"math"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// absurdCores is a number of cores that must be a mistake.
const absurdCores = 1_000_000 * amount.Unit

const coresHint = "write thousandths of a core with an m: 500m is half a core"

// All say of every pod without a place why it has none.
func All(p *packing.Packing) []plan.Refusal {
	k := newRefuser(p)
	whys := map[*packing.Class]*reason.Why{}
	var out []plan.Refusal
	for _, x := range k.Unplaced {
		why := whys[x.Class]
		if why == nil {
			why = k.why(x)
			whys[x.Class] = why
		}
		out = append(out, plan.Refusal{Pod: x.Pod.Key, UID: x.Pod.UID, Why: why})
	}
	return out
}

// why collects everything that machines and pools have against the pod.
func (k *refuser) why(x *packing.Pod) *reason.Why {
	why := &reason.Why{Code: reason.NoPlace, Causes: contrary(x.Pod)}
	if len(why.Causes) > 0 {
		return why
	}
	if cores := x.Pod.Requests.Value(amount.CPU); cores >= absurdCores && cores < math.MaxInt64 {
		why.Causes = append(why.Causes, &reason.Why{
			Code: reason.UnitMixUp, Subject: amount.CPU, Detail: fmt.Sprintf("asks for %d cores", cores/amount.Unit),
			Hint: coresHint,
		})
	}
	for _, e := range x.Pod.Requests {
		if e.Value == math.MaxInt64 {
			hint := "look at the unit: 1Gi is 2^30 bytes, 1G is 10^9"
			if e.Name == amount.CPU {
				hint = coresHint
			}
			why.Causes = append(why.Causes, &reason.Why{Code: reason.UnitMixUp, Subject: e.Name, Detail: "asks for more than can be counted", Hint: hint})
		}
	}
	if len(k.World.Pools()) == 0 {
		why.Causes = append(why.Causes, &reason.Why{Code: reason.NoPool, Detail: "there is no pool", Hint: "create a NodePool"})
	}
	for _, p := range k.World.Pools() {
		why.Causes = append(why.Causes, k.poolWhy(p, x))
	}
	why.Causes = append(why.Causes, k.nodeWhys(x)...)
	return why
}

// contrary is what the pod demands of labels that no machine can have, because
// its demands exclude each other.
func contrary(p *world.Pod) []*reason.Why {
	const hint = "take one of them off the pod"
	return anyOf(p.NodeTerms, "node affinity", func(t world.NodeTerm) []*reason.Why {
		for _, r := range t.Labels {
			s, also := p.NodeSelector.Find(r.Key)
			switch {
			case r.Impossible():
				return []*reason.Why{{Code: reason.Label, Detail: "demands on " + r.Key + " in one term of node affinity exclude each other", Hint: hint}}
			case also && s.Meet(r).Impossible():
				return []*reason.Why{{
					Code: reason.Label, Detail: fmt.Sprintf("%s by its node selector and %s by its node affinity exclude each other", s, r), Hint: hint,
				}}
			}
		}
		return nil
	})
}
