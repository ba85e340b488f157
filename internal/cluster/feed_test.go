package cluster_test

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cluster"
)

func fedPods(c *cluster.Cluster) []string {
	var out []string
	for _, p := range c.World().Pods() {
		out = append(out, p.Name)
	}
	slices.Sort(out)
	return out
}

func feedPod(i int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: string(rune('a' + i))}}
}

// Of the objects of a list that is streamed nothing is gathered but names: they
// are in the cluster state as they arrive, which is not synced before the list ends.
func TestAStreamedListIsTakenAsItArrives(t *testing.T) {
	c := cluster.New(clock.Wall, "pods")
	f := cluster.FeedPods(c)
	if err := f.Add(feedPod(3)); err != nil { // of an earlier list, gone since
		t.Fatal(err)
	}
	gathered := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.WithTransformer(f.Transformer()))
	for i := range 3 {
		if err := gathered.Add(feedPod(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := gathered.Delete(feedPod(1)); err != nil { // while the list was read
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, fedPods(c)); diff != "" {
		t.Errorf("before the list has ended: -want +got\n%s", diff)
	}
	if ok, _ := c.Synced(); ok {
		t.Error("the cluster state is synced before the list has ended")
	}
	for _, o := range gathered.List() {
		if _, name := o.(cache.ExplicitKey); !name {
			t.Errorf("a %T is gathered, want a name", o)
		}
	}
	if err := f.Replace(gathered.List(), "7"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "c"}, fedPods(c)); diff != "" {
		t.Errorf("after the list: -want +got\n%s", diff)
	}
	if ok, _ := c.Synced(); !ok {
		t.Error("the cluster state is not synced after the list")
	}
}

// Where the API server does not stream lists they are read page by page, never
// from its cache, which knows no pages.
func TestAListIsReadInPages(t *testing.T) {
	c := cluster.New(clock.Wall, "pods")
	f := cluster.FeedPods(c)
	asked := 0
	list := f.Pages(func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) {
		if o.Limit == 0 || o.ResourceVersion != "" {
			t.Errorf("asked for %d objects at version %q, want pages of the newest", o.Limit, o.ResourceVersion)
		}
		out := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7"}, Items: []corev1.Pod{*feedPod(asked)}}
		if asked++; asked < 3 {
			out.Continue = "more"
		}
		return out, nil
	})
	got, err := list(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, fedPods(c)); diff != "" {
		t.Errorf("in the cluster state: -want +got\n%s", diff)
	}
	items, err := meta.ExtractList(got)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for _, o := range items {
		if _, whole := o.(*corev1.Pod); whole {
			t.Errorf("a whole pod is gathered, want a name")
		}
		all = append(all, o)
	}
	if err := f.Replace(all, "7"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, fedPods(c)); diff != "" {
		t.Errorf("after the list: -want +got\n%s", diff)
	}
}
