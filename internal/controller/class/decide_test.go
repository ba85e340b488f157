package class_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/controller/class"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func found() class.Found {
	return class.Found{
		Subnets: []awsv1.Subnet{{ID: "subnet-1", Zone: "a", ZoneID: "id-a"}}, Groups: []awsv1.SecurityGroup{{ID: "sg-1", Name: "nodes"}},
		Images: []awsv1.AMI{{ID: "ami-1", Requirements: []corev1.NodeSelectorRequirement{}}}, Profile: "nodes", Broken: map[string]*cloud.Error{},
	}
}

func TestStatus(t *testing.T) {
	kubelet := func(text string) func(*awsv1.EC2NodeClass, *class.Found) {
		return func(o *awsv1.EC2NodeClass, _ *class.Found) {
			o.Spec.Kubelet = &runtime.RawExtension{Raw: []byte(text)}
		}
	}
	tests := map[string]struct {
		why    string
		change func(*awsv1.EC2NodeClass, *class.Found)
		kind   string
		want   string
	}{
		"Fine":     {"Everything is found.", func(*awsv1.EC2NodeClass, *class.Found) {}, "Ready", "True Ready"},
		"NoDryRun": {"What was not tried is not claimed.", func(*awsv1.EC2NodeClass, *class.Found) {}, awsv1.ConditionValidationSucceeded, "True DryRunDisabled"},
		"Subnets": {"The class cannot be used without.", func(_ *awsv1.EC2NodeClass, f *class.Found) {
			f.Broken[awsv1.ConditionSubnetsReady] = cloud.Errorf(cloud.NotReady, awsv1.ReasonSubnetsNotFound, "none")
		}, awsv1.ConditionSubnetsReady, "False SubnetsNotFound"},
		"NotReady": {"One broken part is enough.", func(_ *awsv1.EC2NodeClass, f *class.Found) {
			f.Broken[awsv1.ConditionAMIsReady] = cloud.Errorf(cloud.NotReady, awsv1.ReasonAMINotFound, "none")
		}, "Ready", "False UnhealthyDependents"},
		"NoReason": {"A condition has a reason even where the cloud gives none.", func(_ *awsv1.EC2NodeClass, f *class.Found) {
			f.Broken[awsv1.ConditionSecurityGroupsReady] = cloud.Errorf(cloud.Unauthorised, "", "no")
		}, awsv1.ConditionSecurityGroupsReady, "False SecurityGroupsNotFound"},
		"Kubelet":        {"A setting that cannot be read makes no node.", kubelet(`{"maxPods": []}`), awsv1.ConditionValidationSucceeded, "False InvalidKubeletConfiguration"},
		"ExpressionsOff": {"What an expression means to reserve is not left out.", kubelet(`{"maxPods": "vcpus * 10"}`), awsv1.ConditionValidationSucceeded, "False KubeletExpressionsDisabled"},
		"ExpressionsOn": {"Where they are on, an expression is no fault.", func(o *awsv1.EC2NodeClass, f *class.Found) {
			kubelet(`{"maxPods": "vcpus * 10"}`)(o, f)
			f.Expressions = true
		}, awsv1.ConditionValidationSucceeded, "True DryRunDisabled"},
		"UserData": {"EC2 would refuse every launch.", func(o *awsv1.EC2NodeClass, _ *class.Found) {
			long := strings.Repeat("x", awsv1.MaxUserData+1)
			o.Spec.UserData = &long
		}, awsv1.ConditionValidationSucceeded, "False UserDataSizeLimitExceeded"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			o, f := &awsv1.EC2NodeClass{}, found()
			tc.change(o, &f)
			class.Status(o, f, noon)
			c := o.Conditions(false).Get(tc.kind)
			if c == nil || string(c.Status)+" "+c.Reason != tc.want {
				t.Errorf("%+v, want %s: %s", c, tc.want, tc.why)
			}
			again := o.DeepCopy()
			class.Status(again, f, noon.Add(time.Hour))
			if diff := cmp.Diff(o.Status, again.Status); diff != "" {
				t.Errorf("looking again an hour later wrote something:\n%s", diff)
			}
		})
	}
}

func TestStatusOfTemplate(t *testing.T) {
	o, f := &awsv1alpha1.AWSNodeTemplate{}, found()
	o.Spec.SubnetSelector = map[string]string{"a": "b"}
	o.Spec.SecurityGroupSelector = map[string]string{"a": "b"}
	class.StatusOfTemplate(o, f, noon)
	want := awsv1alpha1.AWSNodeTemplateStatus{
		Subnets: []awsv1alpha1.Subnet{{ID: "subnet-1", Zone: "a"}}, SecurityGroups: []awsv1alpha1.SecurityGroup{{ID: "sg-1"}},
	}
	if diff := cmp.Diff(want, o.Status); diff != "" {
		t.Errorf("a template that is fine: -want +got\n%s", diff)
	}
	f.Broken[awsv1.ConditionSubnetsReady] = cloud.Errorf(cloud.NotReady, "SubnetsNotFound", "no subnet")
	class.StatusOfTemplate(o, f, noon)
	class.StatusOfTemplate(o, f, noon.Add(time.Hour))
	if c := o.Status.Conditions; len(c) != 1 || c[0].Status != metav1.ConditionFalse || c[0].Reason != "SubnetsNotFound" || !c[0].LastTransitionTime.Time.Equal(noon) {
		t.Errorf("a broken template says %+v", c)
	}
}
