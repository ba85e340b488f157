package observe

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// nodeTerm reads one term of a node selector. It is false for a term that says
// nothing, which matches no node.
func nodeTerm(t corev1.NodeSelectorTerm, path string, problem func(string, ...any)) (world.NodeTerm, bool) {
	var out world.NodeTerm
	for i, e := range t.MatchExpressions {
		r, err := label.New(e.Key, label.Op(e.Operator), e.Values...)
		if err = valued(string(e.Operator), e.Values, keyed(e.Key, err)); err != nil {
			problem("%s.matchExpressions[%d]: %v", path, i, err)
			continue
		}
		out.Labels = out.Labels.And(r)
	}
	for i, e := range t.MatchFields {
		r, err := label.Plain(e.Key, label.Op(e.Operator), e.Values...)
		switch {
		case err != nil:
			problem("%s.matchFields[%d]: %v", path, i, err)
		case e.Key != metav1.ObjectNameField:
			problem("%s.matchFields[%d]: key %q cannot be matched, only %s can", path, i, e.Key, metav1.ObjectNameField)
		case out.Name == nil:
			out.Name = &r
		default:
			both := out.Name.Meet(r)
			out.Name = &both
		}
	}
	return out, len(t.MatchExpressions)+len(t.MatchFields) > 0
}

// keyed adds to what may be wrong with a requirement that it has no key.
func keyed(key string, err error) error {
	if err == nil && key == "" {
		return errors.New("key is empty")
	}
	return err
}

// valued adds to what may be wrong with a requirement that its operator has no value.
func valued(operator string, values []string, err error) error {
	if err == nil && len(values) == 0 && (operator == "In" || operator == "NotIn") {
		return fmt.Errorf("operator %s needs at least one value", operator)
	}
	return err
}

// selector reads a label selector. None picks nothing, an empty one everything.
func selector(s *metav1.LabelSelector, path string, problem func(string, ...any)) world.Selector {
	if s == nil {
		return world.Selector{}
	}
	out := world.Selector{Some: true}
	if len(s.MatchLabels) > 0 {
		out.Set = plainly(s.MatchLabels)
	}
	for i, e := range s.MatchExpressions {
		r, err := label.Plain(e.Key, label.Op(e.Operator), e.Values...)
		if err = valued(string(e.Operator), e.Values, err); err != nil {
			problem("%s.matchExpressions[%d]: %v", path, i, err)
			continue
		}
		out.Set = out.Set.And(r)
	}
	return out
}

// plainly demands just these labels of a pod or a namespace.
func plainly(labels map[string]string) label.Set {
	var s label.Set
	for k, v := range labels {
		s = s.And(label.Requirement{Key: k, Present: true, Values: []string{v}})
	}
	return s
}

// narrowed adds to a selector that pods must have, or must not have, the value
// this pod has of each key. A key the pod lacks says nothing.
func narrowed(s world.Selector, own map[string]string, same, other []string) world.Selector {
	if !s.Some {
		return s
	}
	for _, k := range same {
		if v, ok := own[k]; ok {
			s.Set = s.Set.And(label.Requirement{Key: k, Present: true, Values: []string{v}})
		}
	}
	for _, k := range other {
		if v, ok := own[k]; ok {
			s.Set = s.Set.And(label.Requirement{Key: k, Not: true, Values: []string{v}})
		}
	}
	return s
}

// taints reads taints in the order the object has them.
func taints(in []corev1.Taint) []world.Taint {
	if len(in) == 0 {
		return nil
	}
	out := make([]world.Taint, len(in))
	for i, t := range in {
		out[i] = world.Taint{Key: t.Key, Value: t.Value, Effect: string(t.Effect)}
	}
	return out
}

// problems collects what is wrong with an object.
type problems []string

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }
