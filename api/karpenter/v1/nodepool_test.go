package v1_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

func TestNillableDuration(t *testing.T) {
	tests := map[string]struct {
		why  string
		text string
		span time.Duration
		ok   bool
	}{
		"Never":   {"Never is no length.", "Never", 0, false},
		"Days":    {"Hours add up to days.", "720h", 720 * time.Hour, true},
		"Mixed":   {"Parts may be in any order and repeat.", "30s1h1h", 2*time.Hour + 30*time.Second, true},
		"Zero":    {"Nothing to wait for is a length.", "0s", 0, true},
		"TooLong": {"A length that does not fit is as good as never.", "99999999999h", 0, false},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			var d struct {
				At v1.NillableDuration `json:"at"`
			}
			text := `{"at":"` + c.text + `"}`
			if err := json.Unmarshal([]byte(text), &d); err != nil {
				t.Fatal(err)
			}
			if span, ok := d.At.Span(); span != c.span || ok != c.ok {
				t.Errorf("Span() = %s, %t, want %s, %t. %s", span, ok, c.span, c.ok, c.why)
			}
			back, err := json.Marshal(d)
			if err != nil || string(back) != text {
				t.Errorf("written back as %s, %v: want it byte for byte", back, err)
			}
		})
	}
}

func pool(change func(*v1.NodePool)) *v1.NodePool {
	p := &v1.NodePool{}
	p.Spec.Template.Labels = map[string]string{"team": "a"}
	p.Spec.Template.Spec = v1.NodeClaimTemplateSpec{
		NodeClassRef: &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"},
		Taints:       []corev1.Taint{{Key: "a", Effect: "NoSchedule"}, {Key: "b", Effect: "NoSchedule"}},
		Requirements: []v1.Requirement{{Key: "a", Operator: "Exists"}},
		ExpireAfter:  "720h",
	}
	change(p)
	return p
}

func TestHash(t *testing.T) {
	tests := map[string]struct {
		why     string
		change  func(*v1.NodePool)
		drifted bool
	}{
		"Label":        {"A node's labels are set at birth.", func(p *v1.NodePool) { p.Spec.Template.Labels["team"] = "b" }, true},
		"Taint":        {"Its taints too.", func(p *v1.NodePool) { p.Spec.Template.Spec.Taints[0].Value = "x" }, true},
		"Class":        {"Another class makes another node.", func(p *v1.NodePool) { p.Spec.Template.Spec.NodeClassRef.Name = "x" }, true},
		"Expiry":       {"A claim's spec never changes, so its expiry is the old one.", func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "1h" }, true},
		"Spelling":     {"The same length in other words is the same.", func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "719h60m" }, false},
		"Order":        {"Taints are a set.", func(p *v1.NodePool) { s := p.Spec.Template.Spec.Taints; s[0], s[1] = s[1], s[0] }, false},
		"Requirements": {"A node that meets what is asked now has not drifted.", func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements[0].Key = "z" }, false},
		"Budgets":      {"What a pool may do is not what a node is.", func(p *v1.NodePool) { p.Spec.Disruption.ConsolidateAfter = "1h"; p.Spec.Weight = new(int32(5)) }, false},
	}
	before := pool(func(*v1.NodePool) {}).Hash()
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			if drifted := pool(c.change).Hash() != before; drifted != c.drifted {
				t.Errorf("drifted: %t, want %t. %s", drifted, c.drifted, c.why)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	require := func(r ...v1.Requirement) func(*v1.NodePool) {
		return func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements = r }
	}
	tests := map[string]struct {
		why    string
		change func(*v1.NodePool)
		want   []string
	}{
		"Policy": {
			why:    "A policy of an older API that a file says is not taken for another.",
			change: func(p *v1.NodePool) { p.Spec.Disruption.ConsolidationPolicy = "WhenUnderutilized" },
			want:   []string{"spec.disruption.consolidationPolicy: supported values"},
		},
		"None": {"A sound pool has none.", func(*v1.NodePool) {}, nil},
		"Values": {
			"The CRD does not look at the values of a list.",
			require(v1.Requirement{Key: "a", Operator: "In", Values: []string{"x", "not a value"}}),
			[]string{"spec.template.spec.requirements[0].values[1]: "},
		},
		"DuplicateTaint": {
			"A taint stands once, in taints or in startupTaints, and the message says where the other is.",
			func(p *v1.NodePool) {
				p.Spec.Template.Spec.StartupTaints = []corev1.Taint{{Key: "b", Effect: "NoSchedule", Value: "y"}}
			},
			[]string{"spec.template.spec.startupTaints[0]: same key and effect as spec.template.spec.taints[1]"},
		},
		"UnknownCapacity": {
			"Capacity types that all do not exist buy nothing.",
			require(v1.Requirement{Key: v1.LabelCapacityType, Operator: "In", Values: []string{"spto"}}),
			[]string{"spec.template.spec.requirements[0].values: spot, on-demand and reserved"},
		},
		"SomeUnknownCapacity": {
			"One that exists beside one that does not is no problem.",
			require(v1.Requirement{Key: v1.LabelCapacityType, Operator: "In", Values: []string{"spot", "lunar"}}), nil,
		},
		"FewCapacity": {
			"But it does not count towards minValues.",
			require(v1.Requirement{Key: v1.LabelCapacityType, Operator: "In", Values: []string{"spot", "lunar"}, MinValues: new(2)}),
			[]string{"spec.template.spec.requirements[0].values: minValues asks for 2"},
		},
		"PoolKey":  {"A pool does not require itself.", require(v1.Requirement{Key: v1.LabelNodePool, Operator: "Exists"}), []string{"spec.template.spec.requirements[0].key: "}},
		"Operator": {"An unknown operator.", require(v1.Requirement{Key: "a", Operator: "Like"}), []string{"spec.template.spec.requirements[0].values: no operator \"Like\""}},
		"TooLong":  {"A length that does not fit is said, not taken for zero.", func(p *v1.NodePool) { p.Spec.Template.Spec.ExpireAfter = "99999999999h" }, []string{"spec.template.spec.expireAfter: "}},
		"All": {
			"All problems are told at once.",
			func(p *v1.NodePool) {
				p.Spec.Template.Labels = map[string]string{v1.LabelHostname: "x", "b c": "y"}
				p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "", Effect: "Never"}}
			},
			[]string{"spec.template.metadata.labels[kubernetes.io/hostname]: ", "spec.template.metadata.labels: ", "spec.template.spec.taints[0].key: ", "spec.template.spec.taints[0].effect: "},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			errs := pool(c.change).Problems()
			if (len(errs) == 0) != (len(c.want) == 0) {
				t.Fatalf("problems are %v, want %q. %s", errs, c.want, c.why)
			}
			for _, want := range c.want {
				path, text, _ := strings.Cut(want, ": ")
				found := false
				for _, e := range errs {
					found = found || e.Field == path && strings.Contains(e.Detail, text)
				}
				if !found {
					t.Errorf("no %q in %v. %s", want, errs, c.why)
				}
			}
		})
	}
}

func TestConditionsOfAFreshPool(t *testing.T) {
	p := pool(func(*v1.NodePool) {})
	p.Conditions().Init(time.Unix(0, 0))
	var got []string
	for _, c := range p.Status.Conditions {
		got = append(got, c.Type+"="+string(c.Status))
	}
	want := []string{"ValidationSucceeded=Unknown", "NodeClassReady=Unknown", "Ready=Unknown"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
