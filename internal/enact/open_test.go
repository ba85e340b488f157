package enact_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/enact"
)

// A new leader knows no plan, and goes by what claims tell of their pods.
func TestOpening(t *testing.T) {
	joined := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	now := joined
	state := cluster.New(func() time.Time { return now })
	e := &enact.Enactor{Cluster: state, Targets: &enact.Targets{}, Now: func() time.Time { return now }}
	zone := func(z string) map[string]string {
		return map[string]string{v1.LabelNodePool: "p", corev1.LabelTopologyZone: z}
	}
	spread := func(name, node string) world.Key {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: name, UID: types.UID(name), Labels: map[string]string{"app": "x"}}}
		p.Spec.NodeName = node
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{
			MaxSkew: 1, TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: &metav1.LabelSelector{MatchLabels: p.Labels},
		}}
		state.SetPod(p)
		return world.Key{Namespace: "n", Name: name}
	}
	claim := func(name, zoneName string, pods ...world.Key) {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), Labels: zone(zoneName), CreationTimestamp: metav1.NewTime(joined.Add(-time.Minute)),
			Annotations: map[string]string{annotation.Pods: annotation.PodsText(pods)},
		}}
		c.Status.ProviderID = name
		c.Conditions().True(v1.ConditionLaunched, "", "", joined)
		state.SetClaim(c)
	}
	node := func(name, claim, zoneName string) {
		state.SetNode(&corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: zone(zoneName), CreationTimestamp: metav1.NewTime(joined)}, Spec: corev1.NodeSpec{ProviderID: claim},
		})
	}
	node("old", "", "a")
	spread("running", "old")
	claim("here", "a", spread("ahead", ""))
	claim("there", "b", spread("lagging", ""))
	is := func(want bool, why string) nominate.Opening {
		t.Helper()
		o := e.Opening("new", 20*time.Second)
		if o.Open != want {
			t.Errorf("%+v at %s: %s", o, now, why)
		}
		return o
	}
	if o := is(false, "the node was not seen"); len(o.Pods) > 0 {
		t.Errorf("it waits for %v", o.Pods)
	}
	node("new", "here", "") // its zone is known by its claim
	if o := is(false, "zone a is ahead"); len(o.Pods) != 1 || o.Until != joined.Add(20*time.Second).Unix() {
		t.Errorf("%+v, want to wait for one pod, and 20 seconds at most", o)
	}
	if o := e.Opening("there", 20*time.Second); o.Open {
		t.Errorf("%+v: there is a claim of that name, and no node yet", o)
	}
	now = joined.Add(19 * time.Second)
	is(false, "it may wait for a second more")
	now = joined.Add(20 * time.Second)
	is(true, "it has waited long enough")
	now = joined.Add(2 * time.Second)
	node("late", "there", "b")
	now = now.Add(2 * time.Second)
	if o := e.Opening("late", 20*time.Second); !o.Open {
		t.Errorf("%+v: zone b lags", o)
	}
	spread("lagging", "late")
	now = now.Add(2 * time.Second)
	is(true, "zone a is not ahead any more")
	e.Publish(state.World(), plan.Plan{}, nil)
	if o := e.Opening("old", 20*time.Second); !o.Open {
		t.Errorf("%+v: it takes pods already", o)
	}
}

// A decision that takes long is not made again for each of the nodes that wait for it.
func TestOpeningsThatTakeLong(t *testing.T) {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	looks := 0
	state := cluster.New(func() time.Time {
		looks++ // the cluster state asks when it is frozen
		now = now.Add(10 * time.Second)
		return now
	})
	e := &enact.Enactor{Cluster: state, Targets: &enact.Targets{}, Now: func() time.Time { return now }}
	for _, name := range []string{"a", "b"} {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: map[string]string{v1.LabelNodePool: "p"}}}
		c.Status.ProviderID = name
		c.Conditions().True(v1.ConditionLaunched, "", "", now)
		state.SetClaim(c)
		state.SetNode(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(now)}, Spec: corev1.NodeSpec{ProviderID: name}})
	}
	looks = 0
	for _, name := range []string{"a", "b", "a"} {
		if o := e.Opening(name, time.Hour); !o.Open {
			t.Errorf("%+v: there is nothing to wait for", o)
		}
	}
	once := looks
	now = now.Add(time.Hour)
	e.Opening("b", time.Hour)
	if again := looks - once; once == 0 || once > again {
		t.Errorf("the cluster state was asked for the time %d times for three nodes and %d times for one, want one decision each", once, again)
	}
}
