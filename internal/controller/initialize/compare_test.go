package initialize

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// A claim says all that its node lacks of what was bought, and takes it back when the node has it.
func TestCompare(t *testing.T) {
	c := &v1.NodeClaim{}
	for _, look := range []struct {
		missing []string
		status  metav1.ConditionStatus
		message string
	}{
		{nil, metav1.ConditionTrue, ""}, {[]string{"half a GPU", "some memory"}, metav1.ConditionFalse, "half a GPU; some memory"}, {nil, metav1.ConditionTrue, ""},
	} {
		compare(c, look.missing, time.Unix(1, 0))
		if got := c.Conditions().Get(v1.ConditionConsistentStateFound); got == nil || got.Status != look.status || got.Message != look.message {
			t.Errorf("%v is missing: %+v", look.missing, got)
		}
	}
}
