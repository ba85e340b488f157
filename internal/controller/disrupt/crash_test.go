package disrupt_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	engine "github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/statemetrics"
)

// fixture is a pool that keeps empty nodes for a minute, and a node of it that has
// been empty for as long.
type fixture struct {
	store client.WithWatch
	claim *v1.NodeClaim
	node  *corev1.Node
}

func newFixture(t *testing.T, change ...func(*v1.NodeClaim)) fixture {
	t.Helper()
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	pool.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.After(time.Minute), ConsolidationPolicy: v1.WhenEmpty, Budgets: []v1.Budget{{Nodes: "1"}}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}, Labels: map[string]string{v1.LabelNodePool: "p"}}}
	c.Status.ProviderID, c.Status.NodeName = "id", "n"
	for _, kind := range []string{v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		c.Conditions().True(kind, "", "", time.Now())
	}
	for _, f := range change {
		f(c)
	}
	room := corev1.ResourceList{"cpu": resource.MustParse("2"), "memory": resource.MustParse("4Gi"), "pods": resource.MustParse("20")}
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.LabelNodePool: "p", v1.LabelRegistered: "true", v1.LabelInitialized: "true"}},
		Spec:       corev1.NodeSpec{ProviderID: "id"},
		Status:     corev1.NodeStatus{Capacity: room, Allocatable: room, Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	x := fixture{store: apitest.New(t, clock.Wall, pool, c, n), claim: c, node: n}
	time.Sleep(2 * time.Minute) // of virtual time
	return x
}

// live has one process do its work for a while.
func (x fixture) live(t *testing.T, through client.Client, long time.Duration) {
	t.Helper()
	state := cluster.New(clock.Wall)
	hand := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
	c := &disrupt.Controller{Client: through, Cluster: state, Enact: hand, Journal: journal.New(1, "", nil), Now: clock.Wall, Log: logr.Discard()}
	process := apitest.Begin(t, x.store, state, c)
	process.Live(long, 250*time.Millisecond)
	process.End()
}

// now reads the claim and the node again, and says whether the node is marked.
func (x fixture) now(t *testing.T) (marked bool) {
	t.Helper()
	for _, o := range []client.Object{x.claim, x.node} {
		if err := x.store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			t.Fatal(err)
		}
	}
	return slices.ContainsFunc(x.node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == v1.TaintDisrupted })
}

// Wherever a process is killed, the next one ends the claim of an empty node,
// which is marked by then and says why.
func TestKilledWhileEmpty(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.live(t, life.Client(x.store), 10*time.Second)
		x.live(t, x.store, 10*time.Second)
		marked := x.now(t)
		if why := x.claim.Conditions().Get(v1.ConditionDisruptionReason); !marked || x.claim.DeletionTimestamp == nil || why == nil || why.Reason != "Empty" {
			t.Errorf("marked %t, the claim is deleted at %v because %+v", marked, x.claim.DeletionTimestamp, why)
		}
	})
	if writes != 3 {
		t.Errorf("%d writes, want the mark, the reason and the end", writes)
	}
}

// When a pod comes to the node while no process runs, it stays: the next process
// takes back whatever was written.
func TestKilledBeforeAPodCame(t *testing.T) {
	apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t)
		x.live(t, life.Client(x.store), 1500*time.Millisecond) // long enough for the mark, not for the end
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.PodSpec{NodeName: "n", Containers: []corev1.Container{{Name: "a"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning},
		}
		if err := x.store.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		x.live(t, x.store, 10*time.Second)
		marked := x.now(t)
		if why := x.claim.Conditions().Get(v1.ConditionDisruptionReason); marked || x.claim.DeletionTimestamp != nil || why != nil {
			t.Errorf("marked %t, the claim is deleted at %v because %+v", marked, x.claim.DeletionTimestamp, why)
		}
	})
}

