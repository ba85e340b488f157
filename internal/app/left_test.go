package app_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// left tells all there is to know of pods that do not run although they should:
// what kube-scheduler and events say of them, where the cluster state and the last plan
// have them, and which nodes and claims have room.
func (h fixture) left(ns string) string {
	ctx := context.Background()
	var pods corev1.PodList
	var nodes corev1.NodeList
	if err := h.client.List(ctx, &pods, client.InNamespace(ns)); err != nil {
		return err.Error()
	}
	if err := h.client.List(ctx, &nodes); err != nil {
		return err.Error()
	}
	claims, err := h.claims()
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&out, format+"\n", args...) }
	say("%d pods, %d nodes, %d claims", len(pods.Items), len(nodes.Items), len(claims))
	w, last := h.app.Cluster.World(), plan.Plan{}
	if e, ok := h.app.Journal.Last(journal.Buy); ok {
		last = e.Plan
		say("last decision %d s ago: %d new, %d filled, %d held, %d refused", w.At()-last.At, len(last.New), len(last.Filled), len(last.Held), len(last.Refused))
	}
	used := map[string][]string{}
	for _, p := range pods.Items {
		used[p.Spec.NodeName] = append(used[p.Spec.NodeName], p.Name)
		if p.Status.NominatedNodeName != "" {
			used[p.Status.NominatedNodeName] = append(used[p.Status.NominatedNodeName], p.Name+" (nominated)")
		}
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			continue
		}
		say("pod %s: %s, node %q, nominated %q, deleted %v", p.Name, p.Status.Phase, p.Spec.NodeName, p.Status.NominatedNodeName, p.DeletionTimestamp)
		for _, c := range p.Status.Conditions {
			say("  %s %s since %s: %s", c.Type, c.Status, c.LastTransitionTime.Format("15:04:05"), cmp.Or(c.Message, c.Reason))
		}
		key := world.Key{Namespace: p.Namespace, Name: p.Name}
		if seen := w.Pod(key); seen != nil {
			say("  in the cluster state: waiting %t, node %q, nominated %q, by us %t, planned %q", seen.Waiting, seen.Node, seen.Nominated, seen.Promised, seen.Planned)
		}
		say("  the last plan: %s", verdict(last, key))
		h.told(ns, p.Name, say)
	}
	for _, n := range nodes.Items {
		if len(used[n.Name]) == 1 && !strings.HasSuffix(used[n.Name][0], ")") && n.DeletionTimestamp == nil {
			continue
		}
		say("node %s: pods %v, taints %v, deleted %v", n.Name, used[n.Name], n.Spec.Taints, n.DeletionTimestamp)
	}
	for _, c := range claims {
		if c.Status.NodeName == "" || c.DeletionTimestamp != nil {
			say("claim %s: node %q, deleted %v, %+v", c.Name, c.Status.NodeName, c.DeletionTimestamp, c.Status.Conditions)
		}
	}
	return out.String()
}

// verdict is what a plan says of a pod.
func verdict(p plan.Plan, k world.Key) string {
	for _, a := range p.New {
		if slices.Contains(a.Pods, k) {
			return "new " + a.Name
		}
	}
	for what, fills := range map[string][]plan.Fill{"filled": p.Filled, "held": p.Held} {
		for _, f := range fills {
			if slices.Contains(f.Pods, k) {
				return fmt.Sprintf("%s node %q claim %q", what, f.Node, f.Claim)
			}
		}
	}
	for _, r := range p.Refused {
		if r.Pod == k {
			return fmt.Sprint("refused: ", r.Why)
		}
	}
	return "nothing"
}

// told says the events of a pod.
func (h fixture) told(ns, pod string, say func(string, ...any)) {
	var events corev1.EventList
	if err := h.client.List(context.Background(), &events, client.InNamespace(ns), client.MatchingFields{"involvedObject.name": pod}); err != nil {
		say("  events: %v", err)
		return
	}
	for _, e := range events.Items {
		at := cmp.Or(e.LastTimestamp.Time, e.EventTime.Time)
		if e.Series != nil {
			at = e.Series.LastObservedTime.Time
		}
		say("  event %s %s %s: %s", at.Format("15:04:05"), cmp.Or(e.Source.Component, e.ReportingController), e.Reason, e.Message)
	}
}
