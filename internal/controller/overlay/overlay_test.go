package overlay_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/overlay"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// state is a cluster that has judged an overlay.
type state struct {
	verdict cluster.Verdict
	unseen  bool
}

func (p state) Overlay(string) (cluster.Verdict, bool) { return p.verdict, !p.unseen }
func (p state) Synced() (bool, time.Time)              { return true, noon }
func (p state) Listen(func(cluster.Change))            {}

func TestReconcile(t *testing.T) {
	tests := map[string]struct {
		why   string
		seen  state
		want  []string // type, status and reason of each condition
		again time.Duration
	}{
		"Applies":  {"What is judged and right is ready.", state{verdict: cluster.Verdict{Generation: 1}}, []string{"ValidationSucceeded True ValidationSucceeded", "Ready True Ready"}, 5 * time.Minute},
		"Wrong":    {"What cannot be read is said.", state{verdict: cluster.Verdict{Generation: 1, Wrong: "no price"}}, []string{"ValidationSucceeded False RuntimeValidation", "Ready False UnhealthyDependents"}, 5 * time.Minute},
		"Conflict": {"So is what contradicts another.", state{verdict: cluster.Verdict{Generation: 1, Against: "b"}}, []string{"ValidationSucceeded False Conflict", "Ready False UnhealthyDependents"}, 5 * time.Minute},
		"Unseen":   {"Nothing is said of what the cluster state does not show.", state{unseen: true}, nil, time.Second},
		"Older":    {"Nor of an older generation.", state{verdict: cluster.Verdict{Generation: 0}}, nil, time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o := &v1alpha1.NodeOverlay{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			store := apitest.New(t, clock.At(noon), o)
			r := &overlay.Reconciler{Client: store, Cluster: tc.seen, Now: clock.At(noon)}
			got, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)})
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
				t.Fatal(err)
			}
			var conditions []string
			for _, c := range o.Status.Conditions {
				conditions = append(conditions, c.Type+" "+string(c.Status)+" "+c.Reason)
				if c.ObservedGeneration != 1 {
					t.Errorf("%s is of generation %d", c.Type, c.ObservedGeneration)
				}
			}
			if diff := cmp.Diff(tc.want, conditions); diff != "" || got.RequeueAfter != tc.again {
				t.Errorf("%s again after %s -want +got\n%s", tc.why, got.RequeueAfter, diff)
			}
		})
	}
}
