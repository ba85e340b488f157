package app

import (
	"context"
	"fmt"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// ClassCache lets a driver, which is made before the controller, read classes
// from the controller's cache: it reads one several times for each machine, and
// a cluster may buy hundreds at once.
type ClassCache struct {
	follows atomic.Pointer[client.Reader]
}

// follow has classes read from a cache that has all of them.
func (c *ClassCache) follow(cache client.Reader) {
	if c != nil {
		c.follows.Store(&cache)
	}
}

// over is a reader that asks the cache first, as soon as there is one, and live for what it does not have.
func (c *ClassCache) over(live client.Reader) client.Reader {
	if c == nil {
		return live
	}
	return cachedReader{live, c}
}

type cachedReader struct {
	client.Reader
	cache *ClassCache
}

// Get reads an object from the cache. One that the cache does not have may have just been made.
func (r cachedReader) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if cache := r.cache.follows.Load(); cache != nil && (*cache).Get(ctx, key, o, opts...) == nil {
		return nil
	}
	return r.Reader.Get(ctx, key, o, opts...)
}

// classes finds the object a class reference names, of whichever kind.
func classes(r client.Reader, a AWS) selection.Classes {
	return func(ctx context.Context, ref cloud.ClassRef) (nodeclass.Class, error) {
		key := client.ObjectKey{Name: ref.Name}
		switch {
		case ref.Group == awsv1.Group && ref.Kind == "EC2NodeClass":
			var o awsv1.EC2NodeClass
			if err := r.Get(ctx, key, &o); err != nil {
				return nodeclass.Class{}, missing(ref, err)
			}
			return nodeclass.FromV1(&o, a.Settings.CA), nil
		case ref.Group == awsv1.Group && ref.Kind == "AWSNodeTemplate":
			var o awsv1alpha1.AWSNodeTemplate
			if err := r.Get(ctx, key, &o); err != nil {
				return nodeclass.Class{}, missing(ref, err)
			}
			return nodeclass.FromTemplate(&o, a.DefaultProfile), nil
		case ref.Group == v1.Group && ref.Kind == "Provisioner":
			var o v1alpha5.Provisioner
			if err := r.Get(ctx, key, &o); err != nil {
				return nodeclass.Class{}, missing(ref, err)
			}
			class, err := nodeclass.FromProvisioner(&o, a.DefaultProfile)
			if err != nil {
				return class, cloud.Errorf(cloud.NotReady, "NodeClassNotReady", "provisioner %q: %w", ref.Name, err)
			}
			return class, nil
		}
		return nodeclass.Class{}, cloud.Errorf(cloud.NotReady, v1.ReasonNodeClassNotFound, "class %s/%s %q is of no kind that this program knows", ref.Group, ref.Kind, ref.Name)
	}
}

func missing(ref cloud.ClassRef, err error) error {
	if apierrors.IsNotFound(err) {
		return cloud.Errorf(cloud.NotReady, v1.ReasonNodeClassNotFound, "%s %q does not exist", ref.Kind, ref.Name)
	}
	return fmt.Errorf("read %s %q: %w", ref.Kind, ref.Name, err)
}
