package disrupt_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
)

// simulation is a cluster whose cloud, kubelets and scheduler live as long as the
// test: machines come when their claims do, pods of nodes that end are recreated
// elsewhere, and what is drained goes.
type simulation struct {
	t      *testing.T
	store  client.WithWatch
	barren bool          // no machine is to be had
	slow   bool          // no machine is launched
	broken bool          // what is launched is never initialized
	bare   bool          // pods may be evicted that have no place
	tick   time.Duration // how often everybody else does anything; 0: 2 s
	late   func()        // done once, as soon as a machine has been asked for

	plan func(*enact.Enactor, *cluster.Cluster) // has a plan be made, each time that others do anything

	events  *loop.Events // what is told of; nil: events are dropped
	metrics *metric.Set
	log     logr.Logger // the zero value discards

	stowaway string          // what a pod requests that is bound to the first machine that joins
	asked    map[string]bool // machines
}

// types are what is on sale.
func types() world.Catalog {
	shape := func(name string, cpu int64, price money.Micro) world.Shape {
		return world.Shape{
			Name: name, Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: cpu * amount.Unit}, amount.Entry{Name: amount.Pods, Value: 20 * amount.Unit}),
			Labels: label.SetOf(label.Is(label.InstanceType, name)),
			Offers: []world.Offer{{Zone: "z", CapacityType: label.OnDemand, Price: price}},
		}
	}
	return world.Catalog{Template: "g/K/n", Version: "1", Shapes: []world.Shape{shape("small", 2, 100_000), shape("large", 8, 400_000)}}
}

// newSimulation has three large nodes with a small pod each.
func newSimulation(t *testing.T, pods ...string) *simulation {
	t.Helper()
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.After(0), ConsolidationPolicy: v1.WhenEmptyOrUnderutilized, Budgets: []v1.Budget{{Nodes: "100%"}}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	b := &simulation{t: t, store: apitest.New(t, clock.Wall, pool), asked: map[string]bool{}}
	for i, cpu := range pods {
		name := fmt.Sprintf("n%d", i+1)
		b.claim(name)
		b.join(name, "large")
		b.pod(fmt.Sprintf("web-%d", i+1), name, cpu)
	}
	return b
}

// must passes over what another has done meanwhile: the next turn does the rest.
func (b *simulation) must(err error) {
	b.t.Helper()
	if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
		b.t.Fatal(err)
	}
}

func (b *simulation) claim(name string) {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "p"}}}
	c.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	c.Spec.ExpireAfter = v1.Never
	b.must(b.store.Create(b.t.Context(), c))
}

// join has the machine of a claim come up as a node.
func (b *simulation) join(claim, kind string) {
	cpu := "8"
	if kind == "small" {
		cpu = "2"
	}
	room := corev1.ResourceList{"cpu": resource.MustParse(cpu), "memory": resource.MustParse("4Gi"), "pods": resource.MustParse("20")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: claim, Labels: map[string]string{
			v1.LabelNodePool: "p", v1.LabelRegistered: "true", v1.LabelInitialized: "true",
			label.InstanceType: kind, label.Zone: "z", label.CapacityType: label.OnDemand, label.Hostname: claim,
		}},
		Spec:   corev1.NodeSpec{ProviderID: "id-" + claim},
		Status: corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	b.must(b.store.Create(b.t.Context(), n))
	c := &v1.NodeClaim{}
	b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: claim}, c))
	c.Status.ProviderID, c.Status.NodeName = "id-"+claim, claim
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		if kind != v1.ConditionInitialized || !b.broken {
			c.Conditions().True(kind, "", "", time.Now())
		}
	}
	b.must(b.store.Status().Update(b.t.Context(), c))
}

func (b *simulation) pod(name, node, cpu string) {
	b.must(b.store.Create(b.t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "web"}, OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "web", Controller: new(true)},
		}},
		Spec: corev1.PodSpec{NodeName: node, Containers: []corev1.Container{{
			Name: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)}},
		}}},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}))
}

