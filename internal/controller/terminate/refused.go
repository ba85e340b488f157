package terminate

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

// tellRefused says on a node or a claim why its machine cannot be ended. It goes
// on being tried. What usually passes by itself, such as throttling, gets an event only if it lasts.
func tellRefused(events *loop.Events, o client.Object, err error) {
	if cloud.Lasts(err) {
		events.Warning(o, "FailedTermination", "The machine cannot be ended: %v", err)
	}
}

// Refused writes to a claim why its machine cannot be ended.
func Refused(c *v1.NodeClaim, err error, now time.Time) {
	if cloud.Lasts(err) && !c.Conditions().Is(v1.ConditionInstanceTerminating) {
		c.Conditions().False(v1.ConditionInstanceTerminating, v1.ReasonTerminationFailed, err.Error(), now)
	}
}
