package v1

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Annotations by which users set what a NodePool or a Provisioner has no field for. What is wrong with one is among the
// problems of both.
const (
	// AnnotationNodeCharge says, on a NodePool or Provisioner, what each of its nodes counts beside its price, an hour in the currency of prices.
	AnnotationNodeCharge = Group + "/node-charge"
)

// Settings are what those annotations say. They are part of no object.
//
// +kubebuilder:object:generate=false
type Settings struct {
	NodeCharge *int64 // millionths of the currency an hour; nil: it does not say
}

// SettingsOf reads the settings of a pool. An annotation that cannot be read leaves its field nil.
func SettingsOf(annotations map[string]string) (s Settings, wrong field.ErrorList) {
	s.NodeCharge, wrong = nodeCharge(annotations)
	return s, wrong
}

// mostNodeCharge is the most that a node may count beside its price, in units of the currency.
const mostNodeCharge = 1000

// chargeDigits is how many digits behind the point a charge has: it is kept in millionths.
const chargeDigits = 6

// nodeCharge is an amount of money in millionths; nil if the annotations do not say, or if it is wrong.
func nodeCharge(annotations map[string]string) (*int64, field.ErrorList) {
	text, ok := annotations[AnnotationNodeCharge]
	if !ok {
		return nil, nil
	}
	whole, part, _ := strings.Cut(text, ".")
	micro, err := strconv.ParseInt(whole+part+strings.Repeat("0", max(chargeDigits-len(part), 0)), 10, 64)
	if err != nil || whole == "" || strings.Trim(whole+part, "0123456789") != "" || strings.HasSuffix(text, ".") || len(part) > chargeDigits || micro > mostNodeCharge*1_000_000 {
		at := field.NewPath("metadata", "annotations").Key(AnnotationNodeCharge)
		return nil, field.ErrorList{field.Invalid(at, shortened(text), "it is an amount of money an hour from 0 to 1000 with at most six digits behind the point, such as 0.03")}
	}
	return &micro, nil
}