func (b *simulation) claims() []v1.NodeClaim {
	var list v1.NodeClaimList
	b.must(b.store.List(b.t.Context(), &list))
	return list.Items
}

func (b *simulation) nodes() []corev1.Node {
	var list corev1.NodeList
	b.must(b.store.List(b.t.Context(), &list))
	return list.Items
}

func (b *simulation) pods() []corev1.Pod {
	var list corev1.PodList
	b.must(b.store.List(b.t.Context(), &list))
	return list.Items
}

// turn has everybody else do their work.
func (b *simulation) turn() {
	for _, c := range b.claims() {
		asked := c.Annotations[annotation.Replaces] != ""
		if asked {
			b.asked[c.Name] = true
		}
		if asked && b.late != nil {
			do := b.late
			b.late = nil
			do()
		}
		switch {
		case c.DeletionTimestamp != nil && b.drained(c.Name):
			b.must(b.store.Delete(b.t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.Name}}))
			c.Finalizers = nil
			b.must(b.store.Update(b.t.Context(), &c))
		case c.DeletionTimestamp == nil && c.Status.ProviderID == "" && b.barren:
			b.must(b.store.Delete(b.t.Context(), &c))
		case c.DeletionTimestamp == nil && c.Status.ProviderID == "" && !b.slow && time.Since(c.CreationTimestamp.Time) > 2*time.Second:
			kind := "small"
			if c.Spec.Resources.Requests.Cpu().Cmp(resource.MustParse("2")) > 0 {
				kind = "large"
			}
			b.join(c.Name, kind)
			if b.stowaway != "" {
				b.pod("stowaway", c.Name, b.stowaway)
				b.stowaway = ""
			}
		}
	}
}

func (b *simulation) policy(p v1.ConsolidationPolicy) {
	pool := &v1.NodePool{}
	b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: "p"}, pool))
	pool.Spec.Disruption.ConsolidationPolicy = p
	b.must(b.store.Update(b.t.Context(), pool))
}

func (b *simulation) drift(claims ...string) {
	for _, name := range claims {
		c := &v1.NodeClaim{}
		b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: name}, c))
		c.Conditions().True(v1.ConditionDrifted, v1.ReasonNodePoolDrifted, "", time.Now())
		b.must(b.store.Status().Update(b.t.Context(), c))
	}
}

// expire has claims reach their age in so long from when they were made.
func (b *simulation) expire(after time.Duration, claims ...string) {
	for _, name := range claims {
		c := &v1.NodeClaim{}
		b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: name}, c))
		c.Spec.ExpireAfter = v1.After(after)
		b.must(b.store.Update(b.t.Context(), c))
	}
}

// budgets lets so many nodes go by choice.
func (b *simulation) budgets(nodes string) {
	pool := &v1.NodePool{}
	b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: "p"}, pool))
	pool.Spec.Disruption.Budgets = []v1.Budget{{Nodes: nodes}}
	b.must(b.store.Update(b.t.Context(), pool))
}

// forbid forbids that pods are moved, as far as they are where they began.
func (b *simulation) forbid(pods ...string) {
	for _, name := range pods {
		p := &corev1.Pod{}
		if b.store.Get(b.t.Context(), client.ObjectKey{Namespace: "default", Name: name}, p) != nil {
			continue
		}
		p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "true"}
		b.must(b.store.Update(b.t.Context(), p))
	}
}

// ends has a process live until all is as wanted and stays so, or its time is over.
func (b *simulation) ends(want string, within time.Duration) {
	b.t.Helper()
	for end := time.Now().Add(within); time.Now().Before(end); {
		b.live(b.store, 90*time.Second, disrupt.Moving{})
		if slices.Contains(strings.Split(want, " or "), b.state()) {
			return
		}
	}
	b.t.Errorf("%s, want %s", b.state(), want)
}

