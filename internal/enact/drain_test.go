package enact

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/metric"
)

// counted is an Enactor over a store, and how often it has patched an object.
func counted(t *testing.T, objects ...client.Object) (e *Enactor, patches *int) {
	patches = new(int)
	store := interceptor.NewClient(apitest.New(t, clock.Wall, objects...), interceptor.Funcs{
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			*patches++
			return c.Patch(ctx, o, p, opts...)
		},
	})
	for _, o := range objects {
		must(t, store.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	}
	return &Enactor{Client: store, Events: &heard{}, Now: clock.Wall, Log: logr.Discard(), Targets: &Targets{}}, patches
}

func read(t *testing.T, e *Enactor, o client.Object) {
	t.Helper()
	must(t, e.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o))
}

// A node that is marked and stays after all is as it was: what others put on it
// is there the whole time, and nothing of ours is afterwards.
func TestMarksComeAndGo(t *testing.T) {
	moves := []world.Move{{To: "n2", Pods: []world.Key{{Namespace: "d", Name: "web"}}}}
	others := []corev1.Taint{{Key: "example.com/own", Effect: corev1.TaintEffectNoExecute}, {Key: "example.com/more", Effect: corev1.TaintEffectNoSchedule}}
	for name, tc := range map[string]struct {
		why    string
		node   corev1.Node
		moves  []world.Move
		labels map[string]string // while it is marked
		notes  map[string]string
		after  map[string]string // labels when it is not
	}{
		"Plain": {"Nothing else is on it.", corev1.Node{}, nil, map[string]string{v1.LabelExcludeBalancers: v1.ExcludedByUs}, nil, nil},
		"Moves": {"What is meant for its pods is kept on it.", corev1.Node{}, moves, map[string]string{v1.LabelExcludeBalancers: v1.ExcludedByUs}, map[string]string{annotation.Moves: annotation.MovesText(moves)}, nil},
		"Others": {
			"Taints, labels and annotations of others stay.",
			corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}, Spec: corev1.NodeSpec{Taints: others}},
			moves,
			map[string]string{"a": "b", v1.LabelExcludeBalancers: v1.ExcludedByUs},
			map[string]string{"c": "d", annotation.Moves: annotation.MovesText(moves)},
			map[string]string{"a": "b"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := tc.node.DeepCopy()
			n.Name = "n"
			e, patches := counted(t, n)
			must(t, e.Mark(t.Context(), n, tc.moves))
			read(t, e, n)
			want := append(slices.Clone(tc.node.Spec.Taints), corev1.Taint{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
			if diff := cmp.Diff(want, n.Spec.Taints) + cmp.Diff(tc.labels, n.Labels) + cmp.Diff(tc.notes, n.Annotations); diff != "" || n.Spec.Unschedulable {
				t.Errorf("marked, cordoned: %t: %s\n-want +got\n%s", n.Spec.Unschedulable, tc.why, diff)
			}
			must(t, e.Mark(t.Context(), n, tc.moves))
			if *patches != 1 {
				t.Errorf("%d writes for what is so already", *patches)
			}
			must(t, e.Untaint(t.Context(), n))
			read(t, e, n)
			if diff := cmp.Diff(tc.node.Spec.Taints, n.Spec.Taints) + cmp.Diff(tc.after, n.Labels) + cmp.Diff(tc.node.Annotations, n.Annotations); diff != "" {
				t.Errorf("after all: %s\n-want +got\n%s", tc.why, diff)
			}
			must(t, e.Untaint(t.Context(), n))
			if *patches != 2 {
				t.Errorf("%d writes, want none where there is no mark", *patches)
			}
		})
	}
}

