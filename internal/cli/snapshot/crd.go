package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
)

// crdProblems returns what the API server would refuse by the rules of the CRD,
// so far as it changes a plan: no API server has seen what stands in a file.
func crdProblems(p *karpv1.NodePool) field.ErrorList {
	var errs field.ErrorList
	spec := field.NewPath("spec")
	if w := p.Spec.Weight; w != nil && (*w < 1 || *w > 100) {
		errs = append(errs, field.Invalid(spec.Child("weight"), *w, "a weight is from 1 to 100"))
	}
	template := spec.Child("template")
	for i, r := range p.Spec.Template.Spec.Requirements {
		errs = append(errs, unknownToAWS(template.Child("spec", "requirements").Index(i).Child("key"), r.Key)...)
		if m := r.MinValues; m != nil && (*m < 1 || *m > 50) {
			errs = append(errs, field.Invalid(template.Child("spec", "requirements").Index(i).Child("minValues"), *m, "minValues is from 1 to 50"))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Spec.Template.Labels)) {
		errs = append(errs, unknownToAWS(template.Child("metadata", "labels").Key(key), key)...)
	}
	return errs
}

// unknownToAWS refuses a label of AWS's domain that no machine has.
func unknownToAWS(at *field.Path, key string) field.ErrorList {
	domain, _, _ := strings.Cut(key, "/")
	if domain != awsv1.Group && !strings.HasSuffix(domain, "."+awsv1.Group) || slices.Contains(awsv1.WellKnownLabels(), key) {
		return nil
	}
	return field.ErrorList{field.Invalid(at, key, fmt.Sprintf("no machine has the label, and %s is not a domain for labels of your own", awsv1.Group))}
}

// meant asks whether the label that a problem is about is a slip; empty if it looks like none.
func meant(err *field.Error) string {
	key, ok := err.BadValue.(string)
	if _, of, isLabel := strings.Cut(err.Field, ".labels["); isLabel {
		key = strings.TrimSuffix(of, "]")
	} else if !ok || !strings.HasSuffix(err.Field, ".key") {
		return ""
	}
	known := append(awsv1.WellKnownLabels(), karpv1.LabelCapacityType, karpv1.LabelZone, karpv1.LabelRegion, karpv1.LabelInstanceType, karpv1.LabelArch, karpv1.LabelOS)
	if other := label.Meant(key, known); other != "" && other != key {
		return ": did you mean " + other + "?"
	}
	return ""
}
