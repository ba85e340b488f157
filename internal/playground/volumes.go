package playground

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/volumes"
)

// attachTime is how long EBS takes to attach a volume.
const attachTime = 2 * time.Second

// volumes gives the cluster volumes: classes to ask for them, and a driver that runs until ctx ends.
func (g *ground) volumes(ctx context.Context) error {
	if err := apply(ctx, g.objects, "volumes.yaml", g.ClusterName); err != nil {
		return err
	}
	driver := volumes.Driver{
		Client: g.client, Now: g.Now, Delay: attachTime, Say: g.log.say,
		Limit: func(n *corev1.Node) int32 { return volumeLimit(g.types, n) },
	}
	g.followers.Go(func() { driver.Run(ctx) })
	return nil
}

// volumeLimit is how many volumes pods can attach to a node: what EC2 allows its type, but for the disk it runs from
// and, where volumes and network interfaces share their slots, a second interface. No volume reaches a node of no type, such as those of Fargate.
func volumeLimit(types *catalog.Catalog, n *corev1.Node) int32 {
	t, ok := types.Type(n.Labels[corev1.LabelInstanceTypeStable])
	if !ok {
		return -1
	}
	limit := t.EBSAttachMax - 1
	if t.Hypervisor == "nitro" && t.EBSAttachMax <= 28 {
		limit--
	}
	return int32(max(limit, 0)) //nolint:gosec // a type's number of slots
}
