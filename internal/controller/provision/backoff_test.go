package provision_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	engine "github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/provision"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
)

// The times of a machine, in seconds after its claim.
const (
	launches = 1
	joins    = 20
	ready    = 25
	gives    = 15 * 60 // it is given up that has not joined
)

// simulation is a cluster with one pool in which a second passes at a time: the
// cluster state, the decisions and what carries them out are real, the machines,
// kube-scheduler and the DaemonSet controller are told here.
type simulation struct {
	*testing.T
	now    time.Time
	store  client.WithWatch
	state  *cluster.Cluster
	enact  *enact.Enactor
	buy    *provision.Controller
	serial atomic.Int64

	pods     map[string]*corev1.Pod
	claims   map[string]time.Time // when each was made
	bought   []time.Time
	machines map[string]*corev1.Node // by claim

	// What is wrong here.
	daemon   string                     // what a daemon pod really requests of cpu
	launch   func(*v1.NodeClaim) string // why it fails; empty if it does not
	soldOut  bool                       // that is because the cloud has none
	mute     bool                       // machines never join
	poisoned []corev1.Taint             // what another puts on nodes that are ready
}

type silent struct{}

func (silent) Decided(plan.Plan) {}

const template = world.TemplateID("test/Class/default")

func newCell(t *testing.T, emptyAfter time.Duration) *simulation {
	t.Helper()
	c := &simulation{T: t, now: time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC), pods: map[string]*corev1.Pod{}, claims: map[string]time.Time{}, machines: map[string]*corev1.Node{}}
	c.store = apitest.New(t, c.clock)
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "general"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "test", Kind: "Class", Name: "default"}
	pool.Spec.Disruption = v1.Disruption{ConsolidationPolicy: v1.WhenEmpty, ConsolidateAfter: v1.After(emptyAfter)}
	if err := c.store.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	pool.Conditions().True(v1.ConditionValidationSucceeded, "", "", c.now)
	pool.Conditions().True(v1.ConditionNodeClassReady, "", "", c.now)
	set, err := metric.New(prometheus.NewRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	c.state = cluster.New(c.clock)
	c.state.SetNodePool(pool)
	c.state.Publish(catalog())
	targets := &enact.Targets{}
	c.enact = &enact.Enactor{
		Client: c.store, Cluster: c.state, Events: (*loop.Events)(nil), Metrics: set, Now: c.clock, Log: logr.Discard(), Targets: targets,
		Suffix: func() string { return fmt.Sprintf("%05d", c.serial.Add(1)) },
	}
	c.buy = &provision.Controller{Cluster: c.state, Enact: c.enact, Journal: journal.New(1, "", nil), Metrics: set, Now: c.clock, Log: logr.Discard(), Verdicts: silent{}}
	return c
}

func (c *simulation) clock() time.Time { return c.now }

// catalog sells machines of two cores and up.
func catalog() world.Catalog {
	out := world.Catalog{Template: template, Version: "1"}
	for _, cores := range []int64{2, 4, 8, 16} {
		name := fmt.Sprintf("m.%d", cores)
		out.Shapes = append(out.Shapes, world.Shape{
			Name: name,
			Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: cores * amount.Unit}, amount.Entry{Name: amount.Memory, Value: cores << 32 * amount.Unit},
				amount.Entry{Name: amount.Pods, Value: 20 * amount.Unit}),
			Labels: label.Exactly(map[string]string{label.InstanceType: name, label.Arch: "amd64", label.OS: "linux"}),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: money.Micro(50_000 * cores)}},
		})
	}
	return out
}

// pod makes a pod; on names its node, and none means that kube-scheduler found no place.
func (c *simulation) pod(name, cpu, on string, change ...func(*corev1.Pod)) {
	n := c.serial.Add(1)
	yes := true
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: name, UID: types.UID(fmt.Sprintf("pod-%d", n)), CreationTimestamp: metav1.NewTime(c.now), Labels: map[string]string{"app": "web"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", Controller: &yes}},
		},
		Spec: corev1.PodSpec{NodeName: on, Containers: []corev1.Container{{
			Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}},
		}}},
	}
	if on == "" {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
	} else {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	for _, f := range change {
		f(p)
	}
	c.pods[name] = p
	c.state.SetPod(p)
}

// daemonSet makes a DaemonSet whose template requests nothing.
func (c *simulation) daemonSet() {
	c.state.SetDaemonSet(&appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}}},
	})
}