// A node whose time is over goes, wherever the process is killed.
func TestKilledWhileExpired(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		x := newFixture(t, func(c *v1.NodeClaim) { c.Spec.ExpireAfter = v1.After(time.Minute) })
		x.live(t, life.Client(x.store), 10*time.Second)
		x.live(t, x.store, 10*time.Second)
		if x.now(t); x.claim.DeletionTimestamp == nil {
			t.Error("the claim stays")
		}
	})
	if writes != 1 {
		t.Errorf("%d writes, want one", writes)
	}
}

// countedPasses counts passes that have ended, and those of them that could not decide all.
type countedPasses struct {
	*statemetrics.Passes

	ended, broke int
}

func (p *countedPasses) Ended(_ string, _ time.Duration, ok bool) {
	p.ended++
	if !ok {
		p.broke++
	}
}

// A decision that breaks over a command that is open leaves the command as it
// is, is kept to be looked at, and does not end the process.
func TestJudgementBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, func(c *v1.NodeClaim) {
			c.Conditions().True(v1.ConditionDisruptionReason, plan.Underutilized, "", time.Now())
		})
		state, kept := cluster.New(clock.Wall), journal.New(10, "", nil)
		hand := &enact.Enactor{Client: x.store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
		passes, running := &countedPasses{Passes: statemetrics.NewPasses(clock.Wall)}, 0
		c := &disrupt.Controller{
			Client: x.store, Cluster: state, Enact: hand, Journal: kept, Now: clock.Wall, Log: logr.Discard(), Passes: passes,
			Decide: func(w *world.World, o engine.Options) plan.Plan {
				running += len(passes.Samples())
				if slices.Contains(o.Only, engine.Judging) || len(o.Only) == 0 {
					panic("an unforeseen pod")
				}
				return engine.Decide(w, o)
			},
		}
		process := apitest.Begin(t, x.store, state, c)
		process.Live(10*time.Second, 250*time.Millisecond)
		process.End()
		x.now(t)
		if why := x.claim.Conditions().Get(v1.ConditionDisruptionReason); x.claim.DeletionTimestamp != nil || why == nil || why.Reason != plan.Underutilized {
			t.Errorf("the claim is deleted at %v because %+v", x.claim.DeletionTimestamp, why)
		}
		var broke bool
		for _, e := range kept.All() {
			broke = broke || e.Kind == journal.GiveBack && strings.Contains(e.Panic, "an unforeseen pod")
		}
		if !broke {
			t.Error("the journal does not hold the decision that broke")
		}
		if left := passes.Samples(); running == 0 || len(left) != 0 {
			t.Errorf("%d decisions were told of while they were made, %d after all of them had ended", running, len(left))
		}
		if passes.ended == 0 || passes.broke != passes.ended {
			t.Errorf("%d passes ended, %d without having decided all", passes.ended, passes.broke)
		}
	})
}

// A step that breaks costs its own node: the pass goes on, and does not break off for a minute.
func TestAStepThatBreaksIsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t, func(c *v1.NodeClaim) { c.Name, c.Spec.ExpireAfter = "bad", v1.After(time.Minute) })
		through := interceptor.NewClient(x.store, interceptor.Funcs{
			Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
				panic("an unforeseen claim")
			},
		})
		var said []string
		log := funcr.New(func(_, args string) { said = append(said, args) }, funcr.Options{})
		state := cluster.New(clock.Wall)
		hand := &enact.Enactor{Client: through, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: log, Targets: &enact.Targets{}}
		c := &disrupt.Controller{Client: through, Cluster: state, Enact: hand, Journal: journal.New(1, "", nil), Now: clock.Wall, Log: log}
		process := apitest.Begin(t, x.store, state, c)
		process.Live(10*time.Second, 250*time.Millisecond)
		process.End()
		all := strings.Join(said, "\n")
		if !strings.Contains(all, "an unforeseen claim") || !strings.Contains(all, `"NodeClaim"="bad"`) {
			t.Errorf("the log does not say which step broke:\n%s", all)
		}
		if strings.Contains(all, "in a minute") {
			t.Errorf("the pass broke off:\n%s", all)
		}
	})
}