// Of a mark any part is taken off, since a person may have taken off another, and
// what looks like one and is another's stays.
func TestPartsOfMarks(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		node corev1.Node
		want corev1.Node
	}{
		"Taint":      {"Only the taint is left.", corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}}}, corev1.Node{}},
		"Label":      {"Load balancers would leave it out for ever.", corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelExcludeBalancers: v1.ExcludedByUs}}}, corev1.Node{}},
		"Annotation": {"The next process would believe that its pods are to go.", corev1.Node{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{annotation.Moves: "n2=d/web"}}}, corev1.Node{}},
		"Own": {
			"A person keeps it out of load balancers.",
			corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelExcludeBalancers: "true"}}},
			corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{v1.LabelExcludeBalancers: "true"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := tc.node.DeepCopy()
			n.Name = "n"
			e, _ := counted(t, n)
			must(t, e.Untaint(t.Context(), n))
			read(t, e, n)
			if diff := cmp.Diff(tc.want.Spec.Taints, n.Spec.Taints) + cmp.Diff(tc.want.Labels, n.Labels) + cmp.Diff(tc.want.Annotations, n.Annotations); diff != "" {
				t.Errorf("%s\n-want +got\n%s", tc.why, diff)
			}
		})
	}
}

// A node of a Provisioner that is being deleted is cordoned, too; another node is not.
func TestWhichNodesAreCordoned(t *testing.T) {
	for name, tc := range map[string]struct {
		pool  string // the label that names it
		going bool
		want  bool
	}{
		"Provisioner": {v1alpha5.LabelProvisioner, true, true},
		"Stays":       {v1alpha5.LabelProvisioner, false, false},
		"NodePool":    {v1.LabelNodePool, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{tc.pool: "p"}, Finalizers: []string{v1.Finalizer}}}
			e, _ := counted(t, n)
			if tc.going {
				must(t, e.Client.Delete(t.Context(), n))
				read(t, e, n)
			}
			next, err := e.Taint(t.Context(), n)
			must(t, err)
			read(t, e, n)
			if n.Spec.Unschedulable != tc.want || next.Spec.Unschedulable != tc.want || len(n.Spec.Taints) != 1 {
				t.Errorf("cordoned: %t, want %t; its taints are %v", n.Spec.Unschedulable, tc.want, n.Spec.Taints)
			}
		})
	}
}

// Taints that another has written meanwhile are not lost: the write fails, and is tried again on what is there.
func TestTaintsOfOthersAreNotLost(t *testing.T) {
	for name, write := range map[string]func(*Enactor, *corev1.Node) error{
		"Taint":   func(e *Enactor, n *corev1.Node) error { _, err := e.Taint(t.Context(), n); return err },
		"Mark":    func(e *Enactor, n *corev1.Node) error { return e.Mark(t.Context(), n, nil) },
		"Untaint": func(e *Enactor, n *corev1.Node) error { return e.Untaint(t.Context(), n) },
	} {
		t.Run(name, func(t *testing.T) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			if name == "Untaint" {
				n.Spec.Taints = []corev1.Taint{{Key: v1.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}}
			}
			e, _ := counted(t, n)
			old := n.DeepCopy()
			n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: "example.com/own", Effect: corev1.TaintEffectNoExecute})
			must(t, e.Client.Update(t.Context(), n))
			if err := write(e, old); !apierrors.IsConflict(err) || !strings.Contains(err.Error(), `node "n"`) {
				t.Errorf("it says %v, want a conflict that names the node", err)
			}
			if read(t, e, n); !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "example.com/own" }) {
				t.Errorf("its taints are %v", n.Spec.Taints)
			}
		})
	}
}

// asked is a client that answers evictions and deletions of pods as a table says, and keeps what it was asked.
type asked struct {
	client.WithWatch

	answer  error
	pods    []string // by UID, that were to be evicted
	seconds []int64  // of grace, that were granted
	uids    []string
}

func (a *asked) SubResource(string) client.SubResourceClient { return subresource{asked: a} }

type subresource struct {
	client.SubResourceClient
	*asked
}

func (s subresource) Create(_ context.Context, _, sub client.Object, _ ...client.SubResourceCreateOption) error {
	if e, ok := sub.(*policyv1.Eviction); ok {
		s.pods = append(s.pods, string(*e.DeleteOptions.Preconditions.UID))
		s.asked.pods = s.pods
	}
	return s.answer
}

