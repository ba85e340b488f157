package app

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/buffer"
	"github.com/tenon-sh/tenon/internal/controller/class"
	"github.com/tenon-sh/tenon/internal/controller/consolidatable"
	"github.com/tenon-sh/tenon/internal/controller/drift"
	"github.com/tenon-sh/tenon/internal/controller/overlay"
	"github.com/tenon-sh/tenon/internal/controller/pool"
	"github.com/tenon-sh/tenon/internal/controller/repair"
	"github.com/tenon-sh/tenon/internal/observe"
)

// registrar is a reconciler that can be added to a manager.
type registrar interface{ Register(ctrl.Manager) error }

// keepers are the reconcilers that keep what there is: status, hashes, ends.
func (p *parts) keepers() ([]registrar, error) {
	c := p.m.GetClient()
	pools := &pool.NodePools{Client: c, Cluster: p.cluster, Classes: p.classes, Events: p.events, Now: p.Now, Still: !p.Settings.MovePods}
	if p.classKind {
		pools.Kinds = append(pools.Kinds, &awsv1.EC2NodeClass{})
	}
	out := []registrar{
		pools,
		&drift.Reconciler{Client: c, Cloud: p.cloud.For(drift.Spec().Name), Cluster: p.cluster, Now: p.Now},
	}
	if p.overlays {
		out = append(out, &overlay.Reconciler{Client: c, Cluster: p.cluster, Now: p.Now})
	}
	if p.buffers {
		out = append(out, &buffer.Reconciler{Client: c, Live: p.m.GetAPIReader(), Cluster: p.cluster, Source: cluster.Buffers, Now: p.Now, Panics: p.cluster.Panics})
	}
	if p.Settings.Gates.NodeRepair {
		out = append(out, &repair.Reconciler{Client: c, Enact: p.enact, Events: p.events, Metrics: p.metrics, Now: p.Now, Policies: repair.Policies()})
	}
	if p.provisioners {
		out = append(out, &pool.Provisioners{Client: c, Cluster: p.cluster, Now: p.Now})
	}
	still := &consolidatable.Controller{Client: c, Cluster: p.cluster, Now: p.Now, Log: p.Log.WithName("controller.node")}
	still.Listen()
	if err := p.m.Add(still); err != nil {
		return nil, fmt.Errorf("add %T: %w", still, err)
	}
	able, err := p.abilities()
	if err != nil {
		return nil, err
	}
	out = append(out, able...)
	d, ok := p.Driver.(inspector)
	if !ok {
		return out, nil
	}
	look := class.Cloud{Retire: d.Retire, Inspect: func(ctx context.Context, ref cloud.ClassRef) (class.Found, error) {
		found, err := d.Inspect(ctx, ref)
		return class.Found(found), err
	}}
	if p.classKind {
		out = append(out, &class.NodeClasses{Client: c, Cloud: look, Events: p.events, Now: p.Now, Panics: p.cluster.Panics})
	}
	templates, err := served(p.m.GetRESTMapper(), schema.GroupKind{Group: awsv1.Group, Kind: "AWSNodeTemplate"}, "v1alpha1")
	if templates {
		out = append(out, &class.Templates{Client: c, Cloud: look, Events: p.events, Now: p.Now})
	}
	return out, err
}

// classes says how the classes of pools stand: by their own word where their
// kind has one, and else by whether the driver can make anything of them.
func (p *parts) classes(ctx context.Context, ref v1.NodeClassReference) (pool.Class, error) {
	if p.classKind && ref.Group == awsv1.Group && ref.Kind == "EC2NodeClass" {
		var o awsv1.EC2NodeClass
		err := p.m.GetClient().Get(ctx, client.ObjectKey{Name: ref.Name}, &o)
		if apierrors.IsNotFound(err) {
			return pool.Class{Missing: true}, nil
		}
		return pool.ClassOf(&o, o.Status.Conditions), err
	}
	_, broken, known := p.cloud.Template(observe.TemplateOf(ref, nil))
	switch e, coded := errors.AsType[*cloud.Error](broken); {
	case !known:
		return pool.Class{}, nil
	case !coded || e.Code != cloud.NotReady:
		return pool.Class{Ready: "True"}, nil
	case e.Reason == v1.ReasonNodeClassNotFound:
		return pool.Class{Missing: true}, nil
	default:
		return pool.Class{Ready: "False", Reason: e.Reason, Message: e.Error()}, nil
	}
}
