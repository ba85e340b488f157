package observe_test

import (
	"testing"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/observe"
)

// A pool is unhealthy while its condition says of what it is now that its machines do not register.
func TestPoolIsUnhealthy(t *testing.T) {
	for name, tc := range map[string]struct {
		why  string
		make func(*v1.NodePool)
		want bool
	}{
		"Unknown": {"No controller has said anything.", func(*v1.NodePool) {}, false},
		"Healthy": {"They do.", func(p *v1.NodePool) {
			p.Conditions().True(v1.ConditionNodeRegistrationHealthy, "", "", time.Now())
		}, false},
		"Failed": {"They do not.", func(p *v1.NodePool) {
			p.Conditions().False(v1.ConditionNodeRegistrationHealthy, v1.ReasonRegistrationFailed, "", time.Now())
		}, true},
		"Changed": {"They did not before it was changed.", func(p *v1.NodePool) {
			p.Conditions().False(v1.ConditionNodeRegistrationHealthy, v1.ReasonRegistrationFailed, "", time.Now())
			p.Generation++
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := &v1.NodePool{}
			p.Name, p.Generation = "p", 1
			tc.make(p)
			if got := observe.NodePool(p); got.Unhealthy != tc.want {
				t.Errorf("unhealthy: %v, want %v: %s", got.Unhealthy, tc.want, tc.why)
			}
		})
	}
}
