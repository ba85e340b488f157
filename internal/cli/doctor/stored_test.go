package doctor

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestStoredVersions(t *testing.T) {
	kind := func(name string, versions ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"metadata": map[string]any{"name": name}, "status": map[string]any{"storedVersions": versions},
		}}
	}
	for name, c := range map[string]struct {
		why   string
		kinds []*unstructured.Unstructured
		says  string
	}{
		"none":   {"Without the kinds there is nothing to say.", nil, ""},
		"today":  {"Objects of v1 are as they should be.", []*unstructured.Unstructured{kind("nodepools.karpenter.sh", "v1")}, ""},
		"before": {"Objects of v1beta1 would not be read.", []*unstructured.Unstructured{kind("nodepools.karpenter.sh", "v1beta1", "v1")}, "nodepools.karpenter.sh are stored as v1beta1"},
	} {
		t.Run(name, func(t *testing.T) {
			b := fake.NewClientBuilder().WithScheme(runtime.NewScheme())
			for _, k := range c.kinds {
				b = b.WithObjects(k)
			}
			found := stored(t.Context(), b.Build())
			if c.says == "" && len(found) > 0 || c.says != "" && (len(found) != 1 || !strings.Contains(found[0].Says, c.says)) {
				t.Errorf("%s\ngot %+v", c.why, found)
			}
		})
	}
}
