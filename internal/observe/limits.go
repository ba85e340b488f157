package observe

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/amount"
)

// Limits is what a pod may use at most, of the resources that it limits: what its
// containers and sidecars may use together, or what a step of starting it may if that
// is more; what the pod as a whole is limited to instead, where it says so; and its
// overhead. Nothing is decided by it: kube-scheduler counts requests.
func Limits(p *corev1.Pod) amount.List {
	var sidecars, start amount.List
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		may := Amounts(c.Resources.Limits)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars = sidecars.Plus(may)
			start = start.Max(sidecars)
			continue
		}
		start = start.Max(sidecars.Plus(may))
	}
	sum := sidecars
	for i := range p.Spec.Containers {
		sum = sum.Plus(Amounts(p.Spec.Containers[i].Resources.Limits))
	}
	sum = sum.Max(start)
	if p.Spec.Resources != nil {
		for _, e := range Amounts(p.Spec.Resources.Limits) {
			sum = sum.With(e.Name, e.Value)
		}
	}
	for _, e := range Amounts(p.Spec.Overhead) {
		if limit, ok := sum.Find(e.Name); ok {
			sum = sum.With(e.Name, limit+e.Value)
		}
	}
	return sum
}
