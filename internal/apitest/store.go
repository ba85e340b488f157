// Package apitest is Kubernetes objects in memory for tests of reconcilers: it answers as the API server does, as far as Law says.
//
// It has no admission, no defaults, no disruption budgets and no garbage
// collection, and does not count generations: what depends on those is tested
// beside a real server.
package apitest

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/loop"
)

// kinds are those that a store knows: what reconcilers read and write. With all of
// Kubernetes a fifth of a test's time goes into its list of them, which is made
// again for every object that is written.
func kinds() []func(*runtime.Scheme) error {
	return []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, policyv1.AddToScheme, storagev1.AddToScheme, resourcev1.AddToScheme, coordinationv1.AddToScheme,
		v1.AddToScheme, v1alpha1.AddToScheme, v1alpha5.AddToScheme, awsv1.AddToScheme,
	}
}

// New returns a store that holds objects. Nodes and claims are found by their
// provider ids, as in the controller's cache.
func New(t *testing.T, now clock.Now, objects ...client.Object) client.WithWatch {
	t.Helper()
	known := runtime.NewScheme()
	for _, add := range kinds() {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	b := fake.NewClientBuilder().WithScheme(known).WithStatusSubresource(&v1.NodeClaim{}, &v1.NodePool{}, &v1alpha5.Provisioner{}, &v1alpha1.NodeOverlay{}, &awsv1.EC2NodeClass{}, &corev1.Node{}, &corev1.Pod{})
	if err := loop.Index(t.Context(), indexer{b}); err != nil {
		t.Fatal(err)
	}
	b.WithIndex(&resourcev1.ResourceSlice{}, resourcev1.ResourceSliceSelectorDriver, func(o client.Object) []string {
		return []string{o.(*resourcev1.ResourceSlice).Spec.Driver} // the API server can select by it
	})
	var made atomic.Int64 // reconcilers make objects beside each other
	born := func(o client.Object) {
		o.SetUID(types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", made.Add(1))))
		o.SetCreationTimestamp(metav1.NewTime(now().Truncate(1e9)))
		o.SetGeneration(1)
	}
	store := interceptor.NewClient(b.Build(), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			born(o)
			return c.Create(ctx, o, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			var said client.DeleteOptions
			said.ApplyOptions(opts)
			if err := meant(ctx, c, o, said.Preconditions); err != nil {
				return err
			}
			return c.Delete(ctx, o, opts...)
		},
		SubResourceCreate: func(ctx context.Context, c client.Client, name string, o, sub client.Object, opts ...client.SubResourceCreateOption) error {
			if e, ok := sub.(*policyv1.Eviction); ok && e.DeleteOptions != nil {
				if err := meant(ctx, c, o, e.DeleteOptions.Preconditions); err != nil {
					return err
				}
			}
			return c.SubResource(name).Create(ctx, o, sub, opts...)
		},
	})
	for _, o := range objects {
		status, ok := o.DeepCopyObject().(client.Object)
		if !ok {
			t.Fatalf("%T is no object", o)
		}
		if err := store.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		status.SetResourceVersion(o.GetResourceVersion())
		if err := store.Status().Update(t.Context(), status); err != nil && !apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	return store
}

// meant reports a conflict unless an object is the one that a precondition means.
func meant(ctx context.Context, c client.Reader, o client.Object, p *metav1.Preconditions) error {
	if p == nil || p.UID == nil {
		return nil
	}
	now, ok := o.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", o)
	}
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), now); err != nil {
		return err
	}
	if now.GetUID() == *p.UID {
		return nil
	}
	kind, _ := meta.Accessor(o)
	return apierrors.NewConflict(schema.GroupResource{Resource: fmt.Sprintf("%T", o)}, kind.GetName(), fmt.Errorf("the UID in the precondition is not that of the object"))
}

// indexer has a fake client index what the controller's cache does.
type indexer struct{ *fake.ClientBuilder }

// IndexField is client.FieldIndexer's.
func (i indexer) IndexField(_ context.Context, o client.Object, field string, f client.IndexerFunc) error {
	i.WithIndex(o, field, f)
	return nil
}
