package host

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A lookup returns the data of a ConfigMap or Secret of the pod's namespace. found is false when there is none.
type lookup func(kind, name string) (data map[string]string, found bool, err error)

// environment is what the first container of p is to see. facts are the fields of the pod that are known only here.
func environment(p *corev1.Pod, node *corev1.Node, facts map[string]string, look lookup) (map[string]string, error) {
	c := &p.Spec.Containers[0]
	from := sources{pod: p, container: c, node: node, facts: facts, look: look}
	env := map[string]string{}
	for _, s := range c.EnvFrom {
		kind, name, optional := source(s)
		data, found, err := look(kind, name)
		switch {
		case err != nil:
			return nil, err
		case !found && !optional:
			return nil, fmt.Errorf("%s %q not found", kind, name)
		}
		for k, v := range data {
			env[s.Prefix+k] = v
		}
	}
	for _, e := range c.Env {
		if e.ValueFrom == nil {
			env[e.Name] = expand(e.Value, env)
			continue
		}
		v, ok, err := from.value(e.ValueFrom)
		if err != nil {
			return nil, fmt.Errorf("variable %s: %w", e.Name, err)
		}
		if ok {
			env[e.Name] = v
		}
	}
	return env, nil
}

func source(from corev1.EnvFromSource) (kind, name string, optional bool) {
	if r := from.ConfigMapRef; r != nil {
		return "configmap", r.Name, r.Optional != nil && *r.Optional
	}
	if r := from.SecretRef; r != nil {
		return "secret", r.Name, r.Optional != nil && *r.Optional
	}
	return "", "", true
}

// sources are what variables of a container are taken from.
type sources struct {
	pod       *corev1.Pod
	container *corev1.Container
	node      *corev1.Node
	facts     map[string]string
	look      lookup
}

// value finds what a variable is taken from; false when it may be missing and is.
func (s sources) value(from *corev1.EnvVarSource) (string, bool, error) {
	key := func(kind, name, key string, optional *bool) (string, bool, error) {
		data, found, err := s.look(kind, name)
		if err != nil {
			return "", false, err
		}
		v, has := data[key]
		if !has && (optional == nil || !*optional) {
			if !found {
				return "", false, fmt.Errorf("%s %q not found", kind, name)
			}
			return "", false, fmt.Errorf("couldn't find key %s in %s %s/%s", key, kind, s.pod.Namespace, name)
		}
		return v, has, nil
	}
	switch {
	case from.ConfigMapKeyRef != nil:
		r := from.ConfigMapKeyRef
		return key("configmap", r.Name, r.Key, r.Optional)
	case from.SecretKeyRef != nil:
		r := from.SecretKeyRef
		return key("secret", r.Name, r.Key, r.Optional)
	case from.FieldRef != nil:
		v, ok := field(s.pod, s.facts, from.FieldRef.FieldPath)
		if !ok {
			return "", false, fmt.Errorf("the field %s is not offered here", from.FieldRef.FieldPath)
		}
		return v, true, nil
	case from.ResourceFieldRef != nil:
		v, err := amount(s.container, s.node, from.ResourceFieldRef)
		return v, err == nil, err
	}
	return "", false, fmt.Errorf("a source that is not offered here")
}

// field is what the pod says of itself.
func field(p *corev1.Pod, facts map[string]string, path string) (string, bool) {
	if v, ok := facts[path]; ok {
		return v, true
	}
	for prefix, m := range map[string]map[string]string{"metadata.labels['": p.Labels, "metadata.annotations['": p.Annotations} {
		if k, ok := strings.CutPrefix(path, prefix); ok {
			return m[strings.TrimSuffix(k, "']")], true
		}
	}
	switch path {
	case "metadata.name":
		return p.Name, true
	case "metadata.namespace":
		return p.Namespace, true
	case "metadata.uid":
		return string(p.UID), true
	case "spec.nodeName":
		return p.Spec.NodeName, true
	case "spec.serviceAccountName":
		return p.Spec.ServiceAccountName, true
	}
	return "", false
}

// amount is a request or a limit, in units of the divisor, rounded up. Without a limit it is what the node has.
func amount(c *corev1.Container, node *corev1.Node, r *corev1.ResourceFieldSelector) (string, error) {
	of, name, _ := strings.Cut(r.Resource, ".")
	list := c.Resources.Requests
	if of == "limits" {
		list = c.Resources.Limits
	}
	q, ok := list[corev1.ResourceName(name)]
	if !ok && of == "limits" {
		q = node.Status.Allocatable[corev1.ResourceName(name)]
	}
	divisor := r.Divisor
	if divisor.IsZero() {
		divisor = resource.MustParse("1")
	}
	// In thousandths, which hold every quantity that a pod may have.
	n, d := new(big.Int).Mul(big.NewInt(q.ScaledValue(-3)), big.NewInt(1)), big.NewInt(divisor.ScaledValue(-3))
	if d.Sign() == 0 {
		return "", fmt.Errorf("the divisor %s is none", r.Divisor.String())
	}
	n.Add(n, new(big.Int).Sub(d, big.NewInt(1)))
	return n.Div(n, d).String(), nil
}

// expand replaces $(NAME) by what the variable is. $$ is a dollar, and what is not known stays.
func expand(text string, env map[string]string) string {
	var b strings.Builder
	for text != "" {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			break
		}
		if after, ok := strings.CutPrefix(rest, "$"); ok {
			b.WriteByte('$')
			text = after
			continue
		}
		name, after, closed := strings.Cut(strings.TrimPrefix(rest, "("), ")")
		v, known := env[name]
		if !strings.HasPrefix(rest, "(") || !closed || !known {
			b.WriteByte('$')
			text = rest
			continue
		}
		b.WriteString(v)
		text = after
	}
	return b.String()
}

// list writes variables as a process gets them.
func list(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}

// move has the process listen where the port of its pod could be had: two pods share one address here.
func move(env map[string]string, ports map[int]int) {
	for _, name := range []string{"METRICS_PORT", "HEALTH_PROBE_PORT", "WEBHOOK_PORT"} {
		if was, err := strconv.Atoi(env[name]); err == nil && ports[was] != 0 {
			env[name] = strconv.Itoa(ports[was])
		}
	}
}
