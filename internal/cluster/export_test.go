package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
)

// PodFeed is what a reflector of pods stores into.
type PodFeed struct{ *feed[corev1.Pod, *corev1.Pod] }

// FeedPods returns the feed of a cluster state's pods.
func FeedPods(c *Cluster) PodFeed {
	return PodFeed{&feed[corev1.Pod, *corev1.Pod]{cluster: c, source: "pods", set: c.SetPod, del: c.DeletePod, known: map[world.Key]bool{}}}
}

// Pages is how the feed lists where lists are not streamed.
func (f PodFeed) Pages(list cache.ListWithContextFunc) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return f.pages(list)
}

// BreakPods has the cluster state panic when it reads pods of a name.
func (c *Cluster) BreakPods(name string) {
	c.readPod = func(p *corev1.Pod) podSeen {
		if p.Name == name {
			panic("a bug in what reads pods")
		}
		return readPod(p)
	}
}

// BreakClaims has the cluster state panic when it reads claims of a name, until mended.
func (c *Cluster) BreakClaims(name string) (mend func()) {
	read := c.readClaim
	c.readClaim = func(o *v1.NodeClaim) world.Claim {
		if o.Name == name {
			panic("a bug in what reads claims")
		}
		return read(o)
	}
	return func() { c.readClaim = read }
}

// BreakingFeed returns a feed of pods of which those of a name break whatever is done with them.
func BreakingFeed(c *Cluster, name string) PodFeed {
	f := FeedPods(c)
	set, del := f.set, f.del
	f.set = func(p *corev1.Pod) {
		if p.Name == name {
			panic("a bug in what sets pods")
		}
		set(p)
	}
	f.del = func(k world.Key) {
		if k.Name == name {
			panic("a bug in what deletes pods")
		}
		del(k)
	}
	return f
}

// Handlers are what the informer of a source is given.
func (c *Cluster) Handlers(source string, set, del func(any)) cache.ResourceEventHandler {
	return c.handlers(source, set, del)
}

// Break changes the cluster state with something that panics half-way.
func (c *Cluster) Break() {
	c.update(func() []Change { panic("a bug in what changes the cluster state") })
}

// Hold has the cluster state know a back-off.
func (c *Cluster) Hold(b world.Backoff) {
	c.update(func() []Change {
		c.put("back-off", c.builder.SetBackoff(b))
		c.purchases.held[b.BackoffID] = b.Pool
		return nil
	})
}
