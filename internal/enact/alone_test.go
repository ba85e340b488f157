package enact

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/metric"
)

// brittle are events, and a client, that break at objects of one name.
type brittle struct {
	mu   sync.Mutex
	name string
	seen []string
}

func (b *brittle) see(name string) {
	if name == b.name {
		panic("no such key")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, name)
}

func (b *brittle) Normal(o client.Object, _, _ string, _ ...any)  { b.see(o.GetName()) }
func (b *brittle) Warning(o client.Object, _, _ string, _ ...any) { b.see(o.GetName()) }
func (b *brittle) WarningEvery(_ time.Duration, o client.Object, _, _ string) {
	b.see(o.GetName())
}

// An object that breaks our code while a plan is carried out costs itself: all
// others are written and told of, and the log and a metric tell of it.
func TestOneThatBreaksIsAlone(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	keys := make([]world.Key, len(names))
	w := world.NewBuilder()
	for i, n := range names {
		keys[i] = world.Key{Namespace: "default", Name: n}
		must(t, w.SetPod(world.Pod{Key: keys[i], UID: n, Waiting: true}))
	}
	must(t, w.SetNode(world.Node{Name: "node"}))
	podsOf := func() []*world.Pod {
		var out []*world.Pod
		for _, k := range keys {
			out = append(out, w.Snapshot(0).Pod(k))
		}
		return out
	}
	tests := map[string]func(t *testing.T, e *Enactor){
		"Ask": func(t *testing.T, e *Enactor) {
			var asks []plan.Ask
			for _, n := range names {
				asks = append(asks, plan.Ask{Name: n, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Labels: map[string]string{"ask": n}})
			}
			made, err := e.Ask(t.Context(), asks, Provisioned)
			if err == nil || !strings.Contains(err.Error(), "ask for b: it meets a bug in Tenon") || len(made) != 3 {
				t.Errorf("made %v, and %v", made, err)
			}
		},
		"Tell": func(_ *testing.T, e *Enactor) {
			p := plan.Plan{}
			for _, k := range keys {
				p.Refused = append(p.Refused, plan.Refusal{Pod: k, Why: &reason.Why{Code: reason.NoPlace}})
			}
			e.Publish(w.Snapshot(0), p, nil)
		},
		"Promise": func(t *testing.T, e *Enactor) {
			e.Promise(t.Context(), w.Snapshot(0), plan.Plan{Filled: []plan.Fill{{Node: "node", Pods: keys}}}, 0)
		},
		"Evict": func(t *testing.T, e *Enactor) {
			NewEvictor(e).Evict(t.Context(), &corev1.Node{}, podsOf(), "drift")
		},
	}
	for name, do := range tests {
		t.Run(name, func(t *testing.T) {
			pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
			pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}
			written, told := &brittle{name: "b"}, &brittle{name: "b"}
			through := interceptor.NewClient(apitest.New(t, clock.Wall, pool), interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					written.see(o.GetLabels()["ask"])
					return c.Create(ctx, o, opts...)
				},
				SubResourcePatch: func(_ context.Context, _ client.Client, _ string, o client.Object, _ client.Patch, _ ...client.SubResourcePatchOption) error {
					written.see(o.GetName())
					return nil
				},
				SubResourceCreate: func(_ context.Context, _ client.Client, _ string, o, _ client.Object, _ ...client.SubResourceCreateOption) error {
					written.see(o.GetName())
					return nil
				},
			})
			registry := prometheus.NewRegistry()
			set, err := metric.New(registry, nil)
			must(t, err)
			suffix := 0
			var mu sync.Mutex
			e := &Enactor{
				Client: through, Cluster: cluster.New(clock.At(time.Unix(1_000_000, 0))), Events: told, Metrics: set, Now: clock.Wall, Log: logr.Discard(), Targets: &Targets{}, Promises: true,
				Suffix: func() string { mu.Lock(); defer mu.Unlock(); suffix++; return fmt.Sprint(suffix) },
			}
			do(t, e)
			got := slices.Concat(written.seen, told.seen)
			slices.Sort(got)
			if got = slices.Compact(got); !slices.Equal(got, []string{"a", "c", "d"}) {
				t.Errorf("done for %v, want all but b", got)
			}
			if n := caught(t, registry); n != 1 {
				t.Errorf("%v panics are counted, want 1", n)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// caught is how many panics are counted.
func caught(t *testing.T, g prometheus.Gatherer) (n float64) {
	t.Helper()
	families, err := g.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == metric.Panics {
			n += f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return n
}