// pass lets time pass, a second at a time.
func (c *simulation) pass(d time.Duration) {
	c.Helper()
	for range int(d / time.Second) {
		c.now = c.now.Add(time.Second)
		c.run()
		c.schedule()
		if provision.Needed(c.state.World()) {
			c.buy.Pass(c.Context())
			c.count()
		}
		w := c.state.World()
		planned, ok := c.enact.Targets.Planned(w)
		if !ok {
			continue
		}
		for _, g := range disrupt.Decide(w, disrupt.Options{Planned: planned, Only: []disrupt.Part{disrupt.Idling}}).Back() {
			c.end(g.Claim, enact.Empty)
		}
	}
}

// count notes the claims that were made.
func (c *simulation) count() {
	c.Helper()
	var made v1.NodeClaimList
	if err := c.store.List(c.Context(), &made); err != nil {
		c.Fatal(err)
	}
	for i := range made.Items {
		if _, known := c.claims[made.Items[i].Name]; !known {
			c.claims[made.Items[i].Name] = c.now
			c.bought = append(c.bought, c.now)
		}
	}
}

// run lets machines come up.
func (c *simulation) run() {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for k := range c.claims {
			if !yield(k) {
				return
			}
		}
	}) {
		age := int(c.now.Sub(c.claims[name]) / time.Second)
		if !slices.Contains([]int{launches, joins, ready, gives}, age) {
			continue // to read all of them every second takes half of the test's time
		}
		o := &v1.NodeClaim{}
		if err := c.store.Get(c.Context(), client.ObjectKey{Name: name}, o); err != nil {
			continue // it has ended
		}
		shape := observe.Claim(o).Requirements
		types, _ := shape.Find(label.InstanceType)
		switch {
		case age == launches && c.launch != nil && c.launch(o) != "":
			c.state.Ended(name, c.launch(o), c.soldOut)
			c.end(name, enact.ClassNotReady)
		case age == launches:
			c.status(o, func(o *v1.NodeClaim) {
				o.Status.ProviderID = "test:///" + name
				o.Conditions().True(v1.ConditionLaunched, "", "", c.now)
			})
		case age == joins && !c.mute:
			c.join(o, types.Values)
		case age == ready && !c.mute:
			c.status(o, func(o *v1.NodeClaim) {
				o.Status.NodeName = "node-" + name
				o.Conditions().True(v1.ConditionRegistered, "", "", c.now)
				o.Conditions().True(v1.ConditionInitialized, "", "", c.now)
			})
			n := c.machines[name]
			n.Labels[v1.LabelInitialized] = "true"
			n.Spec.Taints = c.poisoned
			c.state.SetNode(n)
		case age == gives && c.mute:
			c.end(name, enact.RegistrationTimeout)
		}
	}
}

// join makes the node of a claim, of the cheapest type of its menu, and its daemon pod.
func (c *simulation) join(o *v1.NodeClaim, menu []string) {
	var cheapest world.Shape
	for _, s := range catalog().Shapes {
		if slices.Contains(menu, s.Name) && cheapest.Name == "" {
			cheapest = s
		}
	}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: "node-" + o.Name, CreationTimestamp: metav1.NewTime(c.now),
			Labels: map[string]string{v1.LabelNodePool: "general", v1.LabelRegistered: "true", label.InstanceType: cheapest.Name, label.Zone: "a", label.CapacityType: label.OnDemand},
		},
		Spec: corev1.NodeSpec{ProviderID: "test:///" + o.Name, Taints: []corev1.Taint{{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}}},
		Status: corev1.NodeStatus{
			Capacity: observe.ResourceList(cheapest.Capacity), Allocatable: observe.ResourceList(cheapest.Capacity),
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
		},
	}
	c.machines[o.Name] = n
	c.state.SetNode(n)
	if c.daemon == "" {
		return
	}
	c.pod("agent-"+o.Name, c.daemon, n.Name, func(p *corev1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "agent"}}
		p.Labels = nil
	})
}

func (c *simulation) status(o *v1.NodeClaim, change func(*v1.NodeClaim)) {
	next, err := loop.PatchStatus(c.Context(), c.store, o, change)
	if err != nil {
		c.Fatal(err)
	}
	c.state.SetClaim(next)
}

