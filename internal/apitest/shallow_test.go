package apitest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/tenon-sh/tenon/internal/apitest"
)

// What an encoder does to a copy does not show on the object that others read.
func TestShallow(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	c := apitest.Shallow(n)
	c.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Node"})
	if got, ok := c.(*corev1.Node); !ok || got.Name != "n" || got.Kind != "Node" {
		t.Errorf("the copy is %#v", c)
	}
	if n.Kind != "" {
		t.Error("the kind of the copy is the object's too")
	}
}
