package oracle

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/room"
)

// Where a ledger of room sends the pods of a node that goes, kube-scheduler's
// filters accept them one after the other; and they accept none of those that it
// finds no place for.
func TestMovesAreRight(t *testing.T) {
	oracle := converse(t)
	cleared, kept := 0, 0
	for seed := *first; seed < *first+uint64(*worlds/3); seed++ { //nolint:gosec // a small number; every node of each is asked about
		c := generate(seed).standing()
		w, err := c.world()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		c = c.carry(provision.Decide(w, provision.Options{}))
		if w, err = c.world(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		l := room.Open(w)
		for _, p := range w.Places() {
			q := c.without(p.Name()).ask(p.Name(), plan.Plan{})
			mark := l.Mark()
			moves, homeless := l.Place(l.Remove(p))
			l.Undo(mark)
			for _, m := range moves {
				q.Placements[m.Pod.String()] = m.To.Name()
			}
			for _, h := range homeless {
				q.Refused[h.String()] = nil
			}
			if len(homeless) > 0 {
				kept++
			} else if len(moves) > 0 {
				cleared++
			}
			v, err := oracle.Ask(q)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if len(v.Wrong)+len(v.Possible) > 0 {
				t.Errorf("seed %d without %s:\n  refused by the scheduler: %q\n  refused by us, possible: %q\n  moved %v, homeless %v", seed, p.Name(), v.Wrong, v.Possible, moves, homeless)
			}
		}
	}
	if cleared == 0 || kept == 0 {
		t.Errorf("%d nodes could go and %d could not", cleared, kept)
	}
	t.Logf("%d nodes can go, %d cannot", cleared, kept)
}

// carry is the cluster when the plan has been carried out, without the pods that it refuses.
func (c *Cluster) carry(p plan.Plan) *Cluster {
	q := c.ask("", p)
	out := *c
	out.Nodes, out.Pods, out.late = q.Nodes, nil, false
	for _, pod := range q.Pods {
		if node, placed := q.Placements[pod.Namespace+"/"+pod.Name]; placed {
			pod.Spec.NodeName, pod.Status = node, corev1.PodStatus{Phase: corev1.PodRunning}
		}
		if pod.Spec.NodeName != "" {
			out.Pods = append(out.Pods, pod)
		}
	}
	return &out
}

// without is the cluster without a node, whose pods wait but for the daemons'.
func (c *Cluster) without(node string) *Cluster {
	out := *c
	out.Nodes = slices.DeleteFunc(slices.Clone(c.Nodes), func(n corev1.Node) bool { return n.Name == node })
	out.Pods = nil
	for _, p := range c.Pods {
		if p.Spec.NodeName == node {
			if len(p.OwnerReferences) > 0 {
				continue
			}
			p.Spec.NodeName, p.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable},
			}}
		}
		out.Pods = append(out.Pods, p)
	}
	return &out
}
