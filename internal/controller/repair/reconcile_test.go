package repair_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/repair"
	"github.com/tenon-sh/tenon/internal/enact"
)

// A node that is ill for too long is replaced, whether a pool or a person asked for it; not where the cause is likely elsewhere, nor a node of somebody else's.
func TestWhichNodesAreRepaired(t *testing.T) {
	for name, tc := range map[string]struct {
		why   string
		pool  string
		ill   int // of the six nodes beside it
		alone bool
		fresh bool // it was never initialized
		ends  bool
	}{
		"OfPool":     {"It is of a pool.", "p", 0, false, false, true},
		"Standalone": {"Its claim was made by hand.", "", 0, false, false, true},
		"NeverReady": {"It registered and never became ready.", "p", 0, false, true, true},
		"TooMany":    {"Half of the cluster is ill.", "", 3, false, false, false},
		"NotOurs":    {"It has no claim.", "", 0, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node := func(name string, status corev1.ConditionStatus) *corev1.Node {
					n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{v1.LabelInitialized: "true"}}, Spec: corev1.NodeSpec{ProviderID: "test:///" + name}}
					if tc.pool != "" {
						n.Labels[v1.LabelNodePool] = tc.pool
					}
					n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: status, LastTransitionTime: metav1.Now()}}
					return n
				}
				ill := node("n", corev1.ConditionFalse)
				if tc.fresh {
					delete(ill.Labels, v1.LabelInitialized)
				}
				objects := []client.Object{ill}
				for i, name := range []string{"a", "b", "c", "d", "e", "f"} {
					status := corev1.ConditionTrue
					if i < tc.ill {
						status = corev1.ConditionFalse
					}
					objects = append(objects, node(name, status))
				}
				c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
				c.Status.ProviderID = "test:///n"
				if tc.alone {
					c.Status.ProviderID = "test:///gone"
				}
				store := apitest.New(t, clock.Wall, append(objects, c)...)
				hand := &enact.Enactor{Client: store, Cluster: cluster.New(clock.Wall), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
				r := &repair.Reconciler{Client: store, Enact: hand, Now: clock.Wall, Policies: repair.Policies()}
				for range 2 { // it is ill for as long as it has been seen to be
					if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "n"}}); err != nil {
						t.Fatal(err)
					}
					time.Sleep(31 * time.Minute)
				}
				if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
					t.Fatal(err)
				}
				if ends := c.DeletionTimestamp != nil; ends != tc.ends {
					t.Errorf("%s: its claim ends: %v, want %v", tc.why, ends, tc.ends)
				}
			})
		})
	}
}

// A kubelet dates what it says by its own clock. Its node is given as long as any other.
func TestTheClockOfANode(t *testing.T) {
	for name, ahead := range map[string]time.Duration{"Right": 0, "Behind": -time.Hour, "Ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1.LabelNodePool: "p"}}, Spec: corev1.NodeSpec{ProviderID: "test:///n"}}
				since := metav1.NewTime(time.Now().Add(ahead))
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionFalse, LastTransitionTime: since, LastHeartbeatTime: since}}
				c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Finalizers: []string{v1.Finalizer}}}
				c.Status.ProviderID = "test:///n"
				store := apitest.New(t, clock.Wall, n, c)
				hand := &enact.Enactor{Client: store, Cluster: cluster.New(clock.Wall), Now: clock.Wall, Log: logr.Discard(), Targets: &enact.Targets{}}
				r := &repair.Reconciler{Client: store, Enact: hand, Now: clock.Wall, Policies: repair.Policies()}
				for _, wait := range []time.Duration{0, 29 * time.Minute, 2 * time.Minute} {
					time.Sleep(wait)
					if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKey{Name: "n"}}); err != nil {
						t.Fatal(err)
					}
					if err := store.Get(t.Context(), client.ObjectKeyFromObject(c), c); err != nil {
						t.Fatal(err)
					}
					if ill := time.Since(since.Add(-ahead)); c.DeletionTimestamp != nil != (ill > 30*time.Minute) {
						t.Errorf("after %s its claim ends: %v", ill, c.DeletionTimestamp != nil)
					}
				}
			})
		})
	}
}
