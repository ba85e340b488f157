package cluster

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/tenon-sh/tenon/engine/world"
)

// feed is the store of a watch: it passes objects on as they come and keeps
// only which there are, so that a new list shows what went away unseen.
//
// A reflector gathers all objects of a list before it hands them over. With
// 150,000 pods that is about a gigabyte for what becomes values of a quarter of
// it. So a feed takes every object as it arrives, from the stream of a list or
// from one of its pages, and the reflector gathers no more than names. That
// the cluster state is ahead of the list meanwhile does no harm: what arrived is
// true, and the cluster state counts as synced only once all have arrived.
type feed[T any, P object[T]] struct {
	cluster *Cluster
	source  string
	set     func(P)
	del     func(world.Key)
	known   map[world.Key]bool
}

// keyOf is the key of an object, or of what stands for one that was fed already.
func keyOf(o any) (k world.Key, fed bool, err error) {
	if name, ok := o.(cache.ExplicitKey); ok {
		k.Namespace, k.Name, err = cache.SplitMetaNamespaceKey(string(name))
		return k, true, err
	}
	m, err := meta.Accessor(o)
	if err != nil {
		return world.Key{}, false, err
	}
	_, fed = o.(*metav1.PartialObjectMetadata)
	return world.Key{Namespace: m.GetNamespace(), Name: m.GetName()}, fed, nil
}

// take passes an object on, unless that has been done.
func (f *feed[T, P]) take(o any) (world.Key, error) {
	k, fed, err := keyOf(o)
	if err != nil {
		return k, fmt.Errorf("watched object of %s: %w", f.source, err)
	}
	if !fed {
		f.known[k] = true
		f.safely(k, func() { with(o, f.set) })
	}
	return k, nil
}

// safely does something about one object. If that breaks, what the cluster state had of
// the object stays, or it is left out; the reflector goes on, as to list again would
// break in the same place. (A pod is never left out: see SetPod.)
func (f *feed[T, P]) safely(k world.Key, do func()) {
	f.cluster.Panics.Do(f.source, do, "object", k.String())
}

// Transformer is the reflector's: it takes what arrives in the stream of a list, and leaves its name.
func (f *feed[T, P]) Transformer() cache.TransformFunc {
	return func(o any) (any, error) {
		k, err := f.take(o)
		if err != nil {
			return nil, err
		}
		return cache.ExplicitKey(cache.NewObjectName(k.Namespace, k.Name).String()), nil
	}
}

// pageSize is how many objects are asked for at once where a list cannot be streamed.
const pageSize = 500

// pages returns a list function for API servers that do not stream lists: it takes
// the objects page by page and returns their names. A page is never read from the
// API server's cache, which would answer with everything at once.
func (f *feed[T, P]) pages(list cache.ListWithContextFunc) cache.ListWithContextFunc {
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
		o.Limit, o.ResourceVersion, o.ResourceVersionMatch = pageSize, "", ""
		var names metav1.PartialObjectMetadataList
		for {
			page, err := list(ctx, o)
			if err != nil {
				return nil, err
			}
			m, err := meta.ListAccessor(page)
			if err != nil {
				return nil, err
			}
			err = meta.EachListItem(page, func(item runtime.Object) error {
				k, err := f.take(item)
				names.Items = append(names.Items, metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: k.Namespace, Name: k.Name}})
				return err
			})
			if err != nil {
				return nil, err
			}
			names.ResourceVersion = m.GetResourceVersion()
			if o.Continue = m.GetContinue(); o.Continue == "" {
				return &names, nil
			}
		}
	}
}

// Add is the reflector's.
func (f *feed[T, P]) Add(o any) error {
	_, err := f.take(o)
	return err
}

// Update is the reflector's.
func (f *feed[T, P]) Update(o any) error { return f.Add(o) }

// Delete is the reflector's.
func (f *feed[T, P]) Delete(o any) error {
	k, _, err := keyOf(o)
	if err != nil {
		return fmt.Errorf("watched object of %s: %w", f.source, err)
	}
	delete(f.known, k)
	f.safely(k, func() { f.del(k) })
	return nil
}

// Replace is the reflector's: a list of all there is.
func (f *feed[T, P]) Replace(all []any, _ string) error {
	there := make(map[world.Key]bool, len(all))
	for _, o := range all {
		k, err := f.take(o)
		if err != nil {
			return err
		}
		there[k] = true
	}
	for k := range f.known {
		if !there[k] {
			f.safely(k, func() { f.del(k) })
		}
	}
	f.known = there
	f.cluster.Delivered(f.source)
	return nil
}

// Resync is the reflector's; values need none.
func (f *feed[T, P]) Resync() error { return nil }