func (a *asked) Delete(_ context.Context, _ client.Object, opts ...client.DeleteOption) error {
	var said client.DeleteOptions
	said.ApplyOptions(opts)
	a.seconds, a.uids = append(a.seconds, *said.GracePeriodSeconds), append(a.uids, string(*said.Preconditions.UID))
	return a.answer
}

func gone(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, name)
}

func another(name string) error {
	return apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, name, errors.New("the UID is another"))
}

// Each answer to an eviction has its consequence: what is told, and whether the pod is asked again soon.
func TestAnswersToEvictions(t *testing.T) {
	terminating := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("it ends"))
	terminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, tc := range map[string]struct {
		why    string
		answer error
		says   string // what the event begins with
		again  bool   // it is asked again at once
		logged bool
		code   string // of the answer, as metrics tell it
	}{
		"Evicted":  {why: "It is told so, with the reason.", says: "p Evicted Evicted pod: Drifted", again: true, code: "200"},
		"Budget":   {why: "Its budget allows no eviction now: the node tells.", answer: apierrors.NewTooManyRequests("no", 10), says: "n FailedDraining evicting pod violates a disruption budget: d/p", code: "429"},
		"Budgets":  {why: "Two budgets guard it, which the API server refuses as an error of its own.", answer: apierrors.NewInternalError(errors.New("this pod has more than one PodDisruptionBudget")), says: "n FailedDraining evicting pod violates a disruption budget: d/p", code: "500"},
		"Webhook":  {why: "A webhook that does not answer is no budget: the node tells.", answer: apierrors.NewInternalError(errors.New("failed calling webhook")), says: "n FailedDraining evicting pod d/p is refused, and tried again: Internal error occurred: failed", logged: true, code: "500"},
		"Policy":   {why: "What a policy of others refuses is told by the node.", answer: apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "p", errors.New("not on Wednesdays")), says: "n FailedDraining evicting pod d/p is refused, and tried again: pods \"p\" is forbidden: not on", logged: true, code: "403"},
		"Silent":   {why: "No answer came in time, which need not be because of a budget.", answer: context.DeadlineExceeded, says: "n FailedDraining evicting pod d/p: the API server has not answered within 3s", code: "0"},
		"Gone":     {why: "It has left.", answer: gone("p"), again: true, code: "404"},
		"Another":  {why: "Another pod has its name.", answer: another("p"), again: true, code: "409"},
		"Deleted":  {why: "Its namespace goes and takes it along.", answer: terminating, code: "403"},
		"Unlooked": {why: "What nothing foresaw is in the log.", answer: errors.New("a wire broke"), logged: true, code: "0"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			events, api, log := &heard{}, &asked{answer: tc.answer}, &lines{}
			registry := prometheus.NewRegistry()
			set, err := metric.New(registry, nil)
			must(t, err)
			e := NewEvictor(&Enactor{Client: api, Events: events, Metrics: set, Now: func() time.Time { return now }, Log: logr.New(log)})
			p, node := &world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, UID: "u"}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
			e.Evict(t.Context(), node, []*world.Pod{p}, "Drifted")
			if diff := cmp.Diff([]string{"u"}, api.pods); diff != "" {
				t.Errorf("asked for\n%s", diff)
			}
			if diff := cmp.Diff(map[string]float64{metric.PodsEvictionRequests + " code=" + tc.code: 1}, told(t, registry, metric.PodsEvictionRequests)); diff != "" {
				t.Errorf("counted: -want +got\n%s", diff)
			}
			if said := strings.Join(*events, "; "); !strings.HasPrefix(said, tc.says) || tc.says == "" && said != "" {
				t.Errorf("said %q, want %q: %s", said, tc.says, tc.why)
			}
			if (log.errors > 0) != tc.logged {
				t.Errorf("%d lines of errors: %s", log.errors, tc.why)
			}
			e.Evict(t.Context(), node, []*world.Pod{p}, "Drifted")
			if again := len(api.pods) > 1; again != tc.again {
				t.Errorf("asked again at once: %t: %s", again, tc.why)
			}
		})
	}
}

