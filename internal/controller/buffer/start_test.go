package buffer_test

import (
	"errors"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/controller/buffer"
)

// held is a cluster state that one buffer breaks.
type held struct {
	buffer.State
	buffers   []string
	delivered bool
}

func (h *held) Admitted(p *corev1.Pod) *corev1.Pod { return p }

func (h *held) SetBuffer(k world.Key, _ []world.Pod) {
	if k.Name == "bad" {
		panic("a bug in what holds room")
	}
	h.buffers = append(h.buffers, k.Name)
}

func (h *held) Delivered(string) { h.delivered = true }

// A buffer that breaks our code costs itself, and not the process at each of its starts.
func TestStartOutlivesABuffer(t *testing.T) {
	objects := []client.Object{&corev1.PodTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "t"}}}
	for _, name := range []string{"a", "bad", "z"} {
		objects = append(objects, &v1beta1.CapacityBuffer{
			ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name},
			Spec:       v1beta1.CapacityBufferSpec{PodTemplateRef: &v1beta1.LocalObjectRef{Name: "t"}, Replicas: new(int32(2))},
		})
	}
	kinds := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(kinds), v1beta1.AddToScheme(kinds)); err != nil {
		t.Fatal(err)
	}
	store, state := fake.NewClientBuilder().WithScheme(kinds).WithObjects(objects...).Build(), &held{}
	r := &buffer.Reconciler{Client: store, Live: store, Cluster: state, Now: clock.Wall}
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "z"}; !slices.Equal(state.buffers, want) || !state.delivered {
		t.Errorf("room is held for %v, want %v; all are there: %t", state.buffers, want, state.delivered)
	}
}
