package matrix

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// What is asked of the API server for a node, from the wish for it until it is
// initialized, and for pods that keep coming to it. Nodes are prepared for half a
// minute first, and change all the time while they are. A number here that grows is
// a write more for each node that anyone ever gets.
func TestCallsOfANode(t *testing.T) {
	const (
		machines = 8
		churn    = 60 // seconds, in each of which a pod comes somewhere
	)
	r := quiet(t)
	synctest.Test(t, func(t *testing.T) {
		w := newTestCluster(t, r)
		defer w.end()
		startup := corev1.Taint{Key: "example.com/preparing", Effect: corev1.TaintEffectNoSchedule}
		p := newPool("general")
		p.Spec.Template.Spec.StartupTaints = []corev1.Taint{startup}
		p.Spec.Disruption.ConsolidateAfter = "10m"
		w.add(p)
		w.workload("web", "1500m", machines)
		calls := map[string]int{}
		w.api.Fail("count", func(q request) answer {
			if q.Verb != "list" && q.Verb != "watch" { // they are for all nodes
				calls[q.Verb+" "+q.Resource]++
			}
			return answer{}
		})
		w.start()
		if !w.live(10*time.Minute, func() bool { return w.are(v1.ConditionRegistered) == machines }) {
			t.Fatalf("%d of %d claims are registered", w.are(v1.ConditionRegistered), machines)
		}
		for range 15 { // seconds, and as many changes of each node
			w.pass(time.Second)
			for _, n := range all[corev1.Node](w.api) {
				edit(w.api, n, func(n *corev1.Node) { n.Status.NodeInfo.BootID = time.Now().String() })
			}
		}
		for _, n := range all[corev1.Node](w.api) {
			edit(w.api, n, func(n *corev1.Node) {
				n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == startup.Key })
			})
		}
		if !w.live(time.Minute, func() bool { return w.are(v1.ConditionInitialized) == machines }) {
			t.Fatalf("%d of %d claims are initialized", w.are(v1.ConditionInitialized), machines)
		}
		expect(t, "until they are initialized", calls, map[string]float64{
			"create nodeclaims":       machines,
			"patch nodeclaims":        2 * machines, // its order, and the labels of its machine
			"patch nodeclaims/status": 5 * machines, // launched, registered, what it waits for, initialized, a pod came
			"patch nodes":             2 * machines, // registered, initialized
			"get nodes":               machines,
		})
		w.pass(time.Minute)
		clear(calls)
		for i := range churn {
			w.workload(fmt.Sprint("small-", i), "10m", 1)
			w.pass(time.Second)
		}
		expect(t, "while pods come", calls, map[string]float64{"patch nodeclaims/status": churn/10 + 2})
	})
}

// expect says what was asked more often than it may be.
func expect(t *testing.T, when string, calls map[string]int, most map[string]float64) {
	t.Helper()
	for _, what := range []string{"create nodeclaims", "patch nodeclaims", "patch nodeclaims/status", "get nodeclaims", "patch nodes", "get nodes", "get ec2nodeclasses"} {
		if float64(calls[what]) > most[what] {
			t.Errorf("%s: %d times %s, want %.0f at most", when, calls[what], what, most[what])
		}
	}
}

// are is how many claims have a condition.
func (w *testCluster) are(condition string) int {
	n := 0
	for _, c := range all[v1.NodeClaim](w.api) {
		if c.Conditions().Is(condition) {
			n++
		}
	}
	return n
}
