package drift

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
)

// mostNamed is how many differences a message names before it says how many more there are.
const mostNamed = 5

// Changes says field by field how the claim differs from what its pool asks for
// today, for the reason that Reason gave. Of a claim's pool only a hash is kept,
// but the claim was made from its template and still has most of it.
func Changes(s Seen, reason string) string {
	f, ok := find(reason)
	if !ok {
		return ""
	}
	out := f.differ(s)
	if more := len(out) - mostNamed; more > 0 {
		out = append(out[:mostNamed], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, "; ")
}

// requirements names those that are not met.
func requirements(s Seen) []string {
	labels := s.labels()
	var out []string
	for _, q := range s.required() {
		if !(label.Set{q}).Match(labels) {
			out = append(out, fmt.Sprintf("label %s, and the pool requires %s", pair(q.Key, labels), q))
		}
	}
	return out
}

// offer names the offer that is gone.
func offer(s Seen) []string {
	l := s.Claim.Labels
	return []string{fmt.Sprintf("the catalogue of its class no longer has %s in %s as %s", l[label.InstanceType], l[label.Zone], l[label.CapacityType])}
}

// template names the fields of a pool's template that claims made today have otherwise.
func template(s Seen) []string {
	c, t := s.Claim, s.Pool.Spec.Template
	out := slices.Concat(values("label", c.Labels, t.Labels), values("annotation", c.Annotations, t.Annotations),
		taints("taint", c.Spec.Taints, t.Spec.Taints), taints("startup taint", c.Spec.StartupTaints, t.Spec.StartupTaints))
	if was, is := ref(c.Spec.NodeClassRef), ref(t.Spec.NodeClassRef); was != is {
		out = append(out, differs("nodeClassRef", was, is))
	}
	if was, is := expiry(c.Spec.ExpireAfter), expiry(t.Spec.ExpireAfter); was != is && t.Spec.ExpireAfter != "" {
		out = append(out, differs("expireAfter", was, is))
	}
	if was, is := grace(c.Spec.TerminationGracePeriod), grace(t.Spec.TerminationGracePeriod); was != is {
		out = append(out, differs("terminationGracePeriod", was, is))
	}
	if len(out) == 0 {
		return []string{"the pool's template is not the one that the claim was made from, by its hash; a label or annotation may have been removed"}
	}
	return out
}

func differs(field, was, is string) string {
	return fmt.Sprintf("%s: %s here, %s in the pool", field, cmp.Or(was, "none"), cmp.Or(is, "none"))
}

// values names the labels or annotations that a template gives and the claim has otherwise.
// What a claim has beside them may come from elsewhere.
func values(what string, was, is map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if old, has := was[k]; !has || old != is[k] {
			out = append(out, fmt.Sprintf("%s %s, and the pool has %s", what, pair(k, was), pair(k, is)))
		}
	}
	return out
}

// taints names those that only one of the two has.
func taints(what string, was, is []corev1.Taint) []string {
	var out []string
	for _, t := range is {
		if !slices.ContainsFunc(was, func(o corev1.Taint) bool { return o.MatchTaint(&t) && o.Value == t.Value }) {
			out = append(out, fmt.Sprintf("%s %s is only in the pool", what, t.ToString()))
		}
	}
	for _, t := range was {
		if !slices.ContainsFunc(is, func(o corev1.Taint) bool { return o.MatchTaint(&t) && o.Value == t.Value }) {
			out = append(out, fmt.Sprintf("%s %s is no longer in the pool", what, t.ToString()))
		}
	}
	return out
}

func pair(key string, labels map[string]string) string {
	if v, has := labels[key]; has {
		return key + "=" + v
	}
	return key + " is not there"
}

func ref(r *v1.NodeClassReference) string {
	if r == nil {
		return ""
	}
	return r.Kind + " " + r.Name
}

func expiry(d v1.NillableDuration) string {
	if span, ok := d.Span(); ok {
		return short(span)
	}
	return "Never"
}

func grace(d *metav1.Duration) string {
	if d == nil {
		return ""
	}
	return short(d.Duration)
}

// short writes 720h0m0s as 720h.
func short(d time.Duration) string {
	text := d.String()
	if cut, ok := strings.CutSuffix(text, "m0s"); ok {
		text = cut + "m"
	}
	if cut, ok := strings.CutSuffix(text, "h0m"); ok {
		text = cut + "h"
	}
	return text
}
