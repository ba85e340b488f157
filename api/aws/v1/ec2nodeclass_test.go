package v1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/tenon-sh/tenon/api/aws/v1"
)

func class(change func(*v1.EC2NodeClassSpec)) *v1.EC2NodeClass {
	c := &v1.EC2NodeClass{Spec: v1.EC2NodeClassSpec{
		Role:                "role",
		AMISelectorTerms:    []v1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms: []v1.SubnetSelectorTerm{{ID: "subnet-1"}},
	}}
	change(&c.Spec)
	return c
}

func kubelet(text string) func(*v1.EC2NodeClassSpec) {
	return func(s *v1.EC2NodeClassSpec) { s.Kubelet = &runtime.RawExtension{Raw: []byte(text)} }
}

func TestFamily(t *testing.T) {
	tests := map[string]struct {
		change func(*v1.EC2NodeClassSpec)
		want   string
	}{
		"FromTheAlias":    {func(*v1.EC2NodeClassSpec) {}, v1.FamilyAL2023},
		"Windows":         {func(s *v1.EC2NodeClassSpec) { s.AMISelectorTerms[0].Alias = "windows2022@latest" }, v1.FamilyWindows2022},
		"WrittenOutWins":  {func(s *v1.EC2NodeClassSpec) { s.AMIFamily = new(v1.FamilyCustom) }, v1.FamilyCustom},
		"NeitherIsCustom": {func(s *v1.EC2NodeClassSpec) { s.AMISelectorTerms[0] = v1.AMISelectorTerm{ID: "ami-1"} }, v1.FamilyCustom},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if got := class(c.change).Family(); got != c.want {
				t.Errorf("family is %s, want %s", got, c.want)
			}
		})
	}
}

func TestHash(t *testing.T) {
	tests := map[string]struct {
		why     string
		change  func(*v1.EC2NodeClassSpec)
		drifted bool
	}{
		"UserData":  {"A machine boots once.", func(s *v1.EC2NodeClassSpec) { s.UserData = new("x") }, true},
		"Family":    {"Another family boots otherwise.", func(s *v1.EC2NodeClassSpec) { s.AMIFamily = new(v1.FamilyCustom) }, true},
		"SameAlias": {"The family written out beside its alias changes nothing.", func(s *v1.EC2NodeClassSpec) { s.AMIFamily = new(v1.FamilyAL2023) }, false},
		"Kubelet":   {"Its kubelet is configured once.", kubelet(`{"maxPods":10}`), true},
		"Selectors": {"What selectors find is compared elsewhere.", func(s *v1.EC2NodeClassSpec) { s.SubnetSelectorTerms[0].ID = "subnet-2" }, false},
		"Prefixes":  {"The prefixes of an interface may change under a node.", func(s *v1.EC2NodeClassSpec) { s.IPPrefixCount = new(int32(2)) }, false},
		"Public":    {"False written out is an answer.", func(s *v1.EC2NodeClassSpec) { s.AssociatePublicIPAddress = new(false) }, true},
	}
	before := class(func(*v1.EC2NodeClassSpec) {}).Hash("ca")
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if drifted := class(c.change).Hash("ca") != before; drifted != c.drifted {
				t.Errorf("drifted: %t, want %t. %s", drifted, c.drifted, c.why)
			}
		})
	}
	if class(func(*v1.EC2NodeClassSpec) {}).Hash("other") == before {
		t.Error("another CA of the cluster is in user data and must show")
	}
}

