package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/market"
	"github.com/tenon-sh/tenon/test/stage"
)

// pending are the checks of what pods get that wait.
func pending() []check {
	return []check{
		{name: "C1", run: aPodGetsAClaim},
		{name: "C2", run: theHeavierPool},
		{name: "C3", run: nobodyHasTheLabel},
		{name: "C4", run: zonesAreBalanced},
		{name: "C5", run: hostsAreApart},
		{name: "C8", run: noCapacity},
		{name: "C22", run: theLimitIsReached},
		{name: "C23", run: tooFewFamilies},
		{name: "C29", run: nodesOfOthers},
		{name: "NotReadyPool", run: aPoolWithoutItsClass},
		{name: "RefusedPods", run: podsNobodyServes},
	}
}

// A pod that finds no place gets a claim of a ready pool, and the claim a node.
func aPodGetsAClaim(s *story) {
	p := s.pool(func(p *v1.NodePool) {
		t := &p.Spec.Template
		t.Labels, t.Annotations = map[string]string{"team": "blue"}, map[string]string{"example.com/note": "kept"}
		t.Spec.Taints = []corev1.Taint{{Key: "example.com/own", Value: "yes", Effect: corev1.TaintEffectNoSchedule}}
		t.Spec.ExpireAfter = "240h"
	})
	s.condition(p, "Ready", metav1.ConditionTrue, "Ready")
	began := time.Now()
	pod := s.pod("web", func(p *corev1.Pod) {
		p.Spec.Tolerations = []corev1.Toleration{{Key: "example.com/own", Operator: corev1.TolerationOpExists}}
	})
	c := s.has(1)[0]
	s.Logf("the claim is there after %s", time.Since(began).Round(10*time.Millisecond))
	if err := s.get(p); err != nil {
		s.Fatal(err)
	}
	if err := claimIsThePools(&c, p); err != nil {
		s.Errorf("claim %s: %v", c.Name, err)
	}
	s.event(pod, "Nominated", "nodeclaim/"+c.Name)
	node := s.runs(pod)
	c = s.ready(1)[0]
	if err := nodeIsTheClaims(&c, s.nodeOf(&c), node); err != nil {
		s.Errorf("claim %s and node %s: %v", c.Name, node, err)
	}
	s.condition(&c, v1.ConditionConsistentStateFound, metav1.ConditionTrue, v1.ConditionConsistentStateFound)
	s.condition(p, v1.ConditionNodeRegistrationHealthy, metav1.ConditionTrue, v1.ConditionNodeRegistrationHealthy)
	s.await(func() error {
		var i isnt
		if err := s.get(p); err != nil {
			return err
		}
		has := p.Status.Resources
		i.is(p.Status.Nodes != nil && *p.Status.Nodes == 1, "status.nodes is %v, want 1", p.Status.Nodes)
		i.is(has.Cpu().Value() == 2, "status.resources says cpu %s, want 2", has.Cpu())
		for _, name := range []corev1.ResourceName{"cpu", "memory", "pods", "ephemeral-storage", "nodes"} {
			q, ok := has[name]
			i.is(ok && !q.IsZero(), "status.resources says %s %s", name, q.String())
		}
		return i.err()
	})
}

