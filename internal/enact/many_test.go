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
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// Thousands of promises do not keep the next plan waiting: so many are made, and the rest soon.
func TestManyPromises(t *testing.T) {
	var written atomic.Int64
	through := interceptor.NewClient(kubetest.Client(t), interceptor.Funcs{
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			written.Add(1)
			return nil
		},
	})
	e := &enact.Enactor{Client: through, Log: logr.Discard(), Promises: true, Now: clock.Wall}
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
	if wait := e.Promise(t.Context(), b.Snapshot(0), plan.Plan{Filled: []plan.Fill{fill}}); wait <= 0 || wait > 2*time.Second {
		t.Errorf("the rest is due after %s, want soon", wait)
	}
	if n := written.Load(); n == 0 || n >= pods/2 {
		t.Errorf("%d of %d promises were made at once", n, pods)
	}
}
