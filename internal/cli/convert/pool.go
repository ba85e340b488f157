package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/api/quantity"
)

// pool is the NodePool that a Provisioner becomes, with the class of that name.
func pool(p *v1alpha5.Provisioner, class string, n notes) v1.NodePool {
	s := &p.Spec
	var out v1.NodePool
	out.TypeMeta.APIVersion, out.Kind = v1.GroupVersion.String(), "NodePool"
	out.ObjectMeta = meta(p.Name, p.ObjectMeta)
	out.Spec.Weight = s.Weight
	if s.Limits != nil {
		out.Spec.Limits = s.Limits.Resources
	}
	t := &out.Spec.Template
	t.Labels, t.Annotations = s.Labels, s.Annotations
	t.Spec = v1.NodeClaimTemplateSpec{
		Taints: s.Taints, StartupTaints: s.StartupTaints, Requirements: requirements(p, n),
		NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: class},
		ExpireAfter:  seconds(s.TTLSecondsUntilExpired),
	}
	out.Spec.Disruption = v1.Disruption{
		ConsolidationPolicy: v1.WhenEmpty, ConsolidateAfter: seconds(s.TTLSecondsAfterEmpty),
		Budgets: []v1.Budget{{Nodes: "100%"}}, // a Provisioner had no budget
	}
	if p.Consolidates() {
		out.Spec.Disruption.ConsolidationPolicy, out.Spec.Disruption.ConsolidateAfter = v1.WhenEmptyOrUnderutilized, "0s"
	}
	if k := s.KubeletConfiguration; k != nil && k.ContainerRuntime != nil && *k.ContainerRuntime != "containerd" {
		n.say("spec.kubeletConfiguration.containerRuntime", "%s is left out: nodes run containerd", *k.ContainerRuntime)
	}
	return out
}

// seconds writes a time that a Provisioner counts in seconds; one that it does not say never comes.
func seconds(s *int64) v1.NillableDuration {
	if s == nil {
		return v1.Never
	}
	return v1.NillableDuration(fmt.Sprintf("%ds", *s))
}

// requirements are the Provisioner's with the newer names of labels, and with what it left to its defaults.
func requirements(p *v1alpha5.Provisioner, n notes) []v1.Requirement {
	all := []v1.Requirement{} // an empty list is written as such: the field is required
	var added []string
	for i, r := range p.EffectiveRequirements() {
		key := newerLabel(r.Key)
		if i < len(p.Spec.Requirements) && key != r.Key {
			n.say(fmt.Sprintf("spec.requirements[%d].key", i), "%s is now called %s", r.Key, key)
		}
		if i >= len(p.Spec.Requirements) {
			added = append(added, fmt.Sprintf("%s %s %s", key, r.Operator, strings.Join(r.Values, ",")))
		}
		all = append(all, v1.Requirement{Key: key, Operator: r.Operator, Values: r.Values})
	}
	if len(added) > 0 {
		n.say("spec.requirements", "a Provisioner's defaults are written out, a NodePool has none: %s", strings.Join(added, "; "))
	}
	return all
}

// newerLabel is the name that a label has today.
func newerLabel(key string) string {
	switch key {
	case "beta.kubernetes.io/arch":
		return v1.LabelArch
	case "beta.kubernetes.io/os":
		return v1.LabelOS
	case "beta.kubernetes.io/instance-type":
		return v1.LabelInstanceType
	case "failure-domain.beta.kubernetes.io/zone", "topology.ebs.csi.aws.com/zone":
		return v1.LabelZone
	case "failure-domain.beta.kubernetes.io/region":
		return v1.LabelRegion
	}
	return key
}

// meta is the name, labels and annotations of an object, without what others wrote there.
func meta(name string, old metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Name: name, Labels: maps.Clone(old.Labels), Annotations: maps.Clone(old.Annotations)}
	maps.DeleteFunc(out.Annotations, func(k, _ string) bool {
		return k == corev1.LastAppliedConfigAnnotation || strings.HasPrefix(k, v1.Group+"/") || strings.HasPrefix(k, awsv1.Group+"/")
	})
	return out
}

// write is an object as a user would write it: without a status, and without what is empty.
func write(o any) (map[string]any, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	delete(out, "status")
	prune(out)
	if spec, ok := out["spec"].(map[string]any); ok {
		spell(spec["limits"])
	}
	return out, nil
}

// spell writes amounts as people do: 1000 CPUs are "1000", where Kubernetes' own form is "1k".
func spell(limits any) {
	l, _ := limits.(map[string]any)
	for name, text := range l {
		s, _ := text.(string)
		if q, err := quantity.Parse(s); err == nil && q.Format == resource.DecimalSI && q.Cmp(*resource.NewQuantity(q.Value(), q.Format)) == 0 {
			l[name] = strconv.FormatInt(q.Value(), 10)
		}
	}
}

// prune takes away nulls and empty maps, however deep.
func prune(o map[string]any) {
	for k, v := range o {
		inner, ok := v.(map[string]any)
		if ok {
			prune(inner)
		}
		if v == nil || ok && len(inner) == 0 {
			delete(o, k)
		}
	}
}
