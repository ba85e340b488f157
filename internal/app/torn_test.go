package app_test

import (
	"cmp"
	"errors"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/kubetest"
)

// several is how many nodes a story has: few, or as many as TORN says.
func several() int32 {
	n, _ := strconv.Atoi(os.Getenv("TORN"))
	return cmp.Or(int32(n), 4) //nolint:gosec // a small number
}

// some waits until the first machines were bought, of more that are to come.
func (h fixture) some(t *testing.T) {
	t.Helper()
	kubetest.Within(t, time.Minute, func() error {
		if len(h.market.Instances()) == 0 {
			return errors.New("nothing has been bought yet")
		}
		return nil
	})
}

// A pool that is deleted while its nodes come takes all of them with it, those
// on their way too, and its pods get others as soon as there is another pool.
func TestAPoolGoesWhileItsNodesCome(t *testing.T) {
	h := build(t)
	ns, n := kubetest.Namespace(t), several()
	first, second, d := pool("first"), pool("second"), deployment(ns, "web", n, "900m")
	d.Spec.Template.Spec.Affinity = apart(d)
	h.make(t, first, d)
	h.some(t)
	h.clear(t, first)
	h.make(t, second)
	h.runs(t, ns, int(n))
	h.clear(t, d, second)
}

// A namespace that is deleted while nodes come for its pods leaves nothing behind.
func TestANamespaceGoesWhileNodesCome(t *testing.T) {
	if os.Getenv("TENON_TEST_FAULTS") != "all" {
		t.Skip("set TENON_TEST_FAULTS=all to have it")
	}
	h := build(t)
	ns, n := kubetest.Namespace(t), several()
	p, d := pool("default"), deployment(ns, "web", n, "900m")
	d.Spec.Template.Spec.Affinity = apart(d)
	h.make(t, p, d)
	h.some(t)
	if err := h.client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	h.empty(t)
	h.clear(t, p)
}
