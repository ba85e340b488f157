package apitest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs("../../api/crds")) }

func TestTheStoreObeysTheLaw(t *testing.T) { apitest.Law(t, apitest.New(t, clock.Wall), "default") }

func TestTheServerObeysTheLaw(t *testing.T) {
	c, ns := kubetest.Client(t, v1.AddToScheme), kubetest.Namespace(t)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "default"}} // which a controller would make
	if err := c.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
	apitest.Law(t, c, ns)
}
