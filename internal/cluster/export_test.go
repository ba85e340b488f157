package cluster

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tenon-sh/tenon/engine/world"
)

// PodFeed is what a reflector of pods stores into.
type PodFeed struct{ *feed[corev1.Pod, *corev1.Pod] }

// FeedPods returns the feed of a picture's pods.
func FeedPods(c *Cluster) PodFeed {
	return PodFeed{&feed[corev1.Pod, *corev1.Pod]{cluster: c, source: "pods", set: c.SetPod, del: c.DeletePod, known: map[world.Key]bool{}}}
}

// Pages is how the feed lists where lists are not streamed.
func (f PodFeed) Pages(list cache.ListWithContextFunc) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	return f.pages(list)
}
