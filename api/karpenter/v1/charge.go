package v1

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// mostNodeCharge is the most that a node may count beside its price, in units of the currency.
const mostNodeCharge = 1000

// chargeDigits is how many digits behind the point a charge has: it is kept in millionths.
const chargeDigits = 6

// NodeCharge is what the annotations of a pool say that each of its nodes counts beside its price, in millionths of the
// currency an hour; false if they do not say. Of what is wrong there is none.
func NodeCharge(annotations map[string]string) (micro int64, ok bool, wrong field.ErrorList) {
	text, ok := annotations[AnnotationNodeCharge]
	if !ok {
		return 0, false, nil
	}
	whole, part, _ := strings.Cut(text, ".")
	micro, err := strconv.ParseInt(whole+part+strings.Repeat("0", max(chargeDigits-len(part), 0)), 10, 64)
	if err != nil || whole == "" || strings.Trim(whole+part, "0123456789") != "" || strings.HasSuffix(text, ".") || len(part) > chargeDigits || micro > mostNodeCharge*1_000_000 {
		at := field.NewPath("metadata", "annotations").Key(AnnotationNodeCharge)
		return 0, false, field.ErrorList{field.Invalid(at, shortened(text), "it is an amount of money an hour from 0 to 1000 with at most six digits behind the point, such as 0.03")}
	}
	return micro, true, nil
}