func claimIsThePools(c *v1.NodeClaim, p *v1.NodePool) error {
	var i isnt
	i.is(regexp.MustCompile("^"+p.Name+"-[a-z0-9]{5}$").MatchString(c.Name), "its name is not the pool's and five letters")
	if i.is(len(c.OwnerReferences) == 1, "its owners are %v", c.OwnerReferences); len(c.OwnerReferences) == 1 {
		o := c.OwnerReferences[0]
		i.is(o.Kind == "NodePool" && o.APIVersion == "karpenter.sh/v1" && o.Name == p.Name && o.UID == p.UID, "its owner is %v", o)
		i.is(o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion && (o.Controller == nil || !*o.Controller), "its owner is %+v, want it to block deletion and not to control", o)
	}
	for _, key := range []string{"karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"} {
		i.is(c.Annotations[key] != "" && c.Annotations[key] == p.Annotations[key], "annotation %s is %q, the pool's is %q", key, c.Annotations[key], p.Annotations[key])
	}
	for key, want := range map[string]string{"karpenter.sh/nodepool": p.Name, "karpenter.k8s.aws/ec2nodeclass": "default", "team": "blue"} {
		i.is(c.Labels[key] == want, "label %s is %q, want %q", key, c.Labels[key], want)
	}
	i.is(c.Annotations["example.com/note"] == "kept", "the template's annotation is missing")
	i.is(slices.Contains(c.Finalizers, "karpenter.sh/termination"), "its finalizers are %v", c.Finalizers)
	cpu := c.Spec.Resources.Requests["cpu"]
	i.is(cpu.Cmp(resource.MustParse("1")) >= 0, "it requests cpu %s, want at least the pod's 1", cpu.String())
	i.is(c.Spec.ExpireAfter == "240h", "it expires after %s", c.Spec.ExpireAfter)
	i.is(len(c.Spec.Taints) == 1 && c.Spec.Taints[0].Key == "example.com/own", "its taints are %v", c.Spec.Taints)
	i.is(*c.Spec.NodeClassRef == *p.Spec.Template.Spec.NodeClassRef, "its class is %v", c.Spec.NodeClassRef)
	kinds := map[string]bool{}
	for _, r := range c.Spec.Requirements {
		kinds[r.Key] = true
	}
	i.is(kinds["karpenter.sh/capacity-type"] && kinds["node.kubernetes.io/instance-type"], "its requirements are %v", c.Spec.Requirements)
	return i.err()
}

func nodeIsTheClaims(c *v1.NodeClaim, n *corev1.Node, runsOn string) error {
	var i isnt
	i.is(n.Name == runsOn, "the pod runs on %s", runsOn)
	i.is(n.Spec.ProviderID == c.Status.ProviderID && c.Status.ProviderID != "", "provider IDs are %q and %q", n.Spec.ProviderID, c.Status.ProviderID)
	i.is(strings.HasPrefix(c.Status.ImageID, "ami-"), "the image is %q", c.Status.ImageID)
	for _, name := range []corev1.ResourceName{"cpu", "memory", "pods"} {
		capacity, allocatable := c.Status.Capacity[name], c.Status.Allocatable[name]
		i.is(!capacity.IsZero() && !allocatable.IsZero() && allocatable.Cmp(capacity) <= 0, "%s: capacity %s, allocatable %s", name, capacity.String(), allocatable.String())
	}
	for _, kind := range []string{"Launched", "Registered", "Initialized", "Ready"} {
		s := c.Conditions().Get(kind)
		i.is(s != nil && s.Status == metav1.ConditionTrue && s.Reason == kind && s.ObservedGeneration == c.Generation, "condition %s is %+v", kind, s)
	}
	last := c.Status.Conditions[len(c.Status.Conditions)-1]
	i.is(last.Type == "Ready", "the last condition is %s", last.Type)
	for key, want := range map[string]string{
		"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true", "karpenter.sh/nodepool": c.Labels["karpenter.sh/nodepool"],
		"karpenter.k8s.aws/ec2nodeclass": "default", "karpenter.sh/capacity-type": "on-demand", "team": "blue",
		"node.kubernetes.io/instance-type": c.Labels["node.kubernetes.io/instance-type"], "topology.kubernetes.io/zone": c.Labels["topology.kubernetes.io/zone"],
		"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "topology.kubernetes.io/region": stage.Region,
	} {
		i.is(want != "" && n.Labels[key] == want, "the node's label %s is %q, want %q", key, n.Labels[key], want)
	}
	i.is(n.Annotations["example.com/note"] == "kept", "the template's annotation is missing on the node")
	i.is(slices.Contains(n.Finalizers, "karpenter.sh/termination"), "the node's finalizers are %v", n.Finalizers)
	i.is(slices.ContainsFunc(n.OwnerReferences, func(o metav1.OwnerReference) bool {
		return o.Kind == "NodeClaim" && o.UID == c.UID && o.BlockOwnerDeletion != nil && *o.BlockOwnerDeletion
	}), "the node's owners are %v", n.OwnerReferences)
	i.is(!tainted(n, "karpenter.sh/unregistered", corev1.TaintEffectNoExecute), "the node is still tainted as unregistered")
	i.is(tainted(n, "example.com/own", corev1.TaintEffectNoSchedule), "the pool's taint is missing: %v", n.Spec.Taints)
	return i.err()
}

