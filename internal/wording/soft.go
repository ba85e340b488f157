package wording

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	engine "github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

const relaxing = "Relaxing soft constraints for pod since it previously failed to schedule, removing: "

// Relaxed says which soft term was given up for a pod that has a place without it.
func Relaxed(pod *world.Pod, l plan.Loss) string {
	switch i := l.Of.At; {
	case l.Of.Kind == engine.SoftConstraint && i < len(pod.Spread):
		return relaxing + spread(pod.Spread[i])
	case l.Of.Kind == engine.SoftNodeTerm && i < len(pod.NodeWishes):
		return relaxing + wish(i, pod.NodeWishes[i])
	case l.Of.Kind == engine.SoftPodTerm && i < len(pod.PodTerms):
		return relaxing + term(pod, i)
	}
	return relaxing + l.Term
}

// RelaxedAll says which soft terms were given up for a pod that found no place
// without any of them, in the order in which Karpenter does without.
func RelaxedAll(pod *world.Pod) []string {
	var out []string
	for _, anti := range []bool{false, true} {
		for i, t := range pod.PodTerms {
			if t.Weight > 0 && t.Anti == anti {
				out = append(out, relaxing+term(pod, i))
			}
		}
	}
	for i, x := range pod.NodeWishes {
		out = append(out, relaxing+wish(i, x))
	}
	for _, s := range pod.Spread {
		if s.Soft {
			out = append(out, relaxing+spread(s))
		}
	}
	return out
}

func spread(s world.Spread) string {
	if s.Default {
		return "podTopologySpread.defaultConstraints of the scheduler = " + s.Source
	}
	return "spec.topologySpreadConstraints = " + s.Source
}

// expression is a requirement in the form of a node selector or a label selector.
type expression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// expressions writes a set back in the form of the API.
func expressions(s label.Set) []expression {
	var out []expression
	for _, r := range s {
		switch {
		case r.Min != nil:
			out = append(out, expression{r.Key, "Gt", []string{strconv.FormatInt(*r.Min-1, 10)}})
		case r.Max != nil:
			out = append(out, expression{r.Key, "Lt", []string{strconv.FormatInt(*r.Max+1, 10)}})
		default:
			out = append(out, expression{r.Key, string(r.Op()), r.Values})
		}
	}
	return out
}

func wish(i int, x world.NodeWish) string {
	return fmt.Sprintf("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[%d]=%s", i, text(struct {
		Weight     int `json:"weight"`
		Preference any `json:"preference"`
	}{x.Weight, struct {
		Expressions []expression `json:"matchExpressions,omitempty"`
	}{expressions(x.Term.Labels)}}))
}

func affinity(anti bool) string {
	if anti {
		return "podAntiAffinity"
	}
	return "podAffinity"
}

// term writes the preferred pod affinity or anti-affinity at i of the pod's terms.
func term(pod *world.Pod, i int) string {
	t := pod.PodTerms[i]
	n := 0
	for _, before := range pod.PodTerms[:i] {
		if before.Weight > 0 && before.Anti == t.Anti {
			n++
		}
	}
	return fmt.Sprintf("spec.affinity.%s.preferredDuringSchedulingIgnoredDuringExecution[%d]=%s", affinity(t.Anti), n, text(struct {
		Weight int `json:"weight"`
		Term   any `json:"podAffinityTerm"`
	}{t.Weight, struct {
		Selector any    `json:"labelSelector"`
		Key      string `json:"topologyKey"`
	}{struct {
		Expressions []expression `json:"matchExpressions,omitempty"`
	}{expressions(t.Selector.Set)}, t.Key}}))
}

// text is a value as JSON. What is written here always has a form.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%+v", v)
	}
	return string(b)
}
