package oracle

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// shelf is an informer that is told what there is. To list and watch a client
// for every case would cost more than to judge the case.
type shelf struct {
	cache.SharedIndexInformer // is never run
	handlers                  []cache.ResourceEventHandler
}

// AddEventHandler has the handler told of all changes from now on, before set returns.
func (s *shelf) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.handlers = append(s.handlers, h)
	return s.SharedIndexInformer.AddEventHandler(cache.ResourceEventHandlerFuncs{})
}

// set replaces all that the shelf holds.
func (s *shelf) set(objects []runtime.Object) error {
	old := s.GetIndexer().List()
	for _, o := range old {
		if err := s.GetIndexer().Delete(o); err != nil {
			return err
		}
		for _, h := range s.handlers {
			h.OnDelete(o)
		}
	}
	for _, o := range objects {
		if err := s.GetIndexer().Add(o); err != nil {
			return err
		}
		for _, h := range s.handlers {
			h.OnAdd(o, true)
		}
	}
	return nil
}

// shelves are those of the kinds that a case has; there is nothing of any other kind.
type shelves struct {
	namespaces, nodes, pvcs, pvs, classes, csiNodes *shelf
}

// newShelves puts the shelves into the factory in place of informers.
func newShelves(factory informers.SharedInformerFactory) shelves {
	put := func(kind runtime.Object) *shelf {
		s := &shelf{}
		factory.InformerFor(kind, func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
			s.SharedIndexInformer = cache.NewSharedIndexInformer(&cache.ListWatch{}, kind, 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
			return s
		})
		return s
	}
	return shelves{
		namespaces: put(&corev1.Namespace{}), nodes: put(&corev1.Node{}), pvcs: put(&corev1.PersistentVolumeClaim{}), pvs: put(&corev1.PersistentVolume{}),
		classes: put(&storagev1.StorageClass{}), csiNodes: put(&storagev1.CSINode{}),
	}
}

// set shelves what the case has.
func (s shelves) set(c Case) error {
	for _, kind := range []struct {
		shelf   *shelf
		objects []runtime.Object
	}{
		{s.namespaces, objects(c.Namespaces)},
		{s.nodes, objects(c.Nodes)},
		{s.pvcs, objects(c.PVCs)},
		{s.pvs, objects(c.PVs)},
		{s.classes, objects(c.Classes)},
		{s.csiNodes, objects(c.CSINodes)},
	} {
		if err := kind.shelf.set(kind.objects); err != nil {
			return err
		}
	}
	return nil
}

// objects are pointers to the items of a list.
func objects[T any, P interface {
	*T
	runtime.Object
}](items []T) []runtime.Object {
	out := make([]runtime.Object, len(items))
	for i := range items {
		out[i] = P(&items[i])
	}
	return out
}