// drained moves a pod of a node that ends, and reports whether none was left.
func (b *simulation) drained(node string) bool {
	for _, p := range b.pods() {
		if p.Spec.NodeName != node {
			continue
		}
		to, cpu := "", p.Spec.Containers[0].Resources.Requests.Cpu()
		for _, n := range b.nodes() {
			if n.Name == node || isTainted(n) {
				continue
			}
			free := n.Status.Allocatable.Cpu().DeepCopy()
			for _, q := range b.pods() {
				if q.Spec.NodeName == n.Name {
					free.Sub(*q.Spec.Containers[0].Resources.Requests.Cpu())
				}
			}
			if free.Cmp(*cpu) >= 0 {
				to = n.Name
				break
			}
		}
		if to == "" && !b.bare {
			b.t.Errorf("%s was evicted from %s and has no place", p.Name, node)
		}
		b.must(b.store.Delete(b.t.Context(), &p, client.GracePeriodSeconds(0)))
		b.pod(p.Name+"x", to, cpu.String())
		return false
	}
	return true
}

func isTainted(n corev1.Node) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.TaintDisrupted })
}

// live has one process do its work for a while.
func (b *simulation) live(through client.Client, long time.Duration, moving disrupt.Moving) *disrupt.Controller {
	state := cluster.New(clock.Wall)
	state.Publish(types())
	var n atomic.Int64 // claims are made beside each other
	suffix := func() string { return fmt.Sprintf("%d-%d", time.Now().Unix()%100000, n.Add(1)) }
	hand := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}, Suffix: suffix}
	c := &disrupt.Controller{Client: through, Cluster: state, Enact: hand, Journal: journal.New(100, "", nil), Events: b.events, Metrics: b.metrics, Now: clock.Wall, Log: b.log, Moving: moving}
	process := apitest.Begin(b.t, b.store, state, c)
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(cmp.Or(b.tick, 2*time.Second)) {
		b.turn()
		process.Show()
		if b.plan != nil {
			b.plan(hand, state)
		}
	}
	process.End()
	return c
}

// state tells every claim with its pods, and what is said of it.
func (b *simulation) state() string {
	var lines []string
	for _, c := range b.claims() {
		line := c.Name
		if strings.HasPrefix(c.Name, "p-") {
			line = "new"
		}
		n := 0
		for _, p := range b.pods() {
			if p.Spec.NodeName == c.Name {
				n++
			}
		}
		line += fmt.Sprintf(" %d", n)
		if c.DeletionTimestamp != nil {
			line += " ending"
		}
		if c.Conditions().Is(v1.ConditionDisruptionReason) {
			line += " meant"
		}
		for _, node := range b.nodes() {
			if node.Name == c.Name && isTainted(node) {
				line += " marked"
			}
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, ", ")
}

// (D-12) Wherever a process is killed while it replaces two nodes by one, the next
// one ends up with that one, and with nothing else.
func TestKilledWhileReplacing(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "500m", "500m")
		time.Sleep(time.Minute) // of virtual time
		b.live(life.Client(b.store), time.Minute, disrupt.Moving{})
		b.ends("new 2", 10*time.Minute)
	})
	if writes != 7 {
		t.Errorf("%d writes, want two marks, two reasons, the new claim and two ends", writes)
	}
}

// The pods of one fit on the other: it is given back, and nothing is bought.
func TestKilledWhileMoving(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "7", "500m")
		time.Sleep(time.Minute)
		b.live(life.Client(b.store), time.Minute, disrupt.Moving{})
		b.ends("n1 2 or n2 2", 10*time.Minute)
	})
	if writes != 3 {
		t.Errorf("%d writes, want the mark, the reason and the end", writes)
	}
}

// A drifted node is replaced, wherever the process is killed, and its pod moved once.
func TestKilledWhileDrifted(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "7", "7")
		b.policy(v1.WhenEmpty)
		b.drift("n1")
		time.Sleep(time.Minute)
		b.live(life.Client(b.store), time.Minute, disrupt.Moving{})
		b.ends("n2 1, new 1", 10*time.Minute)
	})
	if writes != 4 {
		t.Errorf("%d writes, want the mark, the reason, the new claim and the end", writes)
	}
}

