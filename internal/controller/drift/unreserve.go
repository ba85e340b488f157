package drift

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/loop"
)

// seen is how long ago a node has to have registered for what the cloud says of
// its reservation to be believed: a machine may be listed before that is known.
const seen = 5 * time.Minute

// unreserved reports whether the reservation that a machine was launched in has
// ended: the machine lives on, is paid for as on-demand, and its claim does not say so.
func unreserved(c *v1.NodeClaim, m cloud.Machine, now time.Time) bool {
	joined := c.Conditions().Get(v1.ConditionRegistered)
	return c.Labels[label.CapacityType] == label.Reserved && m.CapacityType == label.OnDemand && joined != nil && now.Sub(joined.LastTransitionTime.Time) >= seen
}

// unreserve writes to the node and the claim of such a machine that it is
// on-demand now, so that its price counts, and a pool that wants reserved machines
// alone sees it as drifted. The claim comes last: as long as it says reserved, this is tried again.
func (r *Reconciler) unreserve(ctx context.Context, c *v1.NodeClaim, m cloud.Machine) error {
	if !unreserved(c, m, r.Now()) {
		return nil
	}
	n := &corev1.Node{}
	err := r.Client.Get(ctx, client.ObjectKey{Name: c.Status.NodeName}, n)
	if err == nil {
		_, err = loop.Patch(ctx, r.Client, n, func(n *corev1.Node) { onDemand(n.Labels) })
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("label node %q as on-demand: %w", c.Status.NodeName, err)
	}
	next, err := loop.Patch(ctx, r.Client, c, func(c *v1.NodeClaim) { onDemand(c.Labels) })
	if err != nil {
		return fmt.Errorf("label claim %q as on-demand: %w", c.Name, err)
	}
	r.Cluster.Wrote(next)
	log.FromContext(ctx).Info("the capacity reservation has ended, the machine is on-demand now", "NodeClaim", c.Name, "reservation", c.Labels[awsv1.LabelCapacityReservationID])
	*c = *next
	return nil
}

func onDemand(labels map[string]string) {
	labels[label.CapacityType] = label.OnDemand
	for _, key := range []string{awsv1.LabelCapacityReservationID, awsv1.LabelCapacityReservationType, awsv1.LabelCapacityReservationInterrupts} {
		delete(labels, key)
	}
}
