package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/observe"
)

// asked is what the cluster's objects ask of the cloud.
type asked struct {
	classes []cloud.ClassRef
	wrong   map[cloud.ClassRef]examine.Finding // with what a class itself says
	pools   []examine.Finding                  // what is wrong with pools alone
	buyers  []buyer                            // pools whose class is there
	claims  []world.Claim
	nodes   []world.Node
}

// reader returns what reads the cluster's objects.
func reader(k *rest.Config) (client.Reader, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme, awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1.AddToScheme, v1alpha5.AddToScheme} {
		if err := add(known); err != nil {
			return nil, fmt.Errorf("know the kinds: %w", err)
		}
	}
	c, err := client.New(k, client.Options{Scheme: known})
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", k.Host, err)
	}
	return c, nil
}

// find reads pools and classes of both eras.
func find(ctx context.Context, c client.Reader) (asked, error) {
	var (
		classes      awsv1.EC2NodeClassList
		templates    awsv1alpha1.AWSNodeTemplateList
		pools        v1.NodePoolList
		provisioners v1alpha5.ProvisionerList
		claims       v1.NodeClaimList
		nodes        corev1.NodeList
	)
	for _, list := range []client.ObjectList{&classes, &templates, &pools, &provisioners, &claims, &nodes} {
		if err := c.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
			return asked{}, unlisted(err)
		}
	}
	found := ask(classes.Items, templates.Items, pools.Items, provisioners.Items)
	found.pools = append(stored(ctx, c), found.pools...)
	for i := range claims.Items {
		found.claims = append(found.claims, observe.Claim(&claims.Items[i]))
	}
	for i := range nodes.Items {
		found.nodes = append(found.nodes, observe.Node(&nodes.Items[i], nil))
	}
	return found, nil
}

// unlisted says that a cluster does not show its objects. Before the first list the client asks which kinds
// there are, and speaks of groups then: what kept it from that is said alone.
func unlisted(err error) error {
	if call, ok := errors.AsType[*url.Error](err); ok {
		err = call
	}
	return fmt.Errorf("list what is in the cluster: %w; %s", err, verb.Remedy(err))
}

// ask joins pools to their classes. A pool whose class is not there is a finding.
func ask(classes []awsv1.EC2NodeClass, templates []awsv1alpha1.AWSNodeTemplate, pools []v1.NodePool, provisioners []v1alpha5.Provisioner) asked {
	out := asked{wrong: map[cloud.ClassRef]examine.Finding{}}
	for _, o := range classes {
		ref := cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: o.Name}
		out.classes = append(out.classes, ref)
		if reason, message := o.Problem(true); reason != "" {
			out.wrong[ref] = examine.Finding{Level: examine.Bad, Check: "the class itself", Says: message, Fix: "correct the field that is named"}
		}
	}
	for _, o := range templates {
		out.classes = append(out.classes, cloud.ClassRef{Group: awsv1alpha1.Group, Kind: "AWSNodeTemplate", Name: o.Name})
	}
	for _, p := range provisioners {
		if p.Spec.Provider != nil {
			out.classes = append(out.classes, cloud.ClassRef{Group: v1alpha5.Group, Kind: "Provisioner", Name: p.Name})
		}
	}
	slices.SortFunc(out.classes, func(a, b cloud.ClassRef) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) })
	for _, p := range pools {
		if ref := p.Spec.Template.Spec.NodeClassRef; ref != nil {
			out.join(observe.NodePool(&p), *ref, nil)
		}
	}
	for _, p := range provisioners {
		if p.Spec.ProviderRef != nil || p.Spec.Provider != nil {
			out.join(observe.Provisioner(&p), observe.ClassOf(&p), observe.KubeletOf(&p))
		}
	}
	if len(pools)+len(provisioners) == 0 {
		out.pools = append(out.pools, examine.Finding{
			Level: examine.Warning, Check: "pools", Says: "the cluster has no NodePool and no Provisioner: no node will be launched", Fix: "create a NodePool",
		})
	}
	return out
}

func (a *asked) join(p world.Pool, to v1.NodeClassReference, kubelet []byte) {
	ref := cloud.ClassRef{Group: to.Group, Kind: to.Kind, Name: to.Name}
	if slices.Contains(a.classes, ref) {
		a.buyers = append(a.buyers, buyer{pool: p, template: cloud.Template{ID: observe.TemplateOf(to, kubelet), Class: ref, Kubelet: kubelet}})
		return
	}
	a.pools = append(a.pools, examine.Finding{
		Level: examine.Bad, Check: p.ID.Kind + "/" + p.ID.Name, Says: fmt.Sprintf("its class %s/%s does not exist", ref.Kind, ref.Name), Fix: "create it, or name another in the pool",
	})
}
