package register_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/controller/register"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func launched(change ...func(*v1.NodeClaim)) *v1.NodeClaim {
	c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "1"}, Status: v1.NodeClaimStatus{ProviderID: "m"}}
	c.Conditions().True(v1.ConditionLaunched, "", "", noon)
	for _, f := range change {
		f(c)
	}
	return c
}

func TestNext(t *testing.T) {
	tests := map[string]struct {
		why   string
		claim *v1.NodeClaim
		nodes int
		want  register.Kind
	}{
		"NotLaunched": {"It has no machine.", &v1.NodeClaim{}, 0, register.Nothing},
		"Unlaunched":  {"It is not known yet what its machine is.", launched(func(c *v1.NodeClaim) { c.Conditions().Unknown(v1.ConditionLaunched, "", "", noon) }), 1, register.Nothing},
		"Nameless":    {"Every node without a provider ID would be its own.", launched(func(c *v1.NodeClaim) { c.Status.ProviderID = "" }), 1, register.Nothing},
		"Leaving":     {"It is leaving.", launched(func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: noon} }), 1, register.Nothing},
		"Again":       {"It is registered.", launched(func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", noon) }), 0, register.Nothing},
		"None":        {"Its machine still starts.", launched(), 0, register.Wait},
		"One":         {"Its machine has joined.", launched(), 1, register.Match},
		"Two":         {"It cannot be told which is the machine.", launched(), 2, register.TooMany},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := register.Next(tc.claim, make([]corev1.Node, tc.nodes)); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

// A node that its kubelet made again, after somebody deleted it, is the claim's as the first was.
func TestRejoined(t *testing.T) {
	registered := launched(func(c *v1.NodeClaim) {
		c.Labels = map[string]string{"team": "a"}
		c.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		c.Conditions().True(v1.ConditionRegistered, "", "", noon)
	})
	node := func(change func(*corev1.Node)) corev1.Node {
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}}}
		change(&n)
		return n
	}
	for name, tc := range map[string]struct {
		why   string
		nodes []corev1.Node
		want  register.Kind
	}{
		"New":     {"It does not know that it is the claim's.", []corev1.Node{node(func(*corev1.Node) {})}, register.Rejoin},
		"Known":   {"It is the one that joined first.", []corev1.Node{node(func(n *corev1.Node) { n.Labels = map[string]string{v1.LabelRegistered: "true"} })}, register.Nothing},
		"Leaving": {"It is being deleted.", []corev1.Node{node(func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: noon} })}, register.Nothing},
		"Two":     {"It cannot be told which is the machine.", []corev1.Node{node(func(*corev1.Node) {}), node(func(*corev1.Node) {})}, register.Nothing},
		"None":    {"It was deleted.", nil, register.Nothing},
	} {
		t.Run(name, func(t *testing.T) {
			if got := register.Next(registered, tc.nodes); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
	again := node(func(*corev1.Node) {})
	for _, complete := range []bool{false, true} {
		if complete {
			registered.Conditions().True(v1.ConditionInitialized, "", "", noon)
		}
		got := register.Rejoined(&again, registered)
		if diff := cmp.Diff(registered.Spec.Taints, got.Spec.Taints); diff != "" {
			t.Errorf("taints -want +got\n%s", diff)
		}
		if !slices.Contains(got.Finalizers, v1.Finalizer) || got.Labels["team"] != "a" || got.Labels[v1.LabelRegistered] != "true" || (got.Labels[v1.LabelInitialized] == "true") != complete {
			t.Errorf("complete %t: the finalizers are %v, the labels %v", complete, got.Finalizers, got.Labels)
		}
	}
}

func TestUnguarded(t *testing.T) {
	const pool, provisioner = v1.LabelNodePool, "karpenter.sh/provisioner-name"
	tests := map[string]struct {
		why    string
		of     string
		labels map[string]string
		taints []corev1.Taint
		want   bool
	}{
		"Bare":        {"Nothing kept pods off.", pool, nil, nil, true},
		"Tainted":     {"The taint keeps them off.", pool, nil, []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}, false},
		"Matched":     {"It was matched, and the taint taken off.", pool, map[string]string{v1.LabelRegistered: "true"}, nil, false},
		"Provisioner": {"Its nodes never have the taint.", provisioner, nil, nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := launched(func(c *v1.NodeClaim) { c.Labels = map[string]string{tc.of: "p"} })
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}, Spec: corev1.NodeSpec{Taints: tc.taints}}
			if got := register.Unguarded(n, c); got != tc.want {
				t.Errorf("%t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
}

// Another taint, or another effect, keeps no pods off; and a node that was matched is open whatever is put on it later.
func TestClosed(t *testing.T) {
	taint := corev1.Taint{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}
	registered := map[string]string{v1.LabelRegistered: "true"}
	tests := map[string]struct {
		labels map[string]string
		taint  corev1.Taint
		want   bool
	}{
		"Joining": {nil, taint, true},
		"Matched": {registered, taint, false},
		"Another": {nil, corev1.Taint{Key: "node.kubernetes.io/not-ready", Effect: corev1.TaintEffectNoExecute}, false},
		"Weaker":  {nil, corev1.Taint{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoSchedule}, false},
	}
	for name, tc := range tests {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Labels: tc.labels}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{tc.taint}}}
		if got := register.Closed(n); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

func TestWaiting(t *testing.T) {
	for pods, want := range map[int]string{1: "so that a pod that is spread over zones can", 2: "so that 2 pods that are spread over zones can"} {
		got := register.Waiting("n", nominate.Opening{Until: noon.Unix(), Pods: make([]world.Key, pods)})
		if !strings.Contains(got, want) || !strings.HasPrefix(got, "Node n takes no pods until 12:00:00 UTC at the latest") {
			t.Errorf("of %d it says %q", pods, got)
		}
	}
}

func TestLeft(t *testing.T) {
	tests := map[string]struct {
		why  string
		age  time.Duration
		want time.Duration
	}{
		"New":    {"It has only just joined.", 0, 20 * time.Second},
		"Half":   {"", 10 * time.Second, 10 * time.Second},
		"Over":   {"", time.Minute, -40 * time.Second},
		"Soon":   {"Clocks differ by a little; no node waits longer for it.", -time.Second, 20 * time.Second},
		"Edge":   {"So much clocks may differ.", -20 * time.Second, 20 * time.Second},
		"Future": {"By that clock it would wait for an hour.", -time.Hour, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon.Add(-tc.age))}}
			if got := register.Left(n, 20*time.Second, noon); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

// A node that takes no pods yet gets all else at once, and startup taints that go meanwhile do not come back.
func TestKept(t *testing.T) {
	c := launched(func(c *v1.NodeClaim) {
		c.Labels = map[string]string{v1.LabelNodePool: "p"}
		c.Spec.StartupTaints = []corev1.Taint{{Key: "wait", Effect: corev1.TaintEffectNoSchedule}}
	})
	n := &corev1.Node{Spec: corev1.NodeSpec{Taints: []corev1.Taint{{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}}}}
	kept := register.Kept(n, c)
	if !register.Closed(kept) || kept.Labels[v1.LabelNodePool] != "p" || len(kept.OwnerReferences) != 1 || len(kept.Spec.Taints) != 2 {
		t.Errorf("kept as %+v", kept)
	}
	if diff := cmp.Diff(kept, register.Kept(kept, c)); diff != "" {
		t.Errorf("kept once more it is another node:\n%s", diff)
	}
	kept.Spec.Taints = kept.Spec.Taints[1:]
	if open := register.Matched(kept, c); register.Closed(open) || len(open.Spec.Taints) != 0 {
		t.Errorf("open it has taints %v", open.Spec.Taints)
	}
}

func TestMatched(t *testing.T) {
	c := launched(func(c *v1.NodeClaim) {
		c.Labels = map[string]string{v1.LabelNodePool: "p", "team": "a"}
		c.Annotations = map[string]string{"note": "x", v1.AnnotationOrder: "o", annotation.Booked: "{}"}
		c.Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
		c.Spec.StartupTaints = []corev1.Taint{{Key: "wait", Effect: corev1.TaintEffectNoSchedule}}
	})
	n := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "b", "own": "1"}},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: v1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute}, {Key: "gpu", Value: "own", Effect: corev1.TaintEffectNoSchedule},
		}},
	}
	got := register.Matched(n, c)
	block := true
	want := &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{v1.LabelNodePool: "p", "team": "a", "own": "1", v1.LabelRegistered: "true"},
			Annotations:     map[string]string{"note": "x"},
			Finalizers:      []string{v1.Finalizer},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim", Name: "c", UID: "1", BlockOwnerDeletion: &block}},
		},
		Spec: corev1.NodeSpec{Taints: []corev1.Taint{
			{Key: "gpu", Value: "own", Effect: corev1.TaintEffectNoSchedule}, {Key: "wait", Effect: corev1.TaintEffectNoSchedule},
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(got, register.Matched(got, c)); diff != "" {
		t.Errorf("matched once more it is another node:\n%s", diff)
	}
	n.Labels[v1.LabelDoNotSyncTaints] = "true"
	if own := register.Matched(n, c); len(own.Spec.Taints) != 1 {
		t.Errorf("a node that keeps its taints to itself got %v", own.Spec.Taints)
	}
}
