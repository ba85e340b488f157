package disrupt_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	engine "github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/loop"
)

// static has the pool keep so many nodes, and no more than a limit; 0: there is none.
func (b *simulation) static(replicas int64, limit string) {
	pool := &v1.NodePool{}
	b.must(b.store.Get(b.t.Context(), client.ObjectKey{Name: "p"}, pool))
	pool.Spec.Replicas = &replicas
	if limit != "" {
		pool.Spec.Limits = corev1.ResourceList{"nodes": resource.MustParse(limit)}
	}
	b.must(b.store.Update(b.t.Context(), pool))
}

// complete counts the nodes that could take pods and are not being deleted, and all that there are.
func (b *simulation) complete() (complete, all int) {
	for _, c := range b.claims() {
		if all++; c.DeletionTimestamp == nil && c.Status.ProviderID != "" {
			complete++
		}
	}
	return complete, all
}

// Wherever a process is killed while it replaces the nodes of a static pool, the next one ends up with as many
// others. There are never fewer that are complete, and never more than the limit allows.
func TestKilledWhileStaticPoolsDrift(t *testing.T) {
	writes := apitest.EachDeath(t, func(t *testing.T, life *apitest.Life) {
		b := newSimulation(t, "1", "1")
		b.static(2, "3")
		b.drift("n1", "n2")
		b.plan = func(*enact.Enactor, *cluster.Cluster) {
			if complete, all := b.complete(); complete < 2 || all > 3 {
				t.Fatalf("%d nodes are complete, and %d there: %s", complete, all, b.state())
			}
		}
		time.Sleep(time.Minute) // of virtual time
		b.live(life.Client(b.store), time.Minute, disrupt.Moving{})
		b.ends("new 0, new 2 or new 1, new 1", 20*time.Minute)
	})
	if writes < 8 {
		t.Errorf("%d writes, want two marks, two reasons, two new claims and two ends", writes)
	}
}

// A pool without room for one more node is told so, and so are its nodes.
func TestStaticPoolWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "1")
		b.static(1, "1")
		b.drift("n1")
		time.Sleep(time.Minute)
		recorder := record.NewFakeRecorder(100)
		b.events = loop.NewEvents(clock.Wall, recorder)
		b.live(b.store, 5*time.Minute, disrupt.Moving{})
		if got := b.state(); got != "n1 1" {
			t.Errorf("%s, want n1 as it was", got)
		}
		close(recorder.Events)
		var said []string
		for e := range recorder.Events {
			if strings.Contains(e, "DisruptionBlocked") {
				said = append(said, e)
			}
		}
		if len(said) != 3 || !slices.ContainsFunc(said, func(e string) bool { return strings.HasPrefix(e, "Warning") }) {
			t.Errorf("the pool, the node and the claim are told:\n%s", strings.Join(said, "\n"))
		}
		for _, e := range said {
			if !strings.Contains(e, "raise limits.nodes above spec.replicas") {
				t.Errorf("it is not said what to do: %s", e)
			}
		}
	})
}

// Between a decision and its first write the pool asks for a node itself: what was decided is not begun, since
// both take of the same limit.
func TestStaticPoolGrowsMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSimulation(t, "1")
		b.static(1, "2")
		b.drift("n1")
		time.Sleep(time.Minute)
		state := cluster.New(clock.Wall)
		state.Publish(types())
		hand := &enact.Enactor{Client: b.store, Cluster: state, Events: (*loop.Events)(nil), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}, Suffix: func() string { return "x" }}
		grown := false
		c := &disrupt.Controller{
			Client: b.store, Cluster: state, Enact: hand, Journal: journal.New(100, "", nil), Now: clock.Wall, Log: logr.Discard(),
			Decide: func(w *world.World, o engine.Options) plan.Plan {
				p := engine.Decide(w, o)
				if !grown && slices.ContainsFunc(p.Commands, func(c plan.Command) bool { return c.Reason == plan.Drifted }) {
					grown = true
					b.static(2, "2")
					b.claim("n2")
					apitest.Show(t, b.store, state)
				}
				return p
			},
		}
		process := apitest.Begin(t, b.store, state, c)
		process.Live(2*time.Minute, time.Second)
		process.End()
		for _, claim := range b.claims() {
			if claim.Annotations[annotation.Replaces] != "" {
				t.Errorf("%s was bought", claim.Name)
			}
		}
		if got := b.state(); !grown || got != "n1 1, n2 0" {
			t.Errorf("%s, want n1 as it was, and n2 that the pool asked for", got)
		}
	})
}
