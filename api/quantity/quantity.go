// Package quantity looks at a quantity before Kubernetes' own reading of it is called.
//
// resource.ParseQuantity puts no end to an exponent: 1E36854253685363 keeps it
// busy for longer than any process lives, and 1E99999999 keeps every comparison busy.
// Quantities come from people, so they are looked at first.
package quantity

import (
	"fmt"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

// What a quantity may look like. The CRDs say the same.
const (
	// Pattern is all that Kubernetes can read, but that an exponent has at most two digits: no amount needs more.
	Pattern = `^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`
	// MaxLength of a quantity in bytes.
	MaxLength = 64
)

var pattern = regexp.MustCompile(Pattern)

// Readable reports whether s is a quantity that can be read in no time.
func Readable(s string) bool { return len(s) <= MaxLength && pattern.MatchString(s) }

// Parse reads s as resource.ParseQuantity does, and refuses what that could not finish.
func Parse(s string) (resource.Quantity, error) {
	if !Readable(s) {
		return resource.Quantity{}, fmt.Errorf("%.65q %s", s, reason)
	}
	return resource.ParseQuantity(s)
}

const reason = "is not a quantity that can be read: write a number with an optional suffix such as m, Gi or e3, " +
	"an exponent of at most two digits, and at most 64 characters"