// A node that is too old is replaced, wherever the process is killed, and its pod moved once.
func TestKilledWhileReplacingWhatExpired(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "7", "7")
		b.policy(v1.WhenEmpty)
		b.expire(time.Minute, "n1")
		time.Sleep(time.Minute)
		b.live(life.Client(b.store), time.Minute, disrupt.Moving{})
		b.ends("n2 1, new 1", 10*time.Minute)
	})
	if writes != 4 {
		t.Errorf("%d writes, want the mark, the reason, the new claim and the end", writes)
	}
}

// What is taken back leaves nothing behind, wherever the process is killed.
func TestKilledWhileTakingBack(t *testing.T) {
	apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "500m", "500m")
		b.late = func() { b.forbid("web-1", "web-2") }
		time.Sleep(time.Minute)
		b.live(life.Client(b.store), 40*time.Second, disrupt.Moving{})
		b.late = nil
		b.forbid("web-1", "web-2")
		b.ends("n1 1, n2 1", 10*time.Minute)
	})
}

func TestMoving(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		pods []string
		make func(*simulation)
		off  bool
		long time.Duration
		tick time.Duration // 2 s
		most int           // machines that are asked for
		want string
	}{
		"ComesToRest": {why: "Once done, hours bring nothing more.", long: 4 * time.Hour, tick: 20 * time.Second, most: 1, want: "new 3"},
		"WhenEmpty":   {why: "The pool has no pods moved.", make: func(b *simulation) { b.policy(v1.WhenEmpty) }, long: time.Hour, tick: 20 * time.Second, want: "n1 1, n2 1, n3 1"},
		"Off":         {why: "Moving is switched off.", off: true, long: time.Hour, tick: 20 * time.Second, want: "n1 1, n2 1, n3 1"},
		"Barren":      {why: "Nothing is to be had: it is tried ever more seldom.", make: func(b *simulation) { b.barren = true }, long: 6 * time.Hour, tick: 20 * time.Second, most: 10, want: "n1 1, n2 1, n3 1"},
		"Broken":      {why: "What was bought is not initialized: it is kept, and nothing more is bought.", make: func(b *simulation) { b.broken = true }, long: 3 * time.Hour, tick: 20 * time.Second, most: 1, want: "n1 1, n2 1, n3 1, new 0"},
		"Slow":        {why: "What was bought is not launched: it is given back, and tried again much later.", make: func(b *simulation) { b.slow = true }, long: 14 * time.Minute, most: 1, want: "n1 1, n2 1, n3 1"},
		"Forbidden": {
			why: "Somebody forbids meanwhile that one of the pods is moved: all stay, and what was bought goes.", long: 4 * time.Minute, most: 1,
			make: func(b *simulation) { b.late = func() { b.forbid("web-2") } }, want: "n1 1, n2 1, n3 1",
		},
		"Unneeded": {
			why: "What was bought has got a pod of its own meanwhile, and no room is left: it stays, and so do the others.", pods: []string{"1", "500m", "500m"}, long: 4 * time.Minute, most: 1,
			make: func(b *simulation) {
				b.late = func() { b.stowaway = "1" }
			},
			want: "n1 1, n2 1, n3 1, new 1",
		},
		"Drifted": {
			why: "Drifted nodes are replaced, each by itself, within the pool's budget.", pods: []string{"7", "7", "7"}, long: 10 * time.Minute, most: 3,
			make: func(b *simulation) { b.policy(v1.WhenEmpty); b.drift("n1", "n2", "n3") }, want: "new 1, new 1, new 1",
		},
		"Expired": {
			why:  "What is too old is replaced before it is drained, whatever budgets say; n3 has time left.",
			pods: []string{"7", "7", "7"}, long: 5 * time.Minute, most: 2,
			make: func(b *simulation) {
				b.policy(v1.WhenEmpty)
				b.budgets("0")
				b.expire(time.Minute, "n1", "n2")
				b.expire(time.Hour, "n3")
			},
			want: "n3 1, new 1, new 1",
		},
		"ExpiredLater": {
			why: "Age is looked at when it comes.", pods: []string{"7", "7"}, long: time.Hour + 5*time.Minute, tick: 5 * time.Second, most: 1,
			make: func(b *simulation) { b.policy(v1.WhenEmpty); b.expire(time.Hour, "n1") }, want: "n2 1, new 1",
		},
		"ExpiredBarren": {
			why: "Nothing is to be had for the pods of what is too old: it stays for now,", pods: []string{"7", "7"}, long: 14 * time.Minute, most: 4,
			make: func(b *simulation) { b.policy(v1.WhenEmpty); b.barren = true; b.expire(time.Minute, "n1") }, want: "n1 1, n2 1",
		},
		"ExpiredForGood": {
			why: "and not for ever.", pods: []string{"7", "7"}, long: 17 * time.Minute, most: 4,
			make: func(b *simulation) {
				b.policy(v1.WhenEmpty)
				b.barren, b.bare = true, true
				b.expire(time.Minute, "n1")
			}, want: "n2 1",
		},
		"ExpiredOff": {
			why: "Where no pods are moved it goes at once.", pods: []string{"7", "7"}, off: true, long: time.Minute,
			make: func(b *simulation) { b.bare = true; b.expire(time.Minute, "n1") }, want: "n2 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if tc.pods == nil {
					tc.pods = []string{"500m", "500m", "500m"}
				}
				b := newSimulation(t, tc.pods...)
				b.tick = tc.tick
				if tc.make != nil {
					tc.make(b)
				}
				time.Sleep(time.Minute)
				b.live(b.store, tc.long, disrupt.Moving{Off: tc.off})
				if got := b.state(); got != tc.want {
					t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
				}
				if len(b.asked) > tc.most {
					t.Errorf("%d machines were asked for, want %d at most: %s", len(b.asked), tc.most, tc.why)
				}
			})
		})
	}
}

