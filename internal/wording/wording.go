// Package wording turns decisions into the sentences that people know from Karpenter's logs and events.
//
// The sentences are those of the documents that Tenon is followed by: clauses
// for a pod that finds no place, lines for machines that are asked for. All of
// it is made from a plan and its World; nothing is looked up.
package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// NoPools is what is said of a cluster in which pods wait and no pool is there to buy for them.
const NoPools = "Provisioning failed, creating scheduler, no provisioners found"

// maxTypesListed is how many instance types a line names before it says how many more there are.
const maxTypesListed = 5

// Refusal says why a pod found no place: what each pool has against it, the
// heaviest pool first. What machines have against it is left to `tenon explain`.
func Refusal(w *world.World, r plan.Refusal) string {
	if r.Why == nil {
		return ""
	}
	if r.Why.Code != reason.NoPlace {
		return plain(r.Why)
	}
	var clauses []string
	for _, c := range r.Why.Causes {
		if c.Code == reason.UnitMixUp {
			clauses = append(clauses, c.Subject+" "+c.Detail+": "+c.Hint)
		}
	}
	if len(w.Pools()) == 0 {
		return strings.Join(append(clauses, "no provisioners found"), "; ")
	}
	pools := slices.Clone(w.Pools())
	slices.SortStableFunc(pools, func(a, b *world.Pool) int { return cmp.Compare(b.Weight, a.Weight) })
	for _, p := range pools {
		if p.Replicas != nil {
			continue
		}
		if why := of(r.Why, p.ID); why != nil {
			clauses = append(clauses, phrasing{world: w, pod: w.Pod(r.Pod)}.poolClause(p, why))
		}
	}
	if len(clauses) == 0 {
		return plain(r.Why)
	}
	return strings.Join(clauses, "; ")
}

// of is what a pool has against the pod.
func of(why *reason.Why, id world.PoolID) *reason.Why {
	subject := id.Kind + " " + id.Name
	i := slices.IndexFunc(why.Causes, func(c *reason.Why) bool { return c.Subject == subject })
	if i < 0 {
		return nil
	}
	return why.Causes[i]
}

// plain words an objection that no pool raises.
func plain(why *reason.Why) string {
	if len(why.Causes) > 0 {
		parts := make([]string, len(why.Causes))
		for i, c := range why.Causes {
			parts[i] = plain(c)
		}
		return strings.Join(parts, "; ")
	}
	text := why.Detail
	if text == "" {
		text = string(why.Code)
	}
	if why.Subject != "" {
		text = why.Subject + ": " + text
	}
	if why.Hint != "" {
		text += ", " + why.Hint
	}
	return text
}

// Kind is what the log calls a pool of that kind, and the field that names it.
func Kind(id world.PoolID) string {
	if id.Kind == world.Provisioner {
		return "provisioner"
	}
	return "nodepool"
}

// Name is how a sentence names a pool.
func Name(id world.PoolID) string { return fmt.Sprintf("%s %q", Kind(id), id.Name) }

// Found says how many pods a decision has a place for; empty if it asks for nothing new.
func Found(p plan.Plan) string {
	if len(p.New) == 0 {
		return ""
	}
	n := 0
	for _, a := range p.New {
		n += len(a.Pods)
	}
	for _, f := range p.Filled {
		n += len(f.Pods)
	}
	return fmt.Sprintf("Found %d provisionable pod(s)", n)
}

// Launching says what machine is asked for, for how many pods, and of which types it may be, the cheapest first.
func Launching(a plan.Ask) string {
	names := make([]string, 0, maxTypesListed)
	for _, c := range a.Menu[:min(len(a.Menu), maxTypesListed)] {
		names = append(names, c.Shape)
	}
	if len(a.Menu) == 0 {
		names = append(names, a.Shape)
	}
	// Karpenter wrote "1 pods", and guides search the log for it.
	text := fmt.Sprintf("Launching node with %d pods requesting %s from types %s", len(a.Pods), Resources(a.Requests), strings.Join(names, ", "))
	if more := len(a.Menu) - maxTypesListed; more > 0 {
		text += fmt.Sprintf(" and %d other(s)", more)
	}
	return text
}

// Nominated tells a pod where it should find its place. The nodes of a
// Provisioner go by their names as soon as these are known; until then, and
// for everything else, kinds are named as well.
func Nominated(pool world.PoolID, claim, node string) string {
	switch {
	case pool.Kind == world.Provisioner && node != "":
		return "Pod should schedule on " + node
	case pool.Kind == world.Provisioner:
		return "Pod should schedule on " + claim
	case node == "":
		return "Pod should schedule on: nodeclaim/" + claim
	case claim == "":
		return "Pod should schedule on: node/" + node
	}
	return "Pod should schedule on: nodeclaim/" + claim + ", node/" + node
}
