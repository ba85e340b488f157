package app

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/observe"
)

// templates has the catalogues kept fresh that the pools of the cluster name.
type templates struct {
	client       client.Client
	cloud        *cloud.Cloud
	cluster      *cluster.Cluster
	log          logr.Logger
	provisioners bool

	wake chan struct{}
	want map[world.TemplateID]bool
}

func newTemplates(c client.Client, from *cloud.Cloud, to *cluster.Cluster, log logr.Logger, provisioners bool) *templates {
	t := &templates{
		client: c, cloud: from, cluster: to, log: log, provisioners: provisioners,
		wake: make(chan struct{}, 1), want: map[world.TemplateID]bool{},
	}
	to.Listen(func(change cluster.Change) {
		if change.Kind != cluster.Pool {
			return
		}
		select {
		case t.wake <- struct{}{}:
		default:
		}
	})
	return t
}

// NeedLeaderElection has only the leader ask the cloud. A replica that comes to lead knows no
// catalogue at first, and decides nothing for some seconds until it does.
func (t *templates) NeedLeaderElection() bool { return true }

// Start follows the pools until ctx ends.
func (t *templates) Start(ctx context.Context) error {
	if !t.cluster.Await(ctx) {
		return nil
	}
	var wg sync.WaitGroup
	wg.Go(func() { t.cloud.Run(ctx) })
	defer wg.Wait()
	for {
		t.cluster.Panics.Do("templates", func() {
			if err := t.follow(ctx); err != nil && ctx.Err() == nil {
				t.log.Error(err, "look at the pools for their classes")
			}
		})
		retry := time.NewTimer(time.Minute)
		select {
		case <-ctx.Done():
			retry.Stop()
			return nil
		case <-t.wake:
		case <-retry.C:
		}
		retry.Stop()
	}
}

// follow wants what pools name now, and drops what none names any more.
func (t *templates) follow(ctx context.Context) error {
	now := map[world.TemplateID]bool{}
	var pools v1.NodePoolList
	if err := t.client.List(ctx, &pools); err != nil {
		return err
	}
	for i := range pools.Items {
		if ref := pools.Items[i].Spec.Template.Spec.NodeClassRef; ref != nil {
			t.wanted(now, *ref, nil)
		}
	}
	if t.provisioners {
		var old v1alpha5.ProvisionerList
		if err := t.client.List(ctx, &old); err != nil {
			return err
		}
		for i := range old.Items {
			t.wanted(now, observe.ClassOf(&old.Items[i]), observe.KubeletOf(&old.Items[i]))
		}
	}
	for id := range t.want {
		if !now[id] {
			t.cloud.Drop(id)
			t.cluster.Withdraw(id, "")
		}
	}
	t.want = now
	return nil
}

func (t *templates) wanted(now map[world.TemplateID]bool, ref v1.NodeClassReference, kubelet []byte) {
	id := observe.TemplateOf(ref, kubelet)
	now[id] = true
	t.cloud.Want(cloud.Template{ID: id, Class: cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name}, Kubelet: kubelet})
}
