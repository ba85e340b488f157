package enact

import (
	"cmp"
	"strings"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/wording"
)

// refusedEvery is how often a pod that stays refused gets the event again.
const refusedEvery = 5 * time.Minute

// Publish publishes the verdict on every pod of a plan. made are the claims of its asks by the ask's name.
func (e *Enactor) Publish(w *world.World, p plan.Plan, made map[string]string) {
	e.Targets.set(p, made)
	e.openings.forget(e.Now())
	e.Cluster.Plan(places(p, made))
	for _, a := range p.New {
		if name := made[a.Name]; name != "" {
			e.teller().Do(where, func() { e.nominate(w, a.Pods, wording.Nominated(a.Pool, name, "")) }, "NodeClaim", name)
		}
	}
	for _, f := range p.Filled {
		e.teller().Do(where, func() { e.nominate(w, f.Pods, wording.Nominated(poolOf(w, f), f.Claim, f.Node)) }, "place", cmp.Or(f.Node, f.Claim))
	}
	for _, r := range p.Refused {
		pod := w.Pod(r.Pod)
		if pod == nil || pod.Virtual || r.Gated() {
			continue
		}
		e.teller().Do(where, func() {
			e.Events.WarningEvery(refusedEvery, podRef(pod), "FailedScheduling", wording.Event(w, r))
		}, "Pod", pod.String())
	}
}

// unmade records on the pods of an ask that its claim could not be made, as when an
// admission webhook refuses it. The name of the claim, which is another at each
// try, is left out, so that the same cause is recorded once.
func (e *Enactor) unmade(w *world.World, a plan.Ask, c *v1.NodeClaim, err error) {
	why := err.Error()
	if c != nil {
		why = strings.ReplaceAll(why, c.Name, a.Pool.Name)
	}
	for _, k := range a.Pods {
		if pod := w.Pod(k); pod != nil && !pod.Virtual {
			e.Events.WarningEvery(refusedEvery, podRef(pod), "FailedScheduling", "Failed to schedule pod, the NodeClaim for it cannot be created and is tried again: "+why)
		}
	}
}

// Named records on the pods on their way to a Provisioner's claim the name of its
// node, which is known as soon as the machine is. Those of a NodePool were told
// the claim's.
func (e *Enactor) Named(c *v1.NodeClaim, node string) {
	name := c.Labels[v1alpha5.LabelProvisioner]
	if name == "" || node == "" {
		return
	}
	text := wording.Nominated(world.PoolID{Kind: world.Provisioner, Name: name}, c.Name, node)
	e.nominate(e.Cluster.Recent(time.Second), e.Targets.podsOf(c.Name), text)
}

func (e *Enactor) nominate(w *world.World, pods []world.Key, text string) {
	for _, k := range pods {
		if pod := w.Pod(k); pod != nil && !pod.Virtual {
			e.Events.Normal(podRef(pod), "Nominated", "%s", text)
		}
	}
}

// poolOf is the pool of existing capacity; zero if it is of no pool.
func poolOf(w *world.World, f plan.Fill) world.PoolID {
	for _, name := range []string{f.Node, f.Claim} {
		if p := w.Place(name); p != nil && p.Claim != nil {
			return p.Claim.Pool
		}
	}
	return world.PoolID{}
}
