package doctor

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// sick finds the same of everything it is asked about.
type sick []aws.Finding

func (s sick) ExamineAccount(context.Context) []aws.Finding { return s }

func (s sick) ExamineClass(_ context.Context, ref cloud.ClassRef) []aws.Finding {
	return append(sick{{Level: aws.Good, Check: "class", Says: ref.Name}}, s...)
}

func pool(name, class string) v1.NodePool {
	p := v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
	p.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class}
	return p
}

func TestPoolsAndTheirClasses(t *testing.T) {
	classes := []awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	templates := []awsv1alpha1.AWSNodeTemplate{{ObjectMeta: metav1.ObjectMeta{Name: "old"}}}
	joined := v1alpha5.Provisioner{ObjectMeta: metav1.ObjectMeta{Name: "joined"}}
	joined.Spec.ProviderRef = &v1alpha5.ProviderRef{Name: "old"}
	a := ask(classes, templates, []v1.NodePool{pool("well", "default"), pool("lost", "gone")}, []v1alpha5.Provisioner{joined})
	var names, bad []string
	for _, c := range a.classes {
		names = append(names, c.Kind+"/"+c.Name)
	}
	for _, f := range a.pools {
		if f.Level == aws.Bad {
			bad = append(bad, f.Check+": "+f.Says)
		}
	}
	if diff := cmp.Diff([]string{"AWSNodeTemplate/old", "EC2NodeClass/default"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"NodePool/lost: its class EC2NodeClass/gone does not exist"}, bad); diff != "" {
		t.Error(diff)
	}
	if none := ask(nil, nil, nil, nil); len(none.pools) != 1 || none.pools[0].Level != aws.Warning {
		t.Errorf("a cluster without pools: %+v", none.pools)
	}
}

func TestReport(t *testing.T) {
	ill := sick{
		{Level: aws.Bad, Check: "subnets", Says: "no subnet matched", Fix: "tag one"},
		{Level: aws.Warning, Check: "images", Says: "old"},
		{Level: aws.Unclear, Check: "profile", Says: "who knows"},
		{Level: aws.Good, Check: "groups", Says: "sg-1"},
	}
	r := examine(t.Context(), ill, ask([]awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}, nil, []v1.NodePool{pool("well", "default")}, nil))
	var b strings.Builder
	if err := r.print(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `account
  error    subnets: no subnet matched
           → tag one
  warning  images: old
  unclear  profile: who knows
  ok       1 checks
pools
  ok       1 checks
EC2NodeClass/default
  error    subnets: no subnet matched
           → tag one
  warning  images: old
  unclear  profile: who knows
  ok       2 checks

2 errors, 2 warnings, 2 unclear, 4 ok
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if err := r.verdict(); err == nil || err.Error() != "2 errors were found" {
		t.Errorf("the verdict is %v", err)
	}
	if err := examine(t.Context(), ill[1:], asked{}).verdict(); err != nil {
		t.Errorf("without an error the verdict is %v", err)
	}
}
