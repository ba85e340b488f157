package playground

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/volumes"
)

// attachTime is how long EBS takes to attach a volume.
const attachTime = 2 * time.Second

// store gives the cluster volumes: classes to ask for them, and a driver that runs until ctx ends.
func store(ctx context.Context, o Options, client kubernetes.Interface, objects dynamic.Interface, types *catalog.Catalog, log *life, running *sync.WaitGroup) error {
	if err := apply(ctx, objects, "volumes.yaml", o.ClusterName); err != nil {
		return err
	}
	driver := volumes.Driver{
		Client: client, Now: o.Now, Delay: attachTime, Say: log.say,
		Limit: func(n *corev1.Node) int32 { return volumeLimit(types, n) },
	}
	running.Go(func() { driver.Run(ctx) })
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