// lines counts lines of the log.
type lines struct{ errors int }

func (*lines) Init(logr.RuntimeInfo)            {}
func (*lines) Enabled(int) bool                 { return true }
func (*lines) Info(int, string, ...any)         {}
func (l *lines) Error(error, string, ...any)    { l.errors++ }
func (l *lines) WithValues(...any) logr.LogSink { return l }
func (l *lines) WithName(string) logr.LogSink   { return l }

// A pod whose budget allows nothing is asked ever less often, each by itself, up
// to every ten seconds; one that is gone leaves nothing behind.
func TestRefusedPodsAreAskedLessOften(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	api := &asked{answer: apierrors.NewTooManyRequests("no", 1)}
	e := NewEvictor(&Enactor{Client: api, Events: &heard{}, Now: func() time.Time { return now }, Log: logr.Discard()})
	pods := []*world.Pod{{Key: world.Key{Namespace: "d", Name: "p"}, UID: "u"}}
	tries := func(over time.Duration) int {
		before := len(api.pods)
		for end := now.Add(over); now.Before(end); now = now.Add(50 * time.Millisecond) {
			e.Evict(t.Context(), &corev1.Node{}, pods, "Drifted")
		}
		return len(api.pods) - before
	}
	if n := tries(20 * time.Second); n < 7 || n > 9 {
		t.Errorf("asked %d times in the first 20 seconds, want 8: after 0.1, 0.2, 0.4 s and so on", n)
	}
	if n := tries(time.Minute); n < 5 || n > 7 {
		t.Errorf("asked %d times in the next minute, want 6", n)
	}
	pods = append(pods, &world.Pod{Key: world.Key{Namespace: "d", Name: "q"}, UID: "v"})
	tries(50 * time.Millisecond)
	if last := api.pods[len(api.pods)-1]; last != "v" {
		t.Errorf("the pod that came last asked was %s: another's wait is none of its own", last)
	}
	pods = pods[:1]
	e.Forget("u")
	if n := tries(50 * time.Millisecond); n != 1 {
		t.Errorf("asked %d times, want once: what was known of it is forgotten", n)
	}
}

// A pod that may stay no longer is granted what is left, in whole seconds and at
// least one, for less would end it without its kubelet; and it is that pod, not another by its name.
func TestForce(t *testing.T) {
	for name, tc := range map[string]struct {
		grace   time.Duration
		answer  error
		granted int64
		fails   bool
	}{
		"Whole":   {grace: 90 * time.Second, granted: 90},
		"Part":    {grace: 2500 * time.Millisecond, granted: 2},
		"Nothing": {grace: 0, granted: 1},
		"Gone":    {grace: time.Second, answer: gone("p"), granted: 1},
		"Another": {grace: time.Second, answer: another("p"), granted: 1},
		"Refused": {grace: time.Second, answer: errors.New("no"), granted: 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			api, events := &asked{answer: tc.answer}, &heard{}
			e := NewEvictor(&Enactor{Client: api, Events: events, Now: clock.Wall, Log: logr.Discard()})
			err := e.Force(t.Context(), &world.Pod{Key: world.Key{Namespace: "d", Name: "p"}, UID: "u"}, tc.grace)
			if (err != nil) != tc.fails || tc.fails && !strings.Contains(err.Error(), "delete pod d/p") {
				t.Errorf("it says %v", err)
			}
			if !slices.Equal(api.seconds, []int64{tc.granted}) || !slices.Equal(api.uids, []string{"u"}) {
				t.Errorf("granted %v to %v, want %d to u", api.seconds, api.uids, tc.granted)
			}
			if told := len(*events) == 1; told == tc.fails {
				t.Errorf("said %q", *events)
			}
		})
	}
}
