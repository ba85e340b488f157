package crds_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs(".")) }

// create writes an object as kubectl apply does, with unknown fields refused, and keeps nothing.
func create(ctx context.Context, c client.Client, object map[string]any) error {
	u := &unstructured.Unstructured{Object: object}
	return c.Create(ctx, u, client.DryRunAll, client.FieldValidation(metav1.FieldValidationStrict))
}

// TestTheServerAgrees asks a real API server about every manifest that the tables above judge in process.
func TestTheServerAgrees(t *testing.T) {
	c := kubetest.Client(t, v1.AddToScheme)
	for _, file := range files(t, "testdata/accept") {
		for _, object := range documents(t, read(t, file)) {
			if err := create(t.Context(), c, object); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, file := range files(t, "testdata/refuse") {
		for _, part := range strings.Split(string(read(t, file)), "\n---\n") {
			wants := expectations(part)
			for _, object := range documents(t, []byte(part)) {
				err := create(t.Context(), c, object)
				if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
					t.Errorf("%s: want refused with %q, got %v", file, wants, err)
					continue
				}
				for _, want := range wants {
					path, text, _ := strings.Cut(want, ": ")
					if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), text) {
						t.Errorf("%s: want a refusal with %q, got %v", file, want, err)
					}
				}
			}
		}
	}
}

// TestScale scales a static pool as `kubectl scale` does.
func TestScale(t *testing.T) {
	c := kubetest.Client(t, v1.AddToScheme)
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "scaled"}}
	pool.Spec.Replicas = new(int64(1))
	pool.Spec.Template.Spec = v1.NodeClaimTemplateSpec{
		NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "k", Name: "n"}, Requirements: []v1.Requirement{},
	}
	if err := c.Create(t.Context(), pool); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Delete(context.WithoutCancel(t.Context()), pool) })
	scale := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": map[string]any{"name": "scaled"}, "spec": map[string]any{"replicas": int64(3)},
	}}
	if err := c.SubResource("scale").Update(t.Context(), pool, client.WithSubResourceBody(scale)); err != nil {
		t.Fatal(err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(pool), pool); err != nil {
		t.Fatal(err)
	}
	if *pool.Spec.Replicas != 3 {
		t.Errorf("replicas are %d, want 3", *pool.Spec.Replicas)
	}
}
