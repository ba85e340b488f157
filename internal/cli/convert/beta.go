package convert

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// beta is the version of v0.32 to v0.37.
const beta = "v1beta1"

// BetaPool is a NodePool as v0.32 to v0.37 stored it: the settings of the kubelet and the age of nodes stand elsewhere.
type BetaPool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Template struct {
			Metadata v1.ObjectMeta `json:"metadata"`
			Spec     struct {
				Taints        []corev1.Taint        `json:"taints"`
				StartupTaints []corev1.Taint        `json:"startupTaints"`
				Requirements  []v1.Requirement      `json:"requirements"`
				Kubelet       *runtime.RawExtension `json:"kubelet"`
				NodeClassRef  struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
					Name       string `json:"name"`
				} `json:"nodeClassRef"`
				Resources json.RawMessage `json:"resources"` // of claims alone
			} `json:"spec"`
		} `json:"template"`
		Disruption struct {
			ConsolidationPolicy string              `json:"consolidationPolicy"`
			ConsolidateAfter    v1.NillableDuration `json:"consolidateAfter"`
			ExpireAfter         v1.NillableDuration `json:"expireAfter"`
			Budgets             []v1.Budget         `json:"budgets"`
		} `json:"disruption"`
		Limits corev1.ResourceList `json:"limits"`
		Weight *int32              `json:"weight"`
	} `json:"spec"`
	Status json.RawMessage `json:"status"`
}

// kubelet is the pool's settings of it, as JSON; empty if there are none.
func (p *BetaPool) kubelet() string {
	k := p.Spec.Template.Spec.Kubelet
	if k == nil {
		return ""
	}
	var fields map[string]any
	if json.Unmarshal(k.Raw, &fields) != nil || len(fields) == 0 {
		return ""
	}
	text, err := json.Marshal(fields) // in the order of their names
	if err != nil {
		return ""
	}
	return string(text)
}

// fromBeta adds what NodePools and EC2NodeClasses of v1beta1 become.
func (out *Output) fromBeta(in Input, taken map[string]bool) {
	var users []user
	for i := range in.BetaPools {
		p := &in.BetaPools[i]
		users = append(users, user{p.Spec.Template.Spec.NodeClassRef.Name, p.Name, p.kubelet()})
	}
	used := variants(users)
	classes := map[string]bool{}
	for i := range in.BetaClasses {
		c := &in.BetaClasses[i]
		classes[c.Name] = true
		n := notes{"EC2NodeClass/" + c.Name, &out.Notes}
		spec, ok := betaClass(c, n)
		if !ok {
			continue
		}
		kinds := used[c.Name]
		if len(kinds) == 0 {
			kinds = []variant{{class: c.Name}}
		}
		for _, k := range kinds {
			if taken[k.class] {
				n.refuse("metadata.name", "an AWSNodeTemplate becomes a class of that name: convert the two apart, and rename one")
				continue
			}
			taken[k.class] = true
			out.Classes = append(out.Classes, class(k, c.ObjectMeta, spec))
		}
	}
	for i := range in.BetaPools {
		p := &in.BetaPools[i]
		n := notes{"NodePool/" + p.Name, &out.Notes}
		if slices.ContainsFunc(out.Pools, func(o v1.NodePool) bool { return o.Name == p.Name }) {
			n.refuse("metadata.name", "a Provisioner becomes a pool of that name: convert the two apart, and rename one")
			continue
		}
		ref := p.Spec.Template.Spec.NodeClassRef
		if kind := cmp.Or(ref.Kind, "EC2NodeClass"); kind != "EC2NodeClass" {
			n.refuse("spec.template.spec.nodeClassRef.kind", "%s is no class of AWS", kind)
			continue
		}
		if !classes[ref.Name] {
			n.say("spec.template.spec.nodeClassRef", "EC2NodeClass %s was not given: convert it together with its pools, which hold its kubelet settings", ref.Name)
		}
		name := ref.Name
		if v, ok := of(used[name], p.kubelet()); ok {
			name = v.class
		}
		out.Pools = append(out.Pools, betaPool(p, name, n))
	}
}

