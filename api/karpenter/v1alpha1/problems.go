package v1alpha1

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// Problems returns what is wrong with the overlay and was not refused when it was written.
func (o *NodeOverlay) Problems() field.ErrorList {
	var errs field.ErrorList
	at := field.NewPath("spec", "requirements")
	for i, r := range o.Spec.Requirements {
		errs = append(errs, v1.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}.Problems(at.Index(i))...)
	}
	return errs
}
