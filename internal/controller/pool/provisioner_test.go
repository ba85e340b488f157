package pool

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/cluster"
)

// The status of a Provisioner shows what its nodes have; one that goes, or of which not all is known yet, keeps what it has.
func TestStatusOfAProvisioner(t *testing.T) {
	now, id := func() time.Time { return began }, world.PoolID{Kind: world.Provisioner, Name: "p"}
	kept := v1alpha5.ProvisionerStatus{Resources: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("40")}}
	for name, tc := range map[string]struct {
		why      string
		unsynced bool
		leaving  bool
		want     string // cpu in the status
	}{
		"Counted":  {why: "It has a node of four CPUs.", want: "4"},
		"Unsynced": {why: "Not all nodes have been read.", unsynced: true, want: "40"},
		"Leaving":  {why: "It is being deleted.", leaving: true, want: "40"},
	} {
		t.Run(name, func(t *testing.T) {
			var sources []string
			if tc.unsynced {
				sources = []string{"nodes"}
			}
			state := cluster.New(now, sources...)
			p := &v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Status: *kept.DeepCopy()}
			if tc.leaving {
				p.Finalizers = []string{"x/y"}
			}
			state.SetProvisioner(p)
			state.SetNode(&corev1.Node{
				ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{v1alpha5.LabelProvisioner: "p"}},
				Status:     corev1.NodeStatus{Capacity: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")}},
			})
			store := apitest.New(t, now, p)
			if tc.leaving {
				if err := store.Delete(t.Context(), p); err != nil {
					t.Fatal(err)
				}
			}
			r := &Provisioners{Client: store, Cluster: state, Now: now}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "p"}}); err != nil {
				t.Fatal(err)
			}
			if err := store.Get(t.Context(), client.ObjectKey{Name: "p"}, p); err != nil {
				t.Fatal(err)
			}
			if got := p.Status.Resources.Cpu().String(); got != tc.want {
				t.Errorf("%s It shows %s CPUs, want %s", tc.why, got, tc.want)
			}
			if r.counted.news(id, tally(state.World(), id, Usage(state.World())[id])) == (name == "Counted") {
				t.Errorf("%s Whether its status is up to date is noted wrongly", tc.why)
			}
		})
	}
	r := &Provisioners{Client: apitest.New(t, now), Cluster: cluster.New(now), Now: now}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Name: "none"}}); err != nil {
		t.Errorf("one that is gone: %v", err)
	}
}
