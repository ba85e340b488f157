package v1alpha5

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// Problems returns what is wrong with the Provisioner. The CRD refuses most of it when it is written; a webhook and the
// status say it for objects that came past an older CRD.
func (p *Provisioner) Problems() field.ErrorList {
	at := field.NewPath("spec")
	errs := labelProblems(at.Child("labels"), p.Spec.Labels)
	errs = append(errs, v1.TaintProblems(at, p.Spec.Taints, p.Spec.StartupTaints)...)
	for i, r := range p.Spec.Requirements {
		errs = append(errs, r.problems(at.Child("requirements").Index(i))...)
	}
	errs = append(errs, p.Spec.Limits.problems(at.Child("limits", "resources"))...)
	errs = append(errs, p.providerProblems(at)...)
	if p.Spec.TTLSecondsAfterEmpty != nil && p.Consolidates() {
		errs = append(errs, field.Invalid(at.Child("ttlSecondsAfterEmpty"), *p.Spec.TTLSecondsAfterEmpty,
			"consolidation gives empty nodes back by itself: remove ttlSecondsAfterEmpty or switch consolidation off"))
	}
	if k := p.Spec.KubeletConfiguration; k != nil {
		errs = append(errs, k.problems(at.Child("kubeletConfiguration"))...)
	}
	_, wrong := v1.SettingsOf(p.Annotations)
	return append(errs, wrong...)
}

// Consolidates reports whether consolidation is switched on.
func (p *Provisioner) Consolidates() bool {
	c := p.Spec.Consolidation
	return c != nil && c.Enabled != nil && *c.Enabled
}

func (p *Provisioner) providerProblems(at *field.Path) field.ErrorList {
	inline, ref := p.Spec.Provider, p.Spec.ProviderRef
	switch {
	case inline != nil && ref != nil:
		return field.ErrorList{field.Forbidden(at.Child("provider"), "set provider or providerRef, not both")}
	case inline == nil && ref == nil:
		return field.ErrorList{field.Required(at.Child("providerRef"), "the name of an AWSNodeTemplate, or an inline provider")}
	case ref != nil && ref.Name == "":
		return field.ErrorList{field.Required(at.Child("providerRef", "name"), "the name of an AWSNodeTemplate")}
	case ref != nil:
		return nil
	}
	provider, err := awsv1alpha1.ParseProvider(inline.Raw)
	if err != nil {
		return field.ErrorList{field.Invalid(at.Child("provider"), string(inline.Raw), err.Error())}
	}
	return provider.Problems(at.Child("provider"))
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
		if Restricted(key) {
			errs = append(errs, field.Invalid(at.Key(key), value, restricted()))
		}
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}

func restricted() string {
	return "the label is restricted: use a well-known label (" + strings.Join(WellKnownLabels(), ", ") +
		") or one outside the domains " + strings.Join(RestrictedDomains(), ", ")
}

func (r Requirement) problems(at *field.Path) field.ErrorList {
	if Restricted(r.Key) {
		return field.ErrorList{field.Invalid(at.Child("key"), r.Key, restricted())}
	}
	if r.Operator == v1.OperatorGte || r.Operator == v1.OperatorLte {
		return field.ErrorList{field.NotSupported(at.Child("operator"), r.Operator, []corev1.NodeSelectorOperator{
			corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn, corev1.NodeSelectorOpExists,
			corev1.NodeSelectorOpDoesNotExist, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt,
		})}
	}
	return v1.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}.Malformed(at)
}

func (l *Limits) problems(at *field.Path) field.ErrorList {
	if l == nil {
		return nil
	}
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(l.Resources)) {
		if q := l.Resources[name]; q.Sign() < 0 {
			errs = append(errs, field.Invalid(at.Key(string(name)), q.String(), "a limit cannot be negative; to have no limit leave it out"))
		}
	}
	return errs
}

func (k *KubeletConfiguration) problems(at *field.Path) field.ErrorList {
	var errs field.ErrorList
	for name, reserved := range map[string]corev1.ResourceList{"systemReserved": k.SystemReserved, "kubeReserved": k.KubeReserved} {
		for resource, amount := range reserved {
			path := at.Child(name).Key(string(resource))
			switch resource {
			case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, "pid":
			default:
				errs = append(errs, field.NotSupported(path, resource, []string{"cpu", "memory", "ephemeral-storage", "pid"}))
			}
			if amount.Sign() < 0 {
				errs = append(errs, field.Invalid(path, amount.String(), "what is reserved cannot be negative"))
			}
		}
	}
	for signal := range k.EvictionSoft {
		if _, ok := k.EvictionSoftGracePeriod[signal]; !ok {
			errs = append(errs, field.Required(at.Child("evictionSoftGracePeriod").Key(signal), "the signal is in evictionSoft"))
		}
	}
	for signal := range k.EvictionSoftGracePeriod {
		if _, ok := k.EvictionSoft[signal]; !ok {
			errs = append(errs, field.Required(at.Child("evictionSoft").Key(signal), "the signal is in evictionSoftGracePeriod"))
		}
	}
	if high, low := k.ImageGCHighThresholdPercent, k.ImageGCLowThresholdPercent; high != nil && low != nil && *high <= *low {
		errs = append(errs, field.Invalid(at.Child("imageGCHighThresholdPercent"), *high, "must be above imageGCLowThresholdPercent"))
	}
	slices.SortFunc(errs, func(a, b *field.Error) int { return strings.Compare(a.Error(), b.Error()) })
	return errs
}
