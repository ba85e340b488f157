package v1

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Problems returns what is wrong with the pool and was not refused when it was written: what rules in a CRD cannot say,
// and what an older CRD let through. A pool with problems is not used.
func (p *NodePool) Problems() field.ErrorList {
	template := field.NewPath("spec", "template")
	at := template.Child("spec")
	t := p.Spec.Template.Spec
	errs := labelProblems(template.Child("metadata", "labels"), p.Spec.Template.Labels)
	errs = append(errs, TaintProblems(at, t.Taints, t.StartupTaints)...)
	for i, r := range t.Requirements {
		key := at.Child("requirements").Index(i)
		errs = append(errs, r.Problems(key)...)
		if r.Key == LabelNodePool {
			errs = append(errs, field.Invalid(key.Child("key"), r.Key, "it is the pool's own name and set by the controller"))
		}
	}
	if say := t.ExpireAfter.problem(); say != "" {
		errs = append(errs, field.Invalid(at.Child("expireAfter"), string(t.ExpireAfter), say))
	}
	policies := []ConsolidationPolicy{WhenEmpty, WhenEmptyOrUnderutilized, Balanced}
	if c := p.Spec.Disruption.ConsolidationPolicy; c != "" && !slices.Contains(policies, c) { // of a file: the API server refuses it
		errs = append(errs, field.NotSupported(field.NewPath("spec", "disruption", "consolidationPolicy"), c, policies))
	}
	if d := p.Spec.Disruption.ConsolidateAfter; d.problem() != "" {
		errs = append(errs, field.Invalid(field.NewPath("spec", "disruption", "consolidateAfter"), string(d), d.problem()))
	}
	_, wrong := p.DeviceTemplates()
	errs = append(errs, wrong...)
	_, wrong = SettingsOf(p.Annotations)
	return append(errs, wrong...)
}

// Restricted reports whether users may not speak of the label, in a pool or in a claim of their own.
func Restricted(label string) bool {
	domain, _, _ := strings.Cut(label, "/")
	return label == LabelHostname ||
		strings.HasSuffix(domain, Group) && label != LabelCapacityType && label != LabelNodePool
}

func labelProblems(at *field.Path, labels map[string]string) field.ErrorList {
	var errs field.ErrorList
	for key, value := range labels {
		for _, say := range validation.IsQualifiedName(key) {
			errs = append(errs, field.Invalid(at, key, say))
		}
		for _, say := range validation.IsValidLabelValue(value) {
			errs = append(errs, field.Invalid(at.Key(key), value, say))
		}
		if Restricted(key) || key == LabelNodePool {
			errs = append(errs, field.Invalid(at.Key(key), value, "the label is set by the controller"))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

// TaintProblems checks taints and startup taints, the fields of those names at a path, alone and against each other.
func TaintProblems(at *field.Path, taints, startup []corev1.Taint) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]*field.Path{}
	for _, list := range []struct {
		at     *field.Path
		taints []corev1.Taint
	}{{at.Child("taints"), taints}, {at.Child("startupTaints"), startup}} {
		for i, t := range list.taints {
			path := list.at.Index(i)
			errs = append(errs, taintProblems(path, t)...)
			id := t.Key + ":" + string(t.Effect)
			if first, ok := seen[id]; ok {
				errs = append(errs, field.Invalid(path, id, fmt.Sprintf("the same key and effect as %s", first)))
			} else {
				seen[id] = path
			}
		}
	}
	return errs
}

func taintProblems(at *field.Path, t corev1.Taint) field.ErrorList {
	var errs field.ErrorList
	for _, say := range validation.IsQualifiedName(t.Key) {
		errs = append(errs, field.Invalid(at.Child("key"), t.Key, say))
	}
	if t.Value != "" {
		for _, say := range validation.IsQualifiedName(t.Value) {
			errs = append(errs, field.Invalid(at.Child("value"), t.Value, say))
		}
	}
	switch t.Effect {
	case "", corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute:
	default:
		errs = append(errs, field.NotSupported(at.Child("effect"), t.Effect,
			[]corev1.TaintEffect{corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute}))
	}
	return errs
}

// Problems returns what is wrong with the requirement, which stands at a path.
func (r Requirement) Problems(at *field.Path) field.ErrorList {
	errs := r.Malformed(at)
	if Restricted(r.Key) {
		errs = append(errs, field.Invalid(at.Child("key"), r.Key, "the label is set by the controller"))
	}
	return errs
}

// Malformed is Problems without a word on whether the label may be spoken of.
func (r Requirement) Malformed(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, say := range validation.IsQualifiedName(r.Key) {
		errs = append(errs, field.Invalid(at.Child("key"), r.Key, say))
	}
	for i, v := range r.Values {
		for _, say := range validation.IsValidLabelValue(v) {
			errs = append(errs, field.Invalid(at.Child("values").Index(i), v, say))
		}
	}
	if say := r.operatorProblem(); say != "" {
		errs = append(errs, field.Invalid(at.Child("values"), r.Values, say))
	}
	if say := r.capacityTypeProblem(); say != "" {
		errs = append(errs, field.Invalid(at.Child("values"), r.Values, say))
	}
	return errs
}

func (r Requirement) operatorProblem() string {
	switch r.Operator {
	case corev1.NodeSelectorOpIn:
		if len(r.Values) == 0 {
			return "operator In needs at least one value"
		}
		if r.MinValues != nil && len(r.Values) < *r.MinValues {
			return fmt.Sprintf("minValues asks for %d values, %d are given", *r.MinValues, len(r.Values))
		}
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, OperatorGte, OperatorLte:
		if len(r.Values) != 1 {
			return fmt.Sprintf("operator %s needs exactly one value", r.Operator)
		}
		if n, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil || n < 0 {
			return fmt.Sprintf("operator %s needs an integer that is not negative", r.Operator)
		}
	case corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
	default:
		return fmt.Sprintf("there is no operator %q", r.Operator)
	}
	return ""
}

// capacityTypeProblem lets unknown capacity types pass beside known ones: another controller may know them.
func (r Requirement) capacityTypeProblem() string {
	if r.Key != LabelCapacityType || r.Operator != corev1.NodeSelectorOpIn || len(r.Values) == 0 {
		return ""
	}
	known := 0
	for _, v := range r.Values {
		if v == CapacitySpot || v == CapacityOnDemand || v == CapacityReserved {
			known++
		}
	}
	switch {
	case known == 0:
		return "the capacity types are spot, on-demand and reserved"
	case r.MinValues != nil && known < *r.MinValues:
		return fmt.Sprintf("minValues asks for %d values, %d are capacity types", *r.MinValues, known)
	}
	return ""
}
