package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// EffectiveRequirements returns the Provisioner's requirements and, after them, what it leaves open: linux, amd64,
// on-demand; and of the types, unless the Provisioner narrows them itself, categories c, m and r above the second
// generation. Nothing of it is written back: the user reads what the user wrote.
func (p *Provisioner) EffectiveRequirements() []Requirement {
	all := append([]Requirement(nil), p.Spec.Requirements...)
	open := func(labels ...string) bool {
		for _, l := range labels {
			if p.speaksOf(l) {
				return false
			}
		}
		return true
	}
	if open(v1.LabelOS, "beta.kubernetes.io/os") {
		all = append(all, is(v1.LabelOS, "linux"))
	}
	if open(v1.LabelArch, "beta.kubernetes.io/arch") {
		all = append(all, is(v1.LabelArch, "amd64"))
	}
	if open(v1.LabelCapacityType) {
		all = append(all, is(v1.LabelCapacityType, v1.CapacityOnDemand))
	}
	if open(v1.LabelInstanceType, "beta.kubernetes.io/instance-type",
		awsv1.LabelInstanceFamily, awsv1.LabelInstanceCategory, awsv1.LabelInstanceGeneration) {
		all = append(all, is(awsv1.LabelInstanceCategory, "c", "m", "r"),
			Requirement{Key: awsv1.LabelInstanceGeneration, Operator: corev1.NodeSelectorOpGt, Values: []string{"2"}})
	}
	return all
}

func (p *Provisioner) speaksOf(label string) bool {
	if _, ok := p.Spec.Labels[label]; ok {
		return true
	}
	for _, r := range p.Spec.Requirements {
		if r.Key == label {
			return true
		}
	}
	return false
}

func is(label string, values ...string) Requirement {
	return Requirement{Key: label, Operator: corev1.NodeSelectorOpIn, Values: values}
}
