package enact

import (
	"time"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// refusedEvery is how often a pod that stays refused is told so.
const refusedEvery = 5 * time.Minute

// Tell publishes the verdict on every pod of a plan. made are the claims of its asks by the ask's name.
func (e *Enactor) Tell(w *world.World, p plan.Plan, made map[string]string) {
	e.Targets.set(p, made)
	for _, a := range p.New {
		name := made[a.Name]
		if name == "" {
			continue
		}
		for _, k := range a.Pods {
			if pod := w.Pod(k); pod != nil {
				e.Events.Normal(podRef(pod), "Nominated", "Pod should schedule on: nodeclaim/%s", name)
			}
		}
	}
	for _, f := range p.Filled {
		target := "nodeclaim/" + f.Claim
		if f.Node != "" {
			target = "node/" + f.Node
			if f.Claim != "" {
				target = "nodeclaim/" + f.Claim + ", " + target
			}
		}
		for _, k := range f.Pods {
			if pod := w.Pod(k); pod != nil {
				e.Events.Normal(podRef(pod), "Nominated", "Pod should schedule on: %s", target)
			}
		}
	}
	for _, r := range p.Refused {
		pod := w.Pod(r.Pod)
		if pod == nil || Silent(r) {
			continue
		}
		e.Events.WarningEvery(refusedEvery, podRef(pod), "FailedScheduling", "Failed to schedule pod, "+r.Why.Line())
	}
}

// Silent reports whether a refusal is what the pod's owner asked for, so that
// nobody needs to be told: its scheduling is held back, or it forbids our nodes.
func Silent(r plan.Refusal) bool {
	return r.Why != nil && (r.Why.Code == reason.Gated || r.Why.Code == reason.NotOurs)
}