// Of two pools that fit the heavier is used; of two of equal weight that with
// the later name.
func theHeavierPool(s *story) {
	weigh := func(weight int32, team string) func(*v1.NodePool) {
		return func(p *v1.NodePool) {
			p.Spec.Weight, p.Spec.Template.Labels = &weight, map[string]string{"team": team}
		}
	}
	s.poolOf("c2-heavy", weigh(10, "c2"))
	s.poolOf("c2-light", weigh(1, "c2"))
	s.poolOf("c2-equal-a", weigh(5, "c2-equal"))
	s.poolOf("c2-equal-b", weigh(5, "c2-equal"))
	for _, team := range []string{"c2", "c2-equal"} {
		s.pod("of-"+team, func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": team} })
	}
	s.await(func() error {
		var i isnt
		for name, want := range map[string]int{"c2-heavy": 1, "c2-light": 0, "c2-equal-a": 0, "c2-equal-b": 1} {
			n := len(s.claims(name))
			i.is(n == want, "%d claims of pool %s, want %d", n, name, want)
		}
		return i.err()
	})
}

// A pod that wants what no pool has gets no claim, and is told what it is.
func nobodyHasTheLabel(s *story) {
	s.pool()
	pod := s.pod("web", func(p *corev1.Pod) { p.Spec.NodeSelector["example.com/no-node-has"] = "it" })
	e := s.event(pod, "FailedScheduling", "example.com/no-node-has")
	if e.Type != corev1.EventTypeWarning {
		s.Errorf("the event is %s", e.Type)
	}
	if n := len(s.claims(s.name)); n != 0 {
		s.Errorf("%d claims", n)
	}
}

// Six pods that are to be spread over three zones are planned two to each.
func zonesAreBalanced(s *story) {
	s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.Requirement{
			Key: v1.LabelZone, Operator: corev1.NodeSelectorOpIn, Values: []string{"us-west-2a", "us-west-2b", "us-west-2c"},
		})
	})
	d := stage.Apart(s.ns, "web", 6)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: v1.LabelZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: d.Spec.Selector,
	}}
	s.create(d)
	zones := map[string]int{}
	for _, c := range s.has(6) {
		for _, r := range c.Spec.Requirements {
			if r.Key == v1.LabelZone && len(r.Values) == 1 {
				zones[r.Values[0]]++
			}
		}
	}
	if fmt.Sprint(zones) != "map[us-west-2a:2 us-west-2b:2 us-west-2c:2]" {
		s.Errorf("the claims' requirements say of zones %v", zones)
	}
}

// Five pods that must not meet get five claims.
func hostsAreApart(s *story) {
	s.pool()
	d := stage.Apart(s.ns, "web", 5)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	s.ready(5)
}

// A claim that cannot be had for want of capacity is deleted, says why, and its
// pod is planned again without what is sold out.
func noCapacity(s *story) {
	heavy := int32(50)
	team := func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "c8"} }
	s.Account.Market.SetCapacity(market.Capacity{Type: "r5.xlarge"})
	s.pool(team, only("r5.xlarge"), func(p *v1.NodePool) { p.Spec.Weight = &heavy })
	s.poolOf("c8-other", team)
	pod := s.pod("web", func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": "c8"} })
	s.await(func() error {
		var list corev1.EventList
		if err := s.Client.List(s.Context(), &list); err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.InvolvedObject.Kind == "NodeClaim" && strings.HasPrefix(e.InvolvedObject.Name, s.name+"-") && e.Reason == "InsufficientCapacityError" && e.Type == "Warning" {
				return nil
			}
		}
		return fmt.Errorf("no event InsufficientCapacityError about a claim of pool %s", s.name)
	})
	s.runs(pod)
	if sold, bought := len(s.claims(s.name)), len(s.claims("c8-other")); sold != 0 || bought != 1 {
		s.Errorf("%d claims of the pool that is sold out and %d of the other, want 0 and 1", sold, bought)
	}
}

// At a pool's limit pods stay pending and are told so; nodes are left alone.
func theLimitIsReached(s *story) {
	s.pool(only("m5.large"), func(p *v1.NodePool) { p.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse("3")} })
	first := s.pod("first")
	node := s.runs(first)
	second := s.pod("second")
	s.event(second, "FailedScheduling", s.name, "limit")
	s.stays(3*time.Second, func() error {
		var i isnt
		if err := s.get(first); err != nil {
			return err
		}
		n := len(s.claims(s.name))
		i.is(n == 1 && first.Spec.NodeName == node, "%d claims, and the first pod is on %q", n, first.Spec.NodeName)
		return i.err()
	})
}