// end ends a claim, its machine, and the pods there.
func (c *simulation) end(name, reason string) {
	o := &v1.NodeClaim{}
	if err := c.store.Get(c.Context(), client.ObjectKey{Name: name}, o); err != nil {
		c.Fatal(err)
	}
	if err := c.enact.Release(c.Context(), o, reason); err != nil {
		c.Fatal(err)
	}
	c.state.World() // somebody looks at it while it goes
	if err := c.store.Get(c.Context(), client.ObjectKey{Name: name}, o); err == nil {
		o.Finalizers = nil
		if err := c.store.Update(c.Context(), o); err != nil {
			c.Fatal(err)
		}
	}
	c.state.DeleteClaim(name, "")
	if c.machines[name] != nil {
		c.state.DeleteNode("node-" + name)
		delete(c.machines, name)
	}
	for k, p := range c.pods {
		if p.Spec.NodeName == "node-"+name {
			c.state.DeletePod(world.Key{Namespace: p.Namespace, Name: k})
			delete(c.pods, k)
		}
	}
}

// schedule binds pods that wait to ready nodes that they tolerate and that have room.
func (c *simulation) schedule() {
	w := c.state.World()
	for _, p := range w.Waiting() {
		for _, m := range w.Places() {
			if m.Node == nil || m.Claim == nil || !m.Claim.Initialized || m.Deleting() || len(m.Node.Taints) > 0 || len(m.Node.Allocatable.Minus(m.Used).Minus(p.Requests).Floor()) == 0 {
				continue
			}
			free := m.Node.Allocatable.Minus(m.Used)
			if p.Requests.Value(amount.CPU) > free.Value(amount.CPU) {
				continue
			}
			o := c.pods[p.Name].DeepCopy()
			o.Spec.NodeName, o.Status.Conditions = m.Node.Name, nil
			c.pods[p.Name] = o
			c.state.SetPod(o)
			w = c.state.World()
			break
		}
	}
}

func (c *simulation) runs(name string) bool { return c.pods[name].Spec.NodeName != "" }

// refusal is what the pod is told.
func (c *simulation) refusal(name string) string {
	for _, r := range engine.Decide(c.state.World(), engine.Options{}).Refused {
		if r.Pod.Name == name {
			return r.Why.Line()
		}
	}
	return ""
}

// A pod runs on the second machine at the latest, however large daemon pods turn out to be.
func TestDaemonsLargerThanTheirTemplate(t *testing.T) {
	t.Run("LimitRange", func(t *testing.T) {
		c := newCell(t, 30*time.Second)
		c.daemon = "2"
		c.daemonSet()
		c.state.SetLimitRange(&corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "l"},
			Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")}}}},
		})
		c.pod("web", "2", "")
		c.pass(5 * time.Minute)
		if !c.runs("web") || len(c.bought) != 1 {
			t.Errorf("with the namespace's LimitRange the first machine is large enough: %d were bought, and the pod runs: %t", len(c.bought), c.runs("web"))
		}
	})
	t.Run("Webhook", func(t *testing.T) {
		c := newCell(t, 30*time.Second)
		c.daemon = "2"
		c.daemonSet()
		c.pod("web", "2", "")
		c.pass(5 * time.Minute)
		if !c.runs("web") || len(c.bought) != 2 {
			t.Errorf("what a webhook adds is known from the first real pod: %d were bought, and the pod runs: %t", len(c.bought), c.runs("web"))
		}
	})
}

// Whatever the reason for which purchases come to nothing, an hour of them is a dozen at most.
func TestPurchasesInVain(t *testing.T) {
	const most = 12
	tests := map[string]struct {
		why   string
		wrong func(*simulation)
		least int // it is tried again
		said  string
	}{
		"Taint": {
			"Another controller taints every node once it is ready.",
			func(c *simulation) {
				c.poisoned = []corev1.Taint{{Key: "theirs", Effect: corev1.TaintEffectNoSchedule}}
			}, 5, "is ready and has not taken the pod",
		},
		"LaunchTemplate": {
			"The launch template of the class does not exist.",
			func(c *simulation) {
				c.launch = func(*v1.NodeClaim) string { return "there is no launch template \"x\"" }
			}, 5, "there is no launch template",
		},
		"NeverJoins": {
			"Machines are launched and never join.",
			func(c *simulation) { c.mute = true }, 2, "",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCell(t, 30*time.Second)
			tc.wrong(c)
			c.pod("web", "1", "")
			heard := false
			for range 60 {
				c.pass(time.Minute)
				heard = heard || strings.Contains(c.refusal("web"), "back-off") && strings.Contains(c.refusal("web"), tc.said)
			}
			if n := len(c.bought); n > most || n < tc.least {
				t.Errorf("%s %d machines were bought in an hour, want %d to %d: %v", tc.why, n, tc.least, most, c.bought)
			}
			if tc.said != "" && !heard {
				t.Errorf("%s The pod is never told %q, at last: %s", tc.why, tc.said, c.refusal("web"))
			}
		})
	}
}

