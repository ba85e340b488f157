package observe_test

import (
	"math"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tenon-sh/tenon/internal/observe"
)

// An API server stores pods that ask for such amounts. To compare one of them with anything takes minutes, so this test
// ends only if it is not done.
func TestAmountsWithEndlessExponents(t *testing.T) {
	for s, want := range map[string]int64{
		"1E999999999": math.MaxInt64, "1.5E99999999": math.MaxInt64, "0E999999999": 0, "1e19": math.MaxInt64, "1e15": 1e18, "1.5": 1500, "1n": 1,
		"9223372036854774": 9223372036854774000, "9223372036854776": math.MaxInt64, "-1E999999999": 0,
	} {
		q, err := resource.ParseQuantity(s)
		if err != nil {
			t.Fatal(s, err)
		}
		if got := observe.Amounts(corev1.ResourceList{"cpu": q}).Value("cpu"); got != want {
			t.Errorf("%s is %d thousandths, want %d", s, got, want)
		}
	}
}
