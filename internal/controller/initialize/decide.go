// Package initialize says when a node that has joined can take pods, and whether it is what was bought.
package initialize

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Kind is what is due for a claim.
type Kind string

// The kinds of step.
const (
	Nothing Kind = "nothing" // not registered yet, or leaving
	Wait    Kind = "wait"    // the node is not there yet, for the reason given
	Done    Kind = "done"    // say that it can take pods
	Compare Kind = "compare" // it is in use: look whether it still has what was bought
)

// Step is what is due, and why.
type Step struct {
	Kind    Kind
	Reason  string
	Message string
}

// Next returns the step that is due for a claim whose node is n; nil if there is none.
func Next(c *v1.NodeClaim, n *corev1.Node) Step {
	s := c.Conditions()
	switch {
	case c.DeletionTimestamp != nil || !s.Is(v1.ConditionRegistered):
		return Step{Kind: Nothing}
	case s.Is(v1.ConditionInitialized) && n == nil:
		return Step{Kind: Nothing}
	case s.Is(v1.ConditionInitialized):
		return Step{Kind: Compare}
	}
	if n == nil {
		return Step{Wait, v1.ReasonNodeNotFound, "Node not registered with cluster"}
	}
	if why := unready(n); why != "" {
		return Step{Wait, v1.ReasonNodeNotReady, why}
	}
	if t, ok := firstOf(n.Spec.Taints, func(t corev1.Taint) bool { return has(c.Spec.StartupTaints, t) }); ok {
		return Step{Wait, v1.ReasonStartupTaints, fmt.Sprintf("StartupTaint %q still exists", t.ToString())}
	}
	if t, ok := firstOf(n.Spec.Taints, observe.Ephemeral); ok {
		return Step{Wait, v1.ReasonEphemeralTaints, fmt.Sprintf("KnownEphemeralTaint %q still exists", t.ToString())}
	}
	if name, ok := missing(c, n); ok {
		return Step{Wait, v1.ReasonResourceNotRegistered, unregistered(name)}
	}
	return Step{Kind: Done}
}

// unregistered says what is missing, and what would have brought it.
func unregistered(resource string) string {
	text := fmt.Sprintf("Resource %q was requested but not registered", resource)
	if strings.Contains(resource, "/") {
		text += ": no device plugin has reported it on this node; install the one for it, or see why its pod does not run here"
	}
	return text
}

// unready says why a node is not ready; empty if it is.
func unready(n *corev1.Node) string {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
			return ""
		}
		if c.Type == corev1.NodeReady {
			return fmt.Sprintf("Node is not ready: %s %s", c.Reason, strings.TrimSpace(c.Message))
		}
	}
	return "Node has not said that it is ready"
}

// missing is the first resource that pods asked for and the node does not have yet.
func missing(c *v1.NodeClaim, n *corev1.Node) (string, bool) {
	var out []string
	for name, q := range c.Spec.Resources.Requests {
		if has := n.Status.Allocatable[name]; !q.IsZero() && has.IsZero() {
			out = append(out, string(name))
		}
	}
	if len(out) == 0 {
		return "", false
	}
	return slices.Min(out), true
}

func firstOf(taints []corev1.Taint, is func(corev1.Taint) bool) (corev1.Taint, bool) {
	i := slices.IndexFunc(taints, is)
	if i < 0 {
		return corev1.Taint{}, false
	}
	return taints[i], true
}

func has(taints []corev1.Taint, t corev1.Taint) bool {
	return slices.ContainsFunc(taints, func(o corev1.Taint) bool { return o.Key == t.Key && o.Effect == t.Effect })
}
