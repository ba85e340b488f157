package enact_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/enact"
)

// quietly is an Enactor whose promises are counted and not written.
func quietly(t *testing.T) (e *enact.Enactor, written *atomic.Int64) {
	written = &atomic.Int64{}
	through := interceptor.NewClient(apitest.New(t, clock.Wall), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			written.Add(1)
			return nil
		},
	})
	return &enact.Enactor{Client: through, Log: logr.Discard(), Promises: true, Now: clock.Wall}, written
}

// While kube-scheduler works through its queue no pod is forgotten yet.
func TestABusySchedulerIsNotReminded(t *testing.T) {
	e, written := quietly(t)
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	e.Now = func() time.Time { return now }
	for _, look := range []struct {
		after time.Duration
		pods  []string
		want  int64
		why   string
	}{
		{0, []string{"a", "b"}, 0, "they may have been nominated only now"},
		{9 * time.Second, []string{"a"}, 0, "it is too soon"},
		{3 * time.Second, []string{"a"}, 0, "the other was bound, so it will have its turn"},
		{8 * time.Second, []string{"a"}, 2, "no pod was bound for ten seconds: taken back and made again"},
	} {
		now = now.Add(look.after)
		b, fill := world.NewBuilder(), plan.Fill{Node: "large"}
		if err := b.SetNode(world.Node{Name: "large"}); err != nil {
			t.Fatal(err)
		}
		for _, name := range look.pods {
			k := world.Key{Namespace: "default", Name: name}
			if err := b.SetPod(world.Pod{Key: k, UID: name, Waiting: true, Nominated: "large", Promised: true}); err != nil {
				t.Fatal(err)
			}
			fill.Pods = append(fill.Pods, k)
		}
		if wait := e.Promise(t.Context(), b.Snapshot(0), plan.Plan{Filled: []plan.Fill{fill}}, 0); wait <= 0 || wait > 20*time.Second {
			t.Errorf("the next look is after %s: %s", wait, look.why)
		}
		if n := written.Load(); n != look.want {
			t.Errorf("%d writes, want %d: %s", n, look.want, look.why)
		}
	}
}

// Thousands of promises do not keep the next plan waiting: so many are made, and the rest soon, unless the plan
// took so long that one for each few hundred promises would be most of the work.
func TestManyPromises(t *testing.T) {
	e, written := quietly(t)
	b, fill := world.NewBuilder(), plan.Fill{Node: "large"}
	if err := b.SetNode(world.Node{Name: "large"}); err != nil {
		t.Fatal(err)
	}
	const pods = 700
	for i := range pods {
		k := world.Key{Namespace: "default", Name: fmt.Sprint("web-", i)}
		if err := b.SetPod(world.Pod{Key: k, UID: k.Name, Waiting: true}); err != nil {
			t.Fatal(err)
		}
		fill.Pods = append(fill.Pods, k)
	}
	if wait := e.Promise(t.Context(), b.Snapshot(0), plan.Plan{Filled: []plan.Fill{fill}}, 0); wait <= 0 || wait > 2*time.Second {
		t.Errorf("the rest is due after %s, want soon", wait)
	}
	if n := written.Load(); n == 0 || n >= pods/2 {
		t.Errorf("%d of %d promises were made at once", n, pods)
	}
	made := written.Load()
	for e.Left() {
		was := written.Load()
		if e.Rest(t.Context()); written.Load() == was || written.Load()-was > pods/2 {
			t.Fatalf("%d of %d promises were made of the rest at once", written.Load()-was, pods)
		}
	}
	if n := written.Load(); made == pods || n != pods {
		t.Errorf("%d of %d promises were made when none was left", n, pods)
	}
	before := written.Load()
	if wait := e.Promise(t.Context(), b.Snapshot(0), plan.Plan{Filled: []plan.Fill{fill}}, time.Hour); wait <= 0 {
		t.Errorf("the next look is after %s, want one", wait)
	}
	if n := written.Load() - before; n != pods {
		t.Errorf("%d of %d promises were made after a plan that took long", n, pods)
	}
}
