package initialize_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
)

// slice is one of so many of a pool of devices of node n.
func slice(driver string, generation, count int64, change ...func(*resourcev1.ResourceSlice)) resourcev1.ResourceSlice {
	node := "n"
	s := resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{
		Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: "pool", Generation: generation, ResourceSliceCount: count},
	}}
	for _, c := range change {
		c(&s)
	}
	return s
}

func TestUnpublished(t *testing.T) {
	elsewhere := func(s *resourcev1.ResourceSlice) { other := "m"; s.Spec.NodeName = &other }
	everywhere := func(s *resourcev1.ResourceSlice) { all := true; s.Spec.NodeName, s.Spec.AllNodes = nil, &all }
	owned := func(s *resourcev1.ResourceSlice) {
		s.Spec.NodeName, s.OwnerReferences = nil, []metav1.OwnerReference{{Kind: "Node", Name: "n", UID: "u"}}
	}
	others := func(kind string, uid types.UID) func(*resourcev1.ResourceSlice) {
		return func(s *resourcev1.ResourceSlice) {
			s.Spec.NodeName, s.OwnerReferences = nil, []metav1.OwnerReference{{Kind: kind, Name: "n", UID: uid}}
		}
	}
	second := func(s *resourcev1.ResourceSlice) { s.Spec.Pool.Name = "second" }
	type published = []resourcev1.ResourceSlice
	for name, tc := range map[string]struct {
		why     string
		drivers []string
		slices  published
		want    string
	}{
		"None":       {"Nothing is asked for.", nil, nil, ""},
		"Nothing":    {"Nothing is published.", []string{"gpu"}, nil, "gpu"},
		"Published":  {"All of it is.", []string{"gpu"}, published{slice("gpu", 1, 2), slice("gpu", 1, 2)}, ""},
		"Half":       {"One slice of two is.", []string{"gpu"}, published{slice("gpu", 1, 2)}, "gpu"},
		"Renewed":    {"What counts is the latest generation.", []string{"gpu"}, published{slice("gpu", 1, 1), slice("gpu", 2, 2)}, "gpu"},
		"Outdated":   {"What is left of the one before does not.", []string{"gpu"}, published{slice("gpu", 2, 1), slice("gpu", 1, 2)}, ""},
		"OnePool":    {"One whole pool will do.", []string{"gpu"}, published{slice("gpu", 1, 2), slice("gpu", 1, 1, second)}, ""},
		"Elsewhere":  {"They are of another node.", []string{"gpu"}, published{slice("gpu", 1, 1, elsewhere)}, "gpu"},
		"Everywhere": {"They are of no node.", []string{"gpu"}, published{slice("gpu", 1, 1, everywhere)}, "gpu"},
		"Owned":      {"The node owns them.", []string{"gpu"}, published{slice("gpu", 1, 1, owned)}, ""},
		"First":      {"Generations count from nought.", []string{"gpu"}, published{slice("gpu", 0, 1)}, ""},
		"Before":     {"A node that had the name before owns them.", []string{"gpu"}, published{slice("gpu", 1, 1, others("Node", "v"))}, "gpu"},
		"ByPod":      {"Something else owns them.", []string{"gpu"}, published{slice("gpu", 1, 1, others("Pod", "u"))}, "gpu"},
		"Second":     {"One driver of two has published.", []string{"gpu", "nic"}, published{slice("gpu", 1, 1)}, "nic"},
	} {
		t.Run(name, func(t *testing.T) {
			n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: types.UID("u")}}
			if got, _ := initialize.Unpublished(tc.drivers, n, tc.slices); got != tc.want {
				t.Errorf("%q has not published, want %q: %s", got, tc.want, tc.why)
			}
		})
	}
}

// A node whose claim names drivers of dynamic resources takes no pods before these have published their devices there.
func TestNodeWaitsForDevices(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newFixture(t)
		c, _ := x.now(t)
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.AnnotationRequestedDRADrivers, "gpu.example.com,nic.example.com")
		if err := x.store.Update(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		x.ready(t)
		r := through(x.store)
		look := func() time.Duration {
			t.Helper()
			out, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(x.claim)})
			if err != nil {
				t.Fatal(err)
			}
			return out.RequeueAfter
		}
		publish := func(driver string) {
			t.Helper()
			s := slice(driver, 1, 1, func(s *resourcev1.ResourceSlice) { s.Name = driver })
			if err := x.store.Create(t.Context(), &s); err != nil {
				t.Fatal(err)
			}
		}
		publish("gpu.example.com")
		for range 6 {
			again := look()
			if again == 0 {
				t.Fatal("it is never looked again whether the devices are there")
			}
			time.Sleep(again)
		}
		c, n := x.now(t)
		if s := c.Conditions().Get(v1.ConditionInitialized); s == nil || s.Status != metav1.ConditionUnknown || s.Reason != v1.ReasonDRADriversNotPublished || n.Labels[v1.LabelInitialized] != "" {
			t.Fatalf("its devices are not published, and it stands as %+v, its node with %v", s, n.Labels)
		}
		publish("nic.example.com")
		look()
		if c, n := x.now(t); !c.Conditions().Is(v1.ConditionInitialized) || n.Labels[v1.LabelInitialized] != "true" {
			t.Errorf("its devices are published, and it stands as %+v, its node with %v", c.Status.Conditions, n.Labels)
		}
	})
}
