package initialize_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
)

func TestMissing(t *testing.T) {
	list := func(cpu, gpu string) corev1.ResourceList {
		return corev1.ResourceList{"cpu": resource.MustParse(cpu), "nvidia.com/gpu": resource.MustParse(gpu)}
	}
	tests := map[string]struct {
		why                        string
		requested, expected, found corev1.ResourceList
		want                       int
	}{
		"Same":       {"It has what was bought.", list("1", "1"), list("4", "1"), list("4", "1"), 0},
		"Nearly":     {"Estimates of memory and the like are not exact.", list("1", "0"), list("4", "0"), list("3600m", "0"), 0},
		"Short":      {"Less than nine tenths is another machine.", list("1", "0"), list("4", "0"), list("3", "0"), 1},
		"Unwanted":   {"What no pod asked for does not matter.", list("1", "0"), list("4", "1"), list("4", "0"), 0},
		"NoDriver":   {"A device that no driver registers is missed.", list("1", "1"), list("4", "1"), corev1.ResourceList{"cpu": resource.MustParse("4")}, 1},
		"Unlaunched": {"Nothing was expected yet.", list("1", "1"), nil, list("4", "1"), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c, n := &v1.NodeClaim{}, &corev1.Node{}
			c.Spec.Resources.Requests, c.Status.Capacity, n.Status.Capacity = tc.requested, tc.expected, tc.found
			if got := initialize.Missing(c, n); len(got) != tc.want {
				t.Errorf("%v, want %d: %s", got, tc.want, tc.why)
			}
		})
	}
}