// betaPool is the same pool as it is written today, with the class of that name.
func betaPool(p *BetaPool, class string, n notes) v1.NodePool {
	s, t := &p.Spec, &p.Spec.Template
	var out v1.NodePool
	out.TypeMeta.APIVersion, out.Kind = v1.GroupVersion.String(), "NodePool"
	out.ObjectMeta = meta(p.Name, p.ObjectMeta)
	out.Spec.Weight, out.Spec.Limits = s.Weight, s.Limits
	out.Spec.Template.ObjectMeta = t.Metadata
	out.Spec.Template.Spec = v1.NodeClaimTemplateSpec{
		Taints: t.Spec.Taints, StartupTaints: t.Spec.StartupTaints, Requirements: []v1.Requirement{},
		NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class},
		ExpireAfter:  cmp.Or(s.Disruption.ExpireAfter, "720h"),
	}
	for i, r := range t.Spec.Requirements {
		if key := newerLabel(r.Key); key != r.Key {
			n.say(fmt.Sprintf("spec.template.spec.requirements[%d].key", i), "%s is now called %s", r.Key, key)
			r.Key = key
		}
		out.Spec.Template.Spec.Requirements = append(out.Spec.Template.Spec.Requirements, r)
	}
	d := &out.Spec.Disruption
	switch s.Disruption.ConsolidationPolicy {
	case "", "WhenUnderutilized":
		// The only wait that could be said was for ever, which switched consolidation off.
		d.ConsolidationPolicy, d.ConsolidateAfter = v1.WhenEmptyOrUnderutilized, cmp.Or(s.Disruption.ConsolidateAfter, "0s")
	default:
		d.ConsolidationPolicy, d.ConsolidateAfter = v1.WhenEmpty, cmp.Or(s.Disruption.ConsolidateAfter, "0s")
	}
	for i, b := range s.Disruption.Budgets {
		d.Budgets = append(d.Budgets, budget(b, fmt.Sprintf("spec.disruption.budgets[%d].reasons", i), n))
	}
	return out
}

// budget has the reasons that are called so today.
func budget(b v1.Budget, at string, n notes) v1.Budget {
	var reasons []v1.DisruptionReason
	for _, r := range b.Reasons {
		switch r {
		case "underutilized":
			r = v1.Underutilized
		case "empty":
			r = v1.Empty
		case "drifted":
			r = v1.Drifted
		case "expired":
			n.say(at, "expired is left out: nodes that are too old go whatever a budget says")
			continue
		}
		reasons = append(reasons, r)
	}
	if b.Reasons != nil && reasons == nil {
		n.say(at, "none is left, and none means all: look whether the budget is still what you want")
	}
	b.Reasons = reasons
	return b
}

// betaClass is the same class as it is written today.
func betaClass(c *awsv1.EC2NodeClass, n notes) (awsv1.EC2NodeClassSpec, bool) {
	spec := *c.Spec.DeepCopy()
	if spec.AMIFamily != nil && *spec.AMIFamily == awsv1alpha1.FamilyUbuntu {
		n.refuse("spec.amiFamily", noUbuntu)
		return spec, false
	}
	spec.Tags = tags(spec.Tags, "spec.tags", n)
	m := spec.MetadataOptions
	if m == nil {
		m = &awsv1.MetadataOptions{}
	}
	spec.MetadataOptions = &awsv1.MetadataOptions{
		HTTPEndpoint: or(m.HTTPEndpoint, "enabled"), HTTPProtocolIPv6: or(m.HTTPProtocolIPv6, "disabled"),
		HTTPPutResponseHopLimit: or(m.HTTPPutResponseHopLimit, 2), HTTPTokens: or(m.HTTPTokens, "required"),
	}
	if len(spec.AMISelectorTerms) > 0 {
		return spec, true
	}
	if spec.AMIFamily == nil {
		spec.AMIFamily = new(awsv1alpha1.FamilyAL2)
	}
	return spec, standardImages(&spec, n)
}
