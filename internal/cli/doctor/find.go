package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// asked is what the cluster's objects ask of the cloud.
type asked struct {
	classes []cloud.ClassRef
	wrong   map[cloud.ClassRef]aws.Finding // with what a class itself says
	pools   []aws.Finding                  // what is wrong with pools alone
}

// find reads pools and classes of both eras.
func find(ctx context.Context, k *rest.Config) (asked, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1.AddToScheme, v1alpha5.AddToScheme} {
		if err := add(known); err != nil {
			return asked{}, fmt.Errorf("know the kinds: %w", err)
		}
	}
	c, err := client.New(k, client.Options{Scheme: known})
	if err != nil {
		return asked{}, fmt.Errorf("connect to %s: %w", k.Host, err)
	}
	var (
		classes      awsv1.EC2NodeClassList
		templates    awsv1alpha1.AWSNodeTemplateList
		pools        v1.NodePoolList
		provisioners v1alpha5.ProvisionerList
	)
	for _, list := range []client.ObjectList{&classes, &templates, &pools, &provisioners} {
		if err := c.List(ctx, list); err != nil && !meta.IsNoMatchError(err) {
			return asked{}, fmt.Errorf("list from %s: %w", k.Host, err)
		}
	}
	found := ask(classes.Items, templates.Items, pools.Items, provisioners.Items)
	found.pools = append(stored(ctx, c), found.pools...)
	return found, nil
}

// ask joins pools to their classes. A pool whose class is not there is a finding.
func ask(classes []awsv1.EC2NodeClass, templates []awsv1alpha1.AWSNodeTemplate, pools []v1.NodePool, provisioners []v1alpha5.Provisioner) asked {
	out := asked{wrong: map[cloud.ClassRef]aws.Finding{}}
	for _, o := range classes {
		ref := cloud.ClassRef{Group: awsv1.Group, Kind: "EC2NodeClass", Name: o.Name}
		out.classes = append(out.classes, ref)
		if reason, message := o.Problem(); reason != "" {
			out.wrong[ref] = aws.Finding{Level: aws.Bad, Check: "the class itself", Says: message, Fix: "correct the field that is named"}
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
			out.join("NodePool/"+p.Name, cloud.ClassRef{Group: ref.Group, Kind: ref.Kind, Name: ref.Name})
		}
	}
	for _, p := range provisioners {
		if ref := p.Spec.ProviderRef; ref != nil {
			out.join("Provisioner/"+p.Name, cloud.ClassRef{Group: awsv1alpha1.Group, Kind: "AWSNodeTemplate", Name: ref.Name})
		}
	}
	if len(pools)+len(provisioners) == 0 {
		out.pools = append(out.pools, aws.Finding{
			Level: aws.Warning, Check: "pools", Says: "the cluster has no NodePool and no Provisioner: no node will be launched", Fix: "create a NodePool",
		})
	}
	return out
}

func (a *asked) join(pool string, ref cloud.ClassRef) {
	if slices.Contains(a.classes, ref) {
		a.pools = append(a.pools, aws.Finding{Level: aws.Good, Check: pool, Says: fmt.Sprintf("its class is %s/%s", ref.Kind, ref.Name)})
		return
	}
	a.pools = append(a.pools, aws.Finding{
		Level: aws.Bad, Check: pool, Says: fmt.Sprintf("its class %s/%s does not exist", ref.Kind, ref.Name), Fix: "create it, or name another in the pool",
	})
}
