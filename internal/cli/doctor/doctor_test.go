package doctor

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/observe"
)

// sick finds the same of everything it is asked about.
type sick []examine.Finding

func (s sick) ExamineAccount(context.Context) []examine.Finding { return s }

func (s sick) ExamineClass(_ context.Context, ref cloud.ClassRef) []examine.Finding {
	return append(sick{{Level: examine.Good, Check: "class", Says: ref.Name}}, s...)
}

// Catalog sells two types, one of them for arm64.
func (s sick) Catalog(_ context.Context, t cloud.Template) (world.Catalog, error) {
	if len(s) == 0 {
		return world.Catalog{}, cloud.Errorf(cloud.NotReady, "SubnetsNotFound", "no subnet")
	}
	shape := func(name, arch string, cpu int64) world.Shape {
		return world.Shape{
			Name: name, Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: cpu * amount.Unit}),
			Labels: label.Exactly(map[string]string{label.InstanceType: name, label.Arch: arch, label.OS: "linux"}),
			Offers: []world.Offer{{Zone: "a", CapacityType: label.OnDemand, Price: 100_000}, {Zone: "b", CapacityType: label.OnDemand, Price: 100_000}},
		}
	}
	return world.Catalog{Template: t.ID, Shapes: []world.Shape{shape("m5.large", "amd64", 2), shape("m6g.large", "arm64", 4)}}, nil
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
		if f.Level == examine.Bad {
			bad = append(bad, f.Check+": "+f.Says)
		}
	}
	if diff := cmp.Diff([]string{"AWSNodeTemplate/old", "EC2NodeClass/default"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"NodePool/lost: its class EC2NodeClass/gone does not exist"}, bad); diff != "" {
		t.Error(diff)
	}
	if none := ask(nil, nil, nil, nil); len(none.pools) != 1 || none.pools[0].Level != examine.Warning {
		t.Errorf("a cluster without pools: %+v", none.pools)
	}
}

// Every pool is told what it may buy, or which of its requirements or limits leaves it nothing.
func TestPoolsAreCompared(t *testing.T) {
	in := func(key string, values ...string) v1.Requirement {
		return v1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: values}
	}
	classes := []awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}
	used := v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Labels: map[string]string{v1.LabelNodePool: "p"}}}
	used.Status.Capacity = corev1.ResourceList{"cpu": resource.MustParse("3")}
	tests := map[string]struct {
		why      string
		requires []v1.Requirement
		limit    string
		replicas bool
		claims   []v1.NodeClaim
		level    examine.Level
		says     string
	}{
		"All":     {"What it may buy is told.", nil, "", false, nil, examine.Good, "may buy 2 of 2 types, the cheapest m5.large (on-demand) in a at $0.1000/h"},
		"Static":  {"Of a static pool, too.", nil, "", true, nil, examine.Good, "may buy 2 of 2"},
		"Zone":    {"A zone in which the class has no subnet.", []v1.Requirement{in(label.Arch, "amd64"), in(label.Zone, "c")}, "", false, nil, examine.Bad, `requires topology.kubernetes.io/zone In [c], and its class EC2NodeClass "default" has a, b`},
		"Arch":    {"An architecture for which it has no image.", []v1.Requirement{in(label.Arch, "riscv64")}, "", false, nil, examine.Bad, `has amd64, arm64`},
		"Unknown": {"A label that no machine has.", []v1.Requirement{in("example.com/rack", "1")}, "", false, nil, examine.Good, "may buy 2"},
		"Both":    {"Requirements that can be met one by one.", []v1.Requirement{in(label.Arch, "arm64"), in(label.InstanceType, "m5.large")}, "", false, nil, examine.Bad, "meets all its requirements together"},
		"Small":   {"A limit below the smallest type.", nil, "1", false, nil, examine.Bad, "0 of 1 cpu are used"},
		"Full":    {"Limits that are used up.", nil, "4", false, []v1.NodeClaim{used}, examine.Warning, "3 of 4 cpu are used"},
		"Room":    {"Limits that are not.", nil, "6", false, []v1.NodeClaim{used}, examine.Good, "may buy 1 of 2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := pool("p", "default")
			p.Spec.Template.Spec.Requirements = tc.requires
			if tc.limit != "" {
				p.Spec.Limits = corev1.ResourceList{"cpu": resource.MustParse(tc.limit)}
			}
			if one := int64(1); tc.replicas {
				p.Spec.Replicas = &one
			}
			a := ask(classes, nil, []v1.NodePool{p}, nil)
			for i := range tc.claims {
				a.claims = append(a.claims, observe.Claim(&tc.claims[i]))
			}
			got := compare(t.Context(), sick{{}}, a)
			if len(got) != 1 || got[0].Level != tc.level || !strings.Contains(got[0].Says, tc.says) || (got[0].Fix == "") != (tc.level == examine.Good) {
				t.Errorf("%s Got %+v", tc.why, got)
			}
			if none := compare(t.Context(), sick{}, a); len(none) > 0 {
				t.Errorf("what is wrong with the class is told of its pool: %+v", none)
			}
		})
	}
}

func TestReport(t *testing.T) {
	ill := sick{
		{Level: examine.Bad, Check: "subnets", Says: "no subnet matched", Fix: "tag one"},
		{Level: examine.Warning, Check: "images", Says: "old"},
		{Level: examine.Unclear, Check: "profile", Says: "who knows"},
		{Level: examine.Good, Check: "groups", Says: "sg-1"},
	}
	r := reportOf(t.Context(), ill, ask([]awsv1.EC2NodeClass{{ObjectMeta: metav1.ObjectMeta{Name: "default"}}}, nil, []v1.NodePool{pool("well", "default")}, nil))
	var b strings.Builder
	if err := r.print(&b, false); err != nil {
		t.Fatal(err)
	}
	want := `account
  error    subnets: no subnet matched
           → tag one
  warning  images: old
  unclear  profile: who knows
  ok       1 check
pools
  ok       1 check
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
	lost := reportOf(t.Context(), sick{{Level: examine.Bad, Check: "credentials", Says: "there are none"}}, ask([]awsv1.EC2NodeClass{{}}, nil, nil, nil))
	if len(lost) != 1 || lost.verdict() == nil {
		t.Errorf("without credentials it goes on to %+v", lost)
	}
	if err := reportOf(t.Context(), ill[1:], asked{}).verdict(); err != nil {
		t.Errorf("without an error the verdict is %v", err)
	}
}
