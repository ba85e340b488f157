package playground

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestTheLifeLogSaysWhatWhyAndThePrice(t *testing.T) {
	c := &v1.NodeClaim{}
	c.Name, c.Labels = "default-x", map[string]string{"karpenter.sh/nodepool": "default"}
	c.Spec.Resources.Requests = corev1.ResourceList{
		"cpu": resource.MustParse("2500m"), "memory": resource.MustParse("2560Mi"), "pods": resource.MustParse("5"),
	}
	c.Spec.Requirements = []v1.Requirement{{Key: corev1.LabelInstanceTypeStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"a", "b"}}}
	given := c.DeepCopy()
	given.Status.NodeName = "n1"
	gpu := c.DeepCopy()
	gpu.Annotations = map[string]string{"karpenter.sh/pods": "ml/train-0"}
	gpu.Spec.Resources.Requests = corev1.ResourceList{
		"cpu": resource.MustParse("125m"), "memory": resource.MustParse("0"), "pods": resource.MustParse("3"), "nvidia.com/gpu": resource.MustParse("1"),
	}
	old := c.DeepCopy()
	old.Labels = map[string]string{"karpenter.sh/provisioner-name": "old"}
	for got, want := range map[string]string{
		asked(c):         "pool default asks for a node for 5 pods: 2500m cpu, 2560Mi memory; any of 2 types will do (claim default-x)",
		asked(gpu):       "pool default asks for a node for 1 pod and 2 daemon pods: 125m cpu, 0 memory, 1 nvidia.com/gpu; any of 2 types will do (claim default-x)",
		givenBack(given): "pool default gives back node n1 (claim default-x)",
		givenBack(old):   "provisioner old gives back node that is not there yet (claim default-x)",
		bought(market.Instance{ID: "i-1", CapacityType: "spot", Type: "m5.large", Zone: "z", Price: 24_000}, 96_000, "USD"):                           "machine i-1 is bought: spot m5.large in z, $0.0240 an hour, 75 % below on-demand",
		bought(market.Instance{ID: "i-1", CapacityType: "on-demand", Type: "m5.large", Zone: "z", Price: 96_000}, 96_000, "USD"):                      "machine i-1 is bought: on-demand m5.large in z, $0.0960 an hour",
		bought(market.Instance{ID: "i-1", CapacityType: "on-demand", Type: "m5.large", Zone: "z", Price: 96_000, Reservation: "cr-1"}, 96_000, "USD"): "machine i-1 is taken from reservation cr-1: m5.large in z",
		bought(market.Instance{ID: "i-1", CapacityType: "on-demand", Type: "m5.large", Zone: "z", Price: 96_000}, 96_000, "CNY"):                      "machine i-1 is bought: on-demand m5.large in z, 0.0960 CNY an hour",
	} {
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	if long := short(strings.Repeat("ä", 300)); len([]rune(long)) != 242 {
		t.Errorf("a long text is cut to %d", len([]rune(long)))
	}
}
