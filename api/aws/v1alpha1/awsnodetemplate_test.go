package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/tenon-sh/tenon/api/aws/v1alpha1"
)

func TestParseProvider(t *testing.T) {
	p, err := v1alpha1.ParseProvider([]byte(`{"apiVersion":"extensions.karpenter.sh/v1alpha1","kind":"AWS","subnetSelector":{"a":"b"},"launchTemplate":"mine"}`))
	if err != nil || *p.LaunchTemplate != "mine" || p.Family() != v1alpha1.FamilyAL2 {
		t.Errorf("got %+v, %v", p, err)
	}
	for text, want := range map[string]string{
		`{"subnetSelector":{"a":"b"},"userData":"x"}`: "userData",
		`{"subnetSelector":"a"}`:                      "subnetSelector",
		`{} {}`:                                       "follows",
		`[]`:                                          "array",
	} {
		if _, err := v1alpha1.ParseProvider([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error that names %q, got %v", text, want, err)
		}
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		why    string
		change func(*v1alpha1.AWSNodeTemplateSpec)
		want   []string
	}{
		"None": {"A sound template has none.", func(*v1alpha1.AWSNodeTemplateSpec) {}, nil},
		"OwnTemplate": {
			"Everything that a launch template of the user's own says itself is named at once.",
			func(s *v1alpha1.AWSNodeTemplateSpec) {
				s.LaunchTemplate, s.AMIFamily, s.UserData = new("mine"), new("AL2"), new("x")
			},
			[]string{"spec.securityGroupSelector", "spec.amiFamily", "spec.userData"},
		},
		"Custom": {"Nothing says which image.", func(s *v1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new("Custom") }, []string{"spec.amiSelector"}},
		"Family": {"A family of the later API.", func(s *v1alpha1.AWSNodeTemplateSpec) { s.AMIFamily = new("AL2023") }, []string{"spec.amiFamily"}},
		"Ids": {
			"Each id is looked at.",
			func(s *v1alpha1.AWSNodeTemplateSpec) {
				s.SubnetSelector = map[string]string{"aws-ids": "subnet-1, sg-2"}
			},
			[]string{"spec.subnetSelector[aws-ids]"},
		},
		"Size": {
			"The CRD lets a size written as a number pass: 20 is twenty bytes.",
			func(s *v1alpha1.AWSNodeTemplateSpec) {
				s.BlockDeviceMappings = []*v1alpha1.BlockDeviceMapping{
					{DeviceName: new("/dev/xvda"), EBS: &v1alpha1.BlockDevice{VolumeSize: new(resource.MustParse("20"))}},
				}
			},
			[]string{"spec.blockDeviceMappings[0].ebs.volumeSize"},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			template := &v1alpha1.AWSNodeTemplate{}
			template.Spec.SubnetSelector = map[string]string{"a": "b"}
			template.Spec.SecurityGroupSelector = map[string]string{"a": "b"}
			c.change(&template.Spec)
			var got []string
			for _, e := range template.Problems() {
				got = append(got, e.Field)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestHash(t *testing.T) {
	template := func(change func(*v1alpha1.AWSNodeTemplateSpec)) string {
		t := &v1alpha1.AWSNodeTemplate{}
		t.Spec.SubnetSelector = map[string]string{"a": "b"}
		change(&t.Spec)
		return t.Hash()
	}
	before := template(func(*v1alpha1.AWSNodeTemplateSpec) {})
	if template(func(s *v1alpha1.AWSNodeTemplateSpec) { s.SubnetSelector["a"] = "c" }) != before {
		t.Error("what selectors find is compared elsewhere")
	}
	if template(func(s *v1alpha1.AWSNodeTemplateSpec) { s.UserData = new("x") }) == before {
		t.Error("a machine boots once: other user data must show")
	}
	if template(func(s *v1alpha1.AWSNodeTemplateSpec) { s.Tags = map[string]string{"a": "b"} }) == before {
		t.Error("a field of the shared settings must show")
	}
}
