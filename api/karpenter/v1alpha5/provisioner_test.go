package v1alpha5_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
)

type requirement = v1alpha5.Requirement

func in(key string, values ...string) requirement {
	return requirement{Key: key, Operator: "In", Values: values}
}

func TestEffectiveRequirements(t *testing.T) {
	const (
		linux    = "kubernetes.io/os In [linux]"
		amd64    = "kubernetes.io/arch In [amd64]"
		onDemand = "karpenter.sh/capacity-type In [on-demand]"
		category = "karpenter.k8s.aws/instance-category In [c m r]"
		newer    = "karpenter.k8s.aws/instance-generation Gt [2]"
	)
	tests := map[string]struct {
		why  string
		spec v1alpha5.ProvisionerSpec
		want []string
	}{
		"Nothing": {"All that is open is filled in, in this order.", v1alpha5.ProvisionerSpec{}, []string{linux, amd64, onDemand, category, newer}},
		"Spot": {
			"What the user wrote comes first and stays.",
			v1alpha5.ProvisionerSpec{Requirements: []requirement{in("karpenter.sh/capacity-type", "spot")}},
			[]string{"karpenter.sh/capacity-type In [spot]", linux, amd64, category, newer},
		},
		"Category": {
			"A selector that names categories may mean any generation.",
			v1alpha5.ProvisionerSpec{Requirements: []requirement{in("karpenter.k8s.aws/instance-category", "c", "m", "t")}},
			[]string{"karpenter.k8s.aws/instance-category In [c m t]", linux, amd64, onDemand},
		},
		"Family": {
			"A family is a choice of type, a size is not.",
			v1alpha5.ProvisionerSpec{Requirements: []requirement{in("karpenter.k8s.aws/instance-family", "c5")}},
			[]string{"karpenter.k8s.aws/instance-family In [c5]", linux, amd64, onDemand},
		},
		"Size": {
			"With a size alone the categories are still open.",
			v1alpha5.ProvisionerSpec{Requirements: []requirement{in("karpenter.k8s.aws/instance-size", "large")}},
			[]string{"karpenter.k8s.aws/instance-size In [large]", linux, amd64, onDemand, category, newer},
		},
		"Labels": {
			"A label says as much as a requirement.",
			v1alpha5.ProvisionerSpec{Labels: map[string]string{"kubernetes.io/arch": "arm64", "node.kubernetes.io/instance-type": "m6g.large"}},
			[]string{linux, onDemand},
		},
		"OldNames": {
			"The labels' old names count.",
			v1alpha5.ProvisionerSpec{Requirements: []requirement{in("beta.kubernetes.io/arch", "arm64"), in("beta.kubernetes.io/instance-type", "m6g.large")}},
			[]string{"beta.kubernetes.io/arch In [arm64]", "beta.kubernetes.io/instance-type In [m6g.large]", linux, onDemand},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p := &v1alpha5.Provisioner{Spec: c.spec}
			before := p.DeepCopy()
			var got []string
			for _, r := range p.EffectiveRequirements() {
				got = append(got, fmt.Sprintf("%s %s %v", r.Key, r.Operator, r.Values))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s -want +got\n%s", c.why, diff)
			}
			if diff := cmp.Diff(before, p); diff != "" {
				t.Errorf("the Provisioner itself changed: %s", diff)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	ref := &v1alpha5.ProviderRef{Name: "default"}
	inline := func(text string) *runtime.RawExtension { return &runtime.RawExtension{Raw: []byte(text)} }
	tests := map[string]struct {
		why  string
		spec v1alpha5.ProvisionerSpec
		want []string // none: no problem; otherwise path: part of the message
	}{
		"None":    {"A sound Provisioner has none.", v1alpha5.ProvisionerSpec{ProviderRef: ref}, nil},
		"Neither": {"Nothing says what a node is made from.", v1alpha5.ProvisionerSpec{}, []string{"spec.providerRef: AWSNodeTemplate"}},
		"Both":    {"Two things say it.", v1alpha5.ProvisionerSpec{ProviderRef: ref, Provider: inline(`{}`)}, []string{"spec.provider: not both"}},
		"UnknownField": {
			"A misspelt field of the provider is named.",
			v1alpha5.ProvisionerSpec{Provider: inline(`{"subnetSelectr":{"a":"b"}}`)},
			[]string{"spec.provider: subnetSelectr"},
		},
		"Provider": {
			"The provider's own problems have the provider's path.",
			v1alpha5.ProvisionerSpec{Provider: inline(`{"subnetSelector":{},"launchTemplate":"mine","amiFamily":"AL2"}`)},
			[]string{"spec.provider.subnetSelector: empty selector", "spec.provider.amiFamily: remove amiFamily or launchTemplate"},
		},
		"Restricted": {
			"A restricted label is told with what may be used in its place.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, Labels: map[string]string{"kubernetes.io/hostname": "a"}},
			[]string{"spec.labels[kubernetes.io/hostname]: topology.kubernetes.io/zone"},
		},
		"Excepted": {
			"Some domains within restricted ones are free.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, Requirements: []requirement{in("testing.karpenter.sh/a", "b"), in("node.kubernetes.io/role", "b")}},
			nil,
		},
		"TTL": {
			"Consolidation and the TTL would both give back empty nodes.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, TTLSecondsAfterEmpty: new(int64(30)), Consolidation: &v1alpha5.Consolidation{Enabled: new(true)}},
			[]string{"spec.ttlSecondsAfterEmpty: remove ttlSecondsAfterEmpty"},
		},
		"Operator": {
			"The comparisons of the later API are none of this one.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, Requirements: []requirement{{Key: "a", Operator: "Gte", Values: []string{"1"}}}},
			[]string{"spec.requirements[0].operator: supported values"},
		},
		"Limit": {
			"Less than nothing is no limit.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, Limits: &v1alpha5.Limits{Resources: corev1.ResourceList{"cpu": resource.MustParse("-1")}}},
			[]string{"spec.limits.resources[cpu]: leave it out"},
		},
		"CapacityType": {
			"A misspelt one would buy nothing.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, Requirements: []requirement{in("karpenter.sh/capacity-type", "ondemand")}},
			[]string{"spec.requirements[0].values: on-demand"},
		},
		"Kubelet": {
			"Kubelet settings that contradict each other.",
			v1alpha5.ProvisionerSpec{ProviderRef: ref, KubeletConfiguration: &v1alpha5.KubeletConfiguration{
				EvictionSoft: map[string]string{"memory.available": "5%"}, ImageGCHighThresholdPercent: new(int32(10)), ImageGCLowThresholdPercent: new(int32(20)),
			}},
			[]string{"spec.kubeletConfiguration.evictionSoftGracePeriod[memory.available]: evictionSoft", "spec.kubeletConfiguration.imageGCHighThresholdPercent: above"},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			errs := (&v1alpha5.Provisioner{Spec: c.spec}).Problems()
			if len(errs) < len(c.want) || len(c.want) == 0 && len(errs) > 0 {
				t.Fatalf("problems are %v, want %q. %s", errs, c.want, c.why)
			}
			for _, want := range c.want {
				path, text, _ := strings.Cut(want, ": ")
				found := false
				for _, e := range errs {
					found = found || e.Field == path && strings.Contains(e.Error(), text)
				}
				if !found {
					t.Errorf("no %q in %v. %s", want, errs, c.why)
				}
			}
		})
	}
}

func TestHash(t *testing.T) {
	tests := map[string]struct {
		why     string
		change  func(*v1alpha5.ProvisionerSpec)
		drifted bool
	}{
		"Label":        {"A node's labels are set at birth.", func(s *v1alpha5.ProvisionerSpec) { s.Labels = map[string]string{"a": "b"} }, true},
		"Provider":     {"Its provider makes the node.", func(s *v1alpha5.ProvisionerSpec) { s.Provider.Raw = []byte(`{"subnetSelector":{"a":"c"}}`) }, true},
		"Spacing":      {"How the provider is written does not.", func(s *v1alpha5.ProvisionerSpec) { s.Provider.Raw = []byte(`{ "subnetSelector": {"a": "b"} }`) }, false},
		"Requirements": {"A node that meets what is asked now has not drifted.", func(s *v1alpha5.ProvisionerSpec) { s.Requirements = []requirement{in("a", "b")} }, false},
		"TTL":          {"When nodes go is not what they are.", func(s *v1alpha5.ProvisionerSpec) { s.TTLSecondsAfterEmpty = new(int64(30)); s.Weight = new(int32(3)) }, false},
	}
	provisioner := func() *v1alpha5.Provisioner {
		return &v1alpha5.Provisioner{Spec: v1alpha5.ProvisionerSpec{Provider: &runtime.RawExtension{Raw: []byte(`{"subnetSelector":{"a":"b"}}`)}}}
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			p := provisioner()
			c.change(&p.Spec)
			if drifted := p.Hash() != provisioner().Hash(); drifted != c.drifted {
				t.Errorf("drifted: %t, want %t. %s", drifted, c.drifted, c.why)
			}
		})
	}
}