// What one process has begun is taken back by the next if pods are not to be moved any more.
func TestSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "500m", "500m", "500m")
		b.slow = true
		time.Sleep(time.Minute)
		b.live(b.store, 30*time.Second, disrupt.Moving{})
		if got, want := b.state(), "n1 1 meant marked, n2 1 meant marked, n3 1 meant marked, new 0"; got != want {
			t.Fatalf("%s, want %s", got, want)
		}
		b.live(b.store, 30*time.Second, disrupt.Moving{Off: true})
		if got, want := b.state(), "n1 1, n2 1, n3 1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// As many drifted nodes as budgets let go are begun at one look. One for which nothing can be asked for keeps
// no other, stays, and is not tried again at once.
func TestManyDrifted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const nodes = 12
		b := newSimulation(t, slices.Repeat([]string{"7"}, nodes)...)
		b.policy(v1.WhenEmpty)
		b.slow = true
		for i := range nodes {
			b.drift(fmt.Sprintf("n%d", i+1))
		}
		var refused atomic.Int64
		through := interceptor.NewClient(b.store, interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
				if o.GetAnnotations()[annotation.Replaces] == "n7" {
					refused.Add(1)
					return apierrors.NewForbidden(schema.GroupResource{Group: v1.Group, Resource: "nodeclaims"}, o.GetName(), errors.New("a webhook refuses it"))
				}
				return c.Create(ctx, o, opts...)
			},
		})
		time.Sleep(time.Minute)
		b.live(through, 20*time.Second, disrupt.Moving{})
		began := map[string]bool{}
		for _, c := range b.claims() {
			if c.Annotations[annotation.Replaces] != "" {
				began[c.CreationTimestamp.String()] = true
			}
		}
		if len(b.asked) != nodes-1 || len(began) != 1 {
			t.Errorf("machines were asked for for %d of %d nodes at %d moments, want for all but one, at once", len(b.asked), nodes, len(began))
		}
		b.live(through, 2*time.Minute, disrupt.Moving{})
		if n := refused.Load(); n != 2 || strings.Contains(b.state(), "n7 1 meant") {
			t.Errorf("the one was tried %d times by two processes, and stands so: %s", n, b.state())
		}
	})
}
