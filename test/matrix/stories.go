package matrix

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// story is something that happens in a cluster, and how it ends.
type story struct {
	name   string
	before func(*testCluster)        // what there is before anything goes wrong
	act    func(*testCluster)        // what happens while it does
	done   func(*testCluster) string // what is missing at the end; empty: nothing
	buys   int                       // machines, at most
	queue  bool                      // the controller hears of interruptions
}

func newPool(name string) *v1.NodePool {
	return &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.NodePoolSpec{
			Disruption: v1.Disruption{ConsolidateAfter: "30s", ConsolidationPolicy: v1.WhenEmpty, Budgets: []v1.Budget{{Nodes: "100%"}}},
			Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "sim.tenon.sh", Kind: "Class", Name: "default"},
				Requirements: []v1.Requirement{
					{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
					{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large", "c5.large"}},
				},
				ExpireAfter: v1.Never,
			}},
		},
	}
}

// workload sets how many pods of a workload there are to be.
func (w *testCluster) workload(name, cpu string, replicas int) {
	if a := w.workers[name]; a != nil {
		a.replicas = replicas
		return
	}
	w.workers[name] = &workload{name: name, cpu: cpu, replicas: replicas}
}

// settled waits until all is quiet.
func (w *testCluster) settled() {
	w.t.Helper()
	if !w.live(20*time.Minute, func() bool { return w.unsettled() == "" }) {
		w.t.Fatalf("before anything went wrong: %s", w.unsettled())
	}
}

// grown is a cluster whose pods fill so many machines, each 1.5 cores on one of two.
func grown(pods int, change ...func(*v1.NodePool)) func(*testCluster) {
	return func(w *testCluster) {
		p := newPool("general")
		for _, c := range change {
			c(p)
		}
		w.add(p)
		w.workload("web", "1500m", pods)
		w.pass(10 * time.Second)
		w.settled()
		w.pass(time.Minute)
	}
}

// nodes says how many nodes are missing or too many.
func nodes(want int) func(*testCluster) string {
	return func(w *testCluster) string {
		if n := len(all[corev1.Node](w.api)); n != want {
			return fmt.Sprintf("%d nodes, not %d", n, want)
		}
		return ""
	}
}

// replaced says that a node is still there that was to go, and how many there are to be.
func replaced(w *testCluster, old []string, want int) string {
	for _, n := range all[corev1.Node](w.api) {
		if slices.Contains(old, n.Name) {
			return "node " + n.Name + " is still there"
		}
	}
	return nodes(want)(w)
}

func nodeNames(w *testCluster) []string {
	var out []string
	for _, n := range all[corev1.Node](w.api) {
		out = append(out, n.Name)
	}
	return out
}

// renewal is a story in which every node there is gives way to another.
func renewal(name string, pods, buys int, change func(*v1.NodePool), act func(*testCluster)) story {
	var old []string
	return story{
		name: name, buys: buys,
		before: func(w *testCluster) {
			grown(pods, func(p *v1.NodePool) {
				if change != nil {
					change(p)
				}
			})(w)
			old = nodeNames(w)
		},
		act:  act,
		done: func(w *testCluster) string { return replaced(w, old, pods) },
	}
}

// spotInterruption is a story in which the cloud takes two spot machines back, one after the other.
func spotInterruption() story {
	s := renewal("spot interruption", 2, 4, func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements[0].Values = []string{"spot"}
	}, func(w *testCluster) {
		for _, i := range w.market.Instances() {
			if i.State == market.Running {
				if err := w.market.Interrupt(i.ID); err != nil {
					w.t.Error(err)
				}
				w.pass(30 * time.Second)
			}
		}
	})
	s.queue = true
	return s
}

// stories are all of them.
func stories() []story {
	return []story{
		{
			name: "scale up", before: grown(1), buys: 4,
			act:  func(w *testCluster) { w.workload("web", "", 4) },
			done: nodes(4),
		},
		{
			name: "scale down", before: grown(3), buys: 3,
			act:  func(w *testCluster) { w.workload("web", "", 1) },
			done: nodes(1),
		},
		{
			name: "first node", before: func(w *testCluster) { w.add(newPool("general")); w.pass(30 * time.Second) }, buys: 1,
			act:  func(w *testCluster) { w.workload("web", "1500m", 1) },
			done: nodes(1),
		},
		renewal("replacement by drift", 2, 4, nil, func(w *testCluster) {
			for _, p := range all[v1.NodePool](w.api) {
				edit(w.api, p, func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"generation": "two"}; p.Generation++ })
			}
		}),
		{
			name: "consolidation", buys: 4,
			before: func(w *testCluster) {
				p := newPool("general")
				p.Spec.Disruption.ConsolidationPolicy = v1.WhenEmptyOrUnderutilized
				w.add(p)
				w.workload("web", "1500m", 2)
				w.pass(10 * time.Second)
				w.settled()
			},
			act: func(w *testCluster) { // a small pod on each node: one will do
				w.workload("small", "300m", 2)
				w.workload("web", "", 0)
			},
			done: nodes(1),
		},
		renewal("drain with a budget", 2, 4, nil, func(w *testCluster) {
			one := intstr.FromInt32(1)
			w.add(&policyv1.PodDisruptionBudget{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
				Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
			})
			for _, n := range all[corev1.Node](w.api) {
				w.api.Remove(n, nil)
			}
		}),
		renewal("deletion of a claim", 1, 2, nil, func(w *testCluster) {
			for _, c := range all[v1.NodeClaim](w.api) {
				w.api.Remove(c, nil)
			}
		}),
		renewal("expiry", 1, 12, func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "30m" }, func(w *testCluster) {}),
		{
			name: "deletion of a pool", buys: 4,
			before: grown(2),
			act: func(w *testCluster) {
				w.add(newPool("other"))
				for _, p := range all[v1.NodePool](w.api) {
					if p.Name == "general" {
						w.api.Remove(p, nil)
					}
				}
			},
			done: func(w *testCluster) string {
				for _, n := range all[corev1.Node](w.api) {
					if n.Labels[v1.LabelNodePool] != "other" {
						return "node " + n.Name + " of the deleted pool is still there"
					}
				}
				return nodes(2)(w)
			},
		},
		{
			name: "start with machines there", buys: 3,
			before: func(w *testCluster) { grown(2)(w); w.kill() },
			act: func(w *testCluster) {
				w.workload("web", "", 3)
				w.pass(5 * time.Second)
				w.start()
			},
			done: nodes(3),
		},
		{
			name: "adoption", buys: 2,
			before: func(w *testCluster) {
				grown(2)(w)
				w.kill()
				for _, c := range all[v1.NodeClaim](w.api) { // as after a restore of a backup without claims
					edit(w.api, c, func(c *v1.NodeClaim) { c.Finalizers = nil })
					for _, n := range all[corev1.Node](w.api) {
						edit(w.api, n, func(n *corev1.Node) { n.OwnerReferences = nil })
					}
					w.api.Remove(c, nil)
				}
			},
			act:  func(w *testCluster) { w.start() },
			done: nodes(2),
		},
		spotInterruption(),
		{
			name: "death of a machine", buys: 3,
			before: grown(2),
			act: func(w *testCluster) {
				for _, i := range w.market.Instances() {
					if i.State == market.Running {
						if err := w.market.Kill(i.ID); err != nil {
							w.t.Error(err)
						}
						return
					}
				}
			},
			done: nodes(2),
		},
	}
}
