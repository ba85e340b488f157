package check

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	helper "k8s.io/component-helpers/resource"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// amounts are resources in thousandths.
type amounts map[string]int64

func amountsOf(l corev1.ResourceList) amounts {
	out := amounts{}
	for name, q := range l {
		out[string(name)] = q.MilliValue()
	}
	return out
}

func (a amounts) add(b amounts) {
	for name, n := range b {
		a[name] += n
	}
}

// podRequests is what a pod takes of a node, itself counted.
func podRequests(p *corev1.Pod) amounts {
	out := amountsOf(helper.PodRequests(p, helper.PodResourcesOptions{}))
	out["pods"] = 1000
	return out
}

// holds reports whether labels meet a requirement.
func holds(r karpv1.Requirement, labels map[string]string) bool {
	v, there := labels[r.Key]
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		return there && slices.Contains(r.Values, v)
	case corev1.NodeSelectorOpNotIn:
		return !slices.Contains(r.Values, v)
	case corev1.NodeSelectorOpExists:
		return there
	case corev1.NodeSelectorOpDoesNotExist:
		return !there
	}
	n, err := strconv.Atoi(v)
	bound, bad := strconv.Atoi(r.Values[0])
	if err != nil || bad != nil {
		return false
	}
	switch r.Operator {
	case corev1.NodeSelectorOpGt:
		return n > bound
	case corev1.NodeSelectorOpLt:
		return n < bound
	case "Gte":
		return n >= bound
	default:
		return n <= bound
	}
}