func TestKubeletProblems(t *testing.T) {
	tests := map[string]struct {
		text string
		want string // none: no problem; otherwise path: part of the message
	}{
		"None":        {`{"maxPods":110,"evictionHard":{"memory.available":"5%"},"systemReserved":{"cpu":"100m"},"anything":{"goes":1}}`, ""},
		"Expressions": {`{"maxPods":"max_pods - 5","kubeReserved":{"memory":"255 + 11 * max_pods"}}`, ""},
		"Taints":      {`{"registerWithTaints":[]}`, "spec.kubelet.registerWithTaints: the pool's"},
		"Reserved":    {`{"kubeReserved":{"gpu":"1"}}`, "spec.kubelet.kubeReserved[gpu]: ephemeral-storage"},
		"Negative":    {`{"systemReserved":{"cpu":"-1"}}`, "spec.kubelet.systemReserved[cpu]: negative"},
		"Signal":      {`{"evictionHard":{"memory.free":"5%"}}`, "spec.kubelet.evictionHard[memory.free]: nodefs.inodesFree"},
		"Share":       {`{"evictionHard":{"memory.available":"101%"}}`, "spec.kubelet.evictionHard[memory.available]: 0% to 100%"},
		"NaN":         {`{"evictionHard":{"memory.available":"NaN%"}}`, "spec.kubelet.evictionHard[memory.available]: 0% to 100%"},
		"Amount":      {`{"evictionHard":{"memory.available":"some"}}`, "spec.kubelet.evictionHard[memory.available]: 500Mi"},
		"NoGrace":     {`{"evictionSoft":{"memory.available":"5%"}}`, "spec.kubelet.evictionSoftGracePeriod[memory.available]: evictionSoft"},
		"NoLevel":     {`{"evictionSoftGracePeriod":{"memory.available":"1m"}}`, "spec.kubelet.evictionSoft[memory.available]: evictionSoftGracePeriod"},
		"HighLow":     {`{"imageGCHighThresholdPercent":50,"imageGCLowThresholdPercent":50}`, "spec.kubelet.imageGCHighThresholdPercent: above"},
		"Percent":     {`{"imageGCHighThresholdPercent":101}`, "spec.kubelet.imageGCHighThresholdPercent: 0 to 100"},
		"MaxPods":     {`{"maxPods":-1}`, "spec.kubelet.maxPods: integer"},
		"NotAMap":     {`{"kubeReserved":"1"}`, "spec.kubelet.kubeReserved: map"},
		"NotJSON":     {`[`, "spec.kubelet: kubelet settings"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			errs := class(kubelet(c.text)).KubeletProblems()
			path, text, _ := strings.Cut(c.want, ": ")
			if (len(errs) == 0) != (c.want == "") {
				t.Fatalf("problems are %v, want %q", errs, c.want)
			}
			if len(errs) > 0 && (errs[0].Field != path || !strings.Contains(errs[0].Error(), text)) {
				t.Errorf("problem is %v, want %q", errs[0], c.want)
			}
		})
	}
}

func TestUnsupportedKubelet(t *testing.T) {
	bottlerocket := class(func(s *v1.EC2NodeClassSpec) {
		kubelet(`{"maxPods":10,"topologyManagerPolicy":"none","allowedUnsafeSysctls":[]}`)(s)
		s.AMISelectorTerms[0].Alias = "bottlerocket@latest"
	})
	if diff := cmp.Diff([]string{"allowedUnsafeSysctls", "topologyManagerPolicy"}, bottlerocket.UnsupportedKubelet()); diff != "" {
		t.Errorf("Bottlerocket has no way for these: -want +got\n%s", diff)
	}
	if got := class(kubelet(`{"topologyManagerPolicy":"none"}`)).UnsupportedKubelet(); len(got) > 0 {
		t.Errorf("AL2023 hands on everything, not %v", got)
	}
}

func TestTagProblems(t *testing.T) {
	c := class(func(s *v1.EC2NodeClassSpec) {
		s.Tags = map[string]string{"team": "a", "kubernetes.io/cluster/x": "owned", "karpenter.sh/nodepool": "p"}
	})
	var got []string
	for _, e := range c.TagProblems() {
		got = append(got, e.Field)
	}
	if diff := cmp.Diff([]string{"spec.tags[karpenter.sh/nodepool]", "spec.tags[kubernetes.io/cluster/x]"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
