package tag_test

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/controller/tag"
)

func TestDue(t *testing.T) {
	tests := map[string]struct {
		why    string
		change func(*v1.NodeClaim)
		want   bool
	}{
		"Registered": {"It has a name to be tagged with.", func(*v1.NodeClaim) {}, true},
		"Tagged":     {"Once is enough.", func(c *v1.NodeClaim) { c.Annotations = map[string]string{awsv1.AnnotationTagged: "true"} }, false},
		"Going":      {"It is not looked for any more.", func(c *v1.NodeClaim) { c.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }, false},
		"Young": {"Its node has no name yet.", func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionRegistered, "NodeNotFound", "", time.Unix(1, 0))
		}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &v1.NodeClaim{}
			c.Status.ProviderID = "aws:///a/i-1"
			c.Conditions().True(v1.ConditionRegistered, "", "", time.Unix(0, 0))
			tc.change(c)
			if got := tag.Due(c); got != tc.want {
				t.Errorf("%t, want %t: %s", got, tc.want, tc.why)
			}
		})
	}
}
