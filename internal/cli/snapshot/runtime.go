package snapshot

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
)

// admit gives a pod of which there are n what admission would: the overhead of its RuntimeClass and what that asks of nodes.
// It is for a pod that no API server has seen. The pod is changed, what it shares with others is not.
func (in *input) admit(s *corev1.PodSpec, of string, n int) {
	if s.RuntimeClassName == nil || *s.RuntimeClassName == "" {
		return
	}
	class := in.runtimes[*s.RuntimeClassName]
	if class == nil {
		in.odd.classless.add(*s.RuntimeClassName, of, n)
		return
	}
	if class.Overhead != nil && len(s.Overhead) == 0 {
		s.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return
	}
	selector := maps.Clone(class.Scheduling.NodeSelector)
	if selector == nil {
		selector = map[string]string{}
	}
	maps.Copy(selector, s.NodeSelector)
	s.NodeSelector = selector
	s.Tolerations = append(s.Tolerations[:len(s.Tolerations):len(s.Tolerations)], class.Scheduling.Tolerations...)
}

// runtimeClasses are the RuntimeClasses of the input, by name.
type runtimeClasses map[string]*nodev1.RuntimeClass
