package enact

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/observe"
)

// written are nominations, as "pod → node".
type written struct {
	mu     sync.Mutex
	all    []string
	answer error
}

// since returns those that were written since it was last asked, in order of their texts.
func (w *written) since() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := w.all
	w.all = nil
	slices.Sort(out)
	return out
}

// nominating is an Enactor whose nominations are kept and not written.
func nominating(t *testing.T) (*Enactor, *written) {
	w := &written{}
	through := interceptor.NewClient(apitest.New(t, clock.Wall), interceptor.Funcs{
		SubResourcePatch: func(_ context.Context, _ client.Client, _ string, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
			data, err := p.Data(o)
			if err != nil {
				return err
			}
			var said struct{ Status map[string]string }
			if err := json.Unmarshal(data, &said); err != nil {
				return err
			}
			node, some := said.Status["nominatedNodeName"]
			if !some {
				node = "nowhere"
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.all = append(w.all, o.GetName()+" → "+node)
			return w.answer
		},
	})
	return &Enactor{Client: through, Events: &heard{}, Now: clock.Wall, Log: logr.Discard(), Targets: &Targets{}, Promises: true}, w
}

// The pods that are planned for a claim are nominated for the node that it becomes, those of nodes that join within a
// second by one look at the cluster state, unless it does not show them yet.
func TestJoined(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	looks := 0
	state := cluster.New(func() time.Time { looks++; return now })
	e, w := nominating(t)
	e.Cluster, e.Now = state, func() time.Time { return now }
	keys := func(names ...string) (out []world.Key) {
		for _, n := range names {
			out = append(out, world.Key{Namespace: "d", Name: n})
		}
		return out
	}
	waits := func(name, nominated string) {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: name, UID: types.UID(name)}}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		if p.Status.NominatedNodeName = nominated; nominated != "" {
			p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: observe.FieldOwner, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:nominatedNodeName":{}}}`)}}
		}
		state.SetPod(p)
	}
	joins := func(node, claim string) {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: claim, UID: types.UID(claim), Labels: map[string]string{v1.LabelNodePool: "p"}}}
		c.Status.ProviderID = claim
		c.Conditions().True(v1.ConditionLaunched, "", "", now)
		c.Conditions().True(v1.ConditionRegistered, "", "", now)
		state.SetClaim(c)
		state.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, CreationTimestamp: metav1.NewTime(now)}, Spec: corev1.NodeSpec{ProviderID: claim}})
	}
	for _, name := range []string{"a", "b", "c", "e"} {
		waits(name, "")
	}
	waits("already", "n1")
	joins("n1", "c1")
	joins("n2", "c2")
	e.Targets.set(plan.Plan{Filled: []plan.Fill{{Claim: "c1", Pods: keys("a", "already")}, {Claim: "c2", Pods: keys("b")}, {Claim: "c3", Pods: keys("c")}, {Claim: "c4", Pods: keys("late")}}}, nil)
	step := func(why, claim, node string, looked bool, want ...string) {
		t.Helper()
		looks = 0
		e.Joined(t.Context(), claim, node)
		if got := w.since(); !slices.Equal(got, want) {
			t.Errorf("%s: written are %q, want %q", why, got, want)
		}
		if (looks > 0) != looked {
			t.Errorf("%s: the cluster state was looked at: %t", why, looks > 0)
		}
	}
	step("one pod is nominated for it already", "c1", "n1", true, "a → n1")
	step("it joined at the same time", "c2", "n2", false, "b → n2")
	joins("n3", "c3")
	step("its node was not there then", "c3", "n3", true, "c → n3")
	joins("n4", "c4")
	step("its node is not known yet, so it is looked at, and its pod is not there", "c4", "n4", true)
	waits("late", "")
	step("its pod was not there then", "c4", "n4", true, "late → n4")
	step("that has just been looked at", "c4", "n4", false, "late → n4")
	now = now.Add(openEvery)
	step("what was seen a second ago is not what is", "c4", "n4", true, "late → n4")
	step("no pods are planned for it", "c5", "n5", false)
	e.Publish(state.World(), plan.Plan{}, nil)
	if e.openings.counts == nil {
		t.Error("what was seen just now is forgotten")
	}
	now = now.Add(openEvery)
	if e.Publish(state.World(), plan.Plan{}, nil); e.openings.counts != nil {
		t.Error("what was seen long ago is kept, which is as large as the cluster")
	}
	e.Targets.set(plan.Plan{Filled: []plan.Fill{{Claim: "c1", Pods: keys("a")}}}, nil)
	e.Promises = false
	step("pods are not to be nominated", "c1", "n1", false)
}

// Where pods are no longer to be nominated what was is taken back, and no more is written.
func TestPromisesAreSwitchedOff(t *testing.T) {
	e, w := nominating(t)
	e.Promises = false
	b := world.NewBuilder()
	must(t, errors.Join(
		b.SetNode(world.Node{Name: "n", Ready: true}), b.SetPod(world.Pod{Key: world.Key{Name: "was"}, UID: "1", Waiting: true, Nominated: "old", Promised: true}), b.SetPod(world.Pod{Key: world.Key{Name: "is"}, UID: "2", Waiting: true}),
	))
	if again := e.Promise(t.Context(), b.Snapshot(1), plan.Plan{Filled: []plan.Fill{{Node: "n", Pods: []world.Key{{Name: "is"}}}}}, 0); again != 0 {
		t.Errorf("it is to be looked at again after %s", again)
	}
	if got := w.since(); !slices.Equal(got, []string{"was → nowhere"}) {
		t.Errorf("written are %q", got)
	}
}

// As many promises as are made at once leave nothing to be made; and a process that ends makes no more of them.
func TestPromisesEnd(t *testing.T) {
	e, w := nominating(t)
	b, fill := world.NewBuilder(), plan.Fill{Node: "n"}
	must(t, b.SetNode(world.Node{Name: "n", Ready: true}))
	add := func(n int) {
		for range n {
			k := world.Key{Name: string(rune('a' + len(fill.Pods)))}
			must(t, b.SetPod(world.Pod{Key: k, UID: k.Name, Waiting: true}))
			fill.Pods = append(fill.Pods, k)
		}
	}
	add(atOnce)
	if again := e.Promise(t.Context(), b.Snapshot(1), plan.Plan{Filled: []plan.Fill{fill}}, 0); again < remindAfter-time.Second || e.Left() || len(w.since()) != atOnce {
		t.Errorf("all were made, and the rest is due after %s", again)
	}
	add(1)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if e.Promise(ctx, b.Snapshot(1), plan.Plan{Filled: []plan.Fill{fill}}, time.Hour); !e.Left() {
		t.Error("the process ends, and all are made first")
	}
}

// What the API server says against a nomination is expected where the pod is gone, bound, or nominated by another.
func TestAnswersToNominations(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	for name, tc := range map[string]struct {
		answer error
		logged int
	}{
		"Written": {nil, 0}, "Gone": {apierrors.NewNotFound(pods, "p"), 0}, "Another": {apierrors.NewConflict(pods, "p", errors.New("the field is another's")), 0},
		"Bound": {apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil), 0}, "Refused": {apierrors.NewForbidden(pods, "p", errors.New("no")), 1}, "Wire": {errors.New("reset"), 1},
	} {
		e, w := nominating(t)
		log := &lines{}
		e.Log, w.answer = logr.New(log), tc.answer
		e.promise(t.Context(), promise{&world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, UID: "u"}, "n"})
		if log.errors != tc.logged {
			t.Errorf("%s: %d errors are logged, want %d", name, log.errors, tc.logged)
		}
	}
}