// Where a pool wants more families than it can have, nothing is bought.
func tooFewFamilies(s *story) {
	three := 3
	s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, v1.Requirement{
			Key: "karpenter.k8s.aws/instance-family", Operator: corev1.NodeSelectorOpExists, MinValues: &three,
		})
	})
	pod := s.pod("web")
	s.event(pod, "FailedScheduling", "minValues")
	if n := len(s.claims(s.name)); n != 0 {
		s.Errorf("%d claims", n)
	}
}

// Nodes of others take pods as they are, and are never disrupted.
func nodesOfOthers(s *story) {
	room := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("20")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "c29-other", Labels: map[string]string{"team": "c29", v1.LabelHostname: "c29-other"}, Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room},
	}
	s.create(n)
	// Until it is ready it takes no pods, and machines are rightly bought.
	s.await(func() error {
		if err := s.get(n); err != nil {
			return err
		}
		ready := slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
			return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
		})
		if !ready || len(n.Spec.Taints) > 0 {
			return fmt.Errorf("node %s is not ready; its taints: %v", n.Name, n.Spec.Taints)
		}
		return nil
	})
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Labels = map[string]string{"team": "c29"} })
	var pods []client.Object
	for i := range 3 {
		pods = append(pods, s.pod(fmt.Sprint("web-", i), func(p *corev1.Pod) { p.Spec.NodeSelector = map[string]string{"team": "c29"} }))
	}
	for _, p := range pods {
		if at := s.runs(p.(*corev1.Pod)); at != n.Name {
			s.Errorf("pod %s runs on %s", p.GetName(), at)
		}
	}
	s.Drop(s.T, pods...)
	s.stays(4*time.Second, func() error {
		var i isnt
		if err := s.get(n); err != nil {
			return err
		}
		i.is(n.DeletionTimestamp == nil && len(n.Finalizers) == 0 && !tainted(n, v1.TaintDisrupted, corev1.TaintEffectNoSchedule), "it was touched: %v %v", n.Finalizers, n.Spec.Taints)
		i.is(len(s.claims(s.name)) == 0, "a claim was made")
		return i.err()
	})
}

// A pool whose class is missing is not ready and says so; nothing is bought of
// it until there is one.
func aPoolWithoutItsClass(s *story) {
	p := s.pool(func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "later" })
	s.condition(p, v1.ConditionNodeClassReady, metav1.ConditionFalse, v1.ReasonNodeClassNotFound)
	c := s.condition(p, "Ready", metav1.ConditionFalse, "UnhealthyDependents")
	if !strings.Contains(c.Message, "NodeClassReady=False") {
		s.Errorf("Ready says %q", c.Message)
	}
	s.condition(p, v1.ConditionValidationSucceeded, metav1.ConditionTrue, v1.ConditionValidationSucceeded)
	pod := s.pod("web")
	s.event(pod, "FailedScheduling", s.name)
	class := s.Class()
	class.Name = "later"
	s.create(class)
	s.condition(p, "Ready", metav1.ConditionTrue, "Ready")
	s.runs(pod)
	s.Drop(s.T, class)
	s.condition(p, v1.ConditionNodeClassReady, metav1.ConditionFalse, v1.ReasonNodeClassTerminating)
	if err := s.get(class); err != nil || class.DeletionTimestamp == nil {
		s.Errorf("the class did not wait for its claims: %v", err)
	}
	s.Drop(s.T, pod, p)
	s.gone(class)
}

// Pods that no node could take cost nothing and are told why; those that are
// held back are told nothing.
func podsNobodyServes(s *story) {
	s.pool()
	large := s.pod("large", func(p *corev1.Pod) { p.Spec.Containers[0].Resources.Requests["cpu"] = resource.MustParse("900") })
	tainted := s.pod("tainted", func(p *corev1.Pod) { p.Spec.NodeSelector[v1.LabelZone] = "eu-north-1a" })
	gated := s.pod("gated", func(p *corev1.Pod) { p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}} })
	s.event(large, "FailedScheduling", s.name)
	s.event(tainted, "FailedScheduling", v1.LabelZone)
	if n := len(s.claims(s.name)); n != 0 {
		s.Errorf("%d claims", n)
	}
	if said := s.events(gated); len(said) > 0 {
		s.Errorf("a pod that is held back was told: %q", said[0].Message)
	}
}
