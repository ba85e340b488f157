package observe

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/amount"
)

// requests is what kube-scheduler counts for a pod: the larger of what its
// containers and sidecars ask for together and of what starting it takes, then
// what the pod as a whole asks for, its overhead, and one pod.
func requests(p *corev1.Pod) amount.List {
	var run, start amount.List // containers and sidecars together; the highest step of starting up
	var sidecars amount.List
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		asks := container(c, statusOf(c.Name, p.Status.InitContainerStatuses), p)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			sidecars = sidecars.Plus(asks)
			start = start.Max(sidecars)
			continue
		}
		start = start.Max(sidecars.Plus(asks))
	}
	run = sidecars
	for i := range p.Spec.Containers {
		c := &p.Spec.Containers[i]
		run = run.Plus(container(c, statusOf(c.Name, p.Status.ContainerStatuses), p))
	}
	sum := run.Max(start)
	for _, e := range podLevel(p, sum) {
		sum = sum.With(e.Name, e.Value)
	}
	return sum.Plus(Amounts(p.Spec.Overhead)).With(amount.Pods, amount.Unit)
}

// container is what one container asks for. While it is being resized in place
// it may hold more than it asks for, and a resize that the node cannot do
// leaves it at what it has.
func container(c *corev1.Container, s *corev1.ContainerStatus, p *corev1.Pod) amount.List {
	asks := asked(c.Resources)
	if s == nil {
		return asks
	}
	var has amount.List
	if s.Resources != nil {
		has = Amounts(s.Resources.Requests)
	}
	has = has.Max(Amounts(s.AllocatedResources))
	if len(has) > 0 && infeasible(p) {
		return has
	}
	return asks.Max(has)
}

// asked are the requests, and the limits of what is not requested, as the API defaults them.
func asked(r corev1.ResourceRequirements) amount.List {
	if len(r.Limits) == 0 {
		return Amounts(r.Requests)
	}
	all := maps.Clone(r.Limits)
	maps.Copy(all, r.Requests)
	return Amounts(all)
}

// podLevel is what the pod as a whole asks for, of the resources that can be
// asked for so. Its limit stands in for a request that it does not make, unless
// its containers ask for some themselves; huge pages cannot be overcommitted, so
// theirs always does. That is how the API defaults it.
func podLevel(p *corev1.Pod, containers amount.List) amount.List {
	if p.Spec.Resources == nil {
		return nil
	}
	asks := Amounts(p.Spec.Resources.Requests)
	for _, e := range Amounts(p.Spec.Resources.Limits) {
		_, requested := asks.Find(e.Name)
		_, contained := containers.Find(e.Name)
		if !requested && (!contained || hugePages(e.Name)) {
			asks = asks.With(e.Name, e.Value)
		}
	}
	asks = asks.Max(Amounts(p.Status.AllocatedResources))
	return slices.DeleteFunc(asks, func(e amount.Entry) bool {
		return e.Name != amount.CPU && e.Name != amount.Memory && !hugePages(e.Name)
	})
}

func hugePages(resource string) bool {
	return strings.HasPrefix(resource, corev1.ResourceHugePagesPrefix)
}

// infeasible reports whether the node said that it can never resize the pod as asked.
func infeasible(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodResizePending && c.Reason == corev1.PodReasonInfeasible
	})
}

func statusOf(name string, all []corev1.ContainerStatus) *corev1.ContainerStatus {
	for i := range all {
		if all[i].Name == name {
			return &all[i]
		}
	}
	return nil
}
