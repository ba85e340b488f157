package terminate

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

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

// tellHeld says on a claim which of its nodes stay although they are drained, and whose finalizers keep them: the claim waits for these.
func tellHeld(events *loop.Events, c *v1.NodeClaim, nodes []corev1.Node) {
	for i := range nodes {
		if by := heldBy(&nodes[i]); len(by) > 0 {
			events.Warning(c, "FailedTermination", "Node %s is not gone: its finalizers %s, which others have put there, keep it", nodes[i].Name, strings.Join(by, ", "))
		}
	}
}

// heldBy are the finalizers that keep a node whose own end has come.
func heldBy(n *corev1.Node) []string {
	if n.DeletionTimestamp == nil || controllerutil.ContainsFinalizer(n, v1.Finalizer) {
		return nil
	}
	return n.Finalizers
}

// Refused writes to a claim why its machine cannot be ended.
func Refused(c *v1.NodeClaim, err error, now time.Time) {
	if cloud.Lasts(err) && !c.Conditions().Is(v1.ConditionInstanceTerminating) {
		c.Conditions().False(v1.ConditionInstanceTerminating, v1.ReasonTerminationFailed, err.Error(), now)
	}
}