// Pods that come again under other names every minute do not make a pool that serves none of them buy without end.
func TestPurchasesInVainForOtherPods(t *testing.T) {
	c := newCell(t, 30*time.Second)
	c.poisoned = []corev1.Taint{{Key: "theirs", Effect: corev1.TaintEffectNoSchedule}}
	for i := range 60 {
		name := fmt.Sprintf("job-%d", i)
		c.pod(name, "1", "")
		c.pass(time.Minute)
		if i >= 5 {
			old := fmt.Sprintf("job-%d", i-5)
			c.state.DeletePod(world.Key{Namespace: "default", Name: old})
			delete(c.pods, old)
		}
	}
	if n := len(c.bought); n > 24 {
		t.Errorf("%d machines were bought in an hour", n)
	}
}

// What is not to be had is tried elsewhere at once, and others are not held up by one pod's failures.
func TestHonestPurchases(t *testing.T) {
	t.Run("SoldOut", func(t *testing.T) {
		c := newCell(t, 30*time.Second)
		c.soldOut = true
		c.launch = func(o *v1.NodeClaim) string {
			if c.serial.Load() < 8 {
				return "there is no capacity"
			}
			return ""
		}
		c.pod("web", "1", "")
		c.pass(time.Minute)
		if !c.runs("web") {
			t.Errorf("what the cloud has none of is tried again at once: %d tries", len(c.bought))
		}
	})
	t.Run("Others", func(t *testing.T) {
		c := newCell(t, time.Hour)
		picky := func(o *v1.NodeClaim) string {
			if strings.Contains(o.Annotations[annotation.Pods], "picky") {
				return "no such thing"
			}
			return ""
		}
		c.launch = picky
		c.pod("picky", "15", "")
		for i := range 10 {
			c.pass(30 * time.Second)
			name := fmt.Sprintf("web-%d", i)
			c.pod(name, "2", "")
			c.pass(40 * time.Second)
			if !c.runs(name) {
				t.Fatalf("%s waits for the sake of another pod's failures: %s", name, c.refusal(name))
			}
		}
	})
	t.Run("Mended", func(t *testing.T) {
		c := newCell(t, 30*time.Second)
		c.launch = func(*v1.NodeClaim) string { return "there is no launch template \"x\"" }
		c.pod("web", "1", "")
		c.pass(20 * time.Minute)
		c.launch = nil
		c.state.Mended("test/Class/default")
		c.pass(time.Minute)
		if !c.runs("web") {
			t.Errorf("an edit of the class ends the wait: %s", c.refusal("web"))
		}
	})
}

// While a budget keeps pods on a node that goes, what was bought for them is
// bought once and kept; where the budget can never allow it nothing is bought.
func TestDrainThatABudgetBlocks(t *testing.T) {
	for _, emptyAfter := range []time.Duration{5 * time.Second, 30 * time.Second} {
		for name, healthy := range map[string]int32{"Never": 2, "Now": 1} {
			t.Run(fmt.Sprint(name, emptyAfter), func(t *testing.T) {
				c := newCell(t, emptyAfter)
				c.pod("web-0", "1", "")
				c.pod("web-1", "1", "")
				c.pass(time.Minute)
				if len(c.bought) != 1 || !c.runs("web-0") || !c.runs("web-1") {
					t.Fatalf("%d machines", len(c.bought))
				}
				for _, p := range c.pods {
					p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
					c.state.SetPod(p)
				}
				c.state.SetGuard(&policyv1.PodDisruptionBudget{
					ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
					Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
					Status:     policyv1.PodDisruptionBudgetStatus{ExpectedPods: 2, DesiredHealthy: healthy, CurrentHealthy: 1},
				})
				for name, n := range c.machines { // kubectl delete node
					n.DeletionTimestamp = &metav1.Time{Time: c.now}
					n.Spec.Unschedulable = true
					c.state.SetNode(n)
					_ = name
				}
				c.pass(time.Hour)
				want := 2
				if name == "Never" {
					want = 1
				}
				if len(c.bought) != want {
					t.Errorf("%d machines were bought beside the first, want %d: %v", len(c.bought)-1, want-1, c.bought)
				}
			})
		}
	}
}

// Pods of a namespace that is being deleted are bought nothing.
func TestDyingNamespace(t *testing.T) {
	c := newCell(t, 30*time.Second)
	c.state.SetNamespace(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}})
	c.pod("web", "1", "")
	c.pass(time.Minute)
	if len(c.bought) > 0 {
		t.Errorf("%d machines were bought", len(c.bought))
	}
}
