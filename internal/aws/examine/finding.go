// Package examine finds what keeps machines from being launched or given back, for people.
package examine

import (
	"fmt"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Level is how bad a finding is.
type Level string

// The levels. Only Bad keeps machines from being launched or given back.
const (
	Good    Level = "ok"
	Unclear Level = "unclear" // it could not be found out
	Warning Level = "warning"
	Bad     Level = "error"
)

// Finding is what one check of an examination found.
type Finding struct {
	Level Level  `json:"level"`
	Check string `json:"check"` // what was looked at: a permission, subnets, …
	Says  string `json:"says"`
	Fix   string `json:"fix,omitempty"` // what to do about it
}

// findings collects what checks find.
type findings []Finding

func (f *findings) good(check, format string, args ...any) {
	*f = append(*f, Finding{Level: Good, Check: check, Says: fmt.Sprintf(format, args...)})
}

func (f *findings) bad(check, fix, format string, args ...any) {
	*f = append(*f, Finding{Level: Bad, Check: check, Says: fmt.Sprintf(format, args...), Fix: fix})
}

func (f *findings) warn(check, fix, format string, args ...any) {
	*f = append(*f, Finding{Level: Warning, Check: check, Says: fmt.Sprintf(format, args...), Fix: fix})
}

func (f *findings) unclear(check, format string, args ...any) {
	*f = append(*f, Finding{Level: Unclear, Check: check, Says: fmt.Sprintf(format, args...)})
}

// failed adds an error of AWS as a finding.
func (f *findings) failed(check string, err error) {
	switch cloud.CodeOf(err) {
	case cloud.Unauthorised:
		f.bad(check, refusal.Advice(err), "%v", err)
	case cloud.NotReady, cloud.Invalid, cloud.Gone:
		f.bad(check, "", "%v", err) // the error says what to do
	default:
		f.unclear(check, "%v", err)
	}
}

// rehearsed adds the answer to a dry run as a finding.
func (f *findings) rehearsed(check, what string, err error) {
	switch {
	case err == nil || refusal.Is(err, "DryRunOperation"):
		f.good(check, "%s: EC2 would do it", what)
	case refusal.Kind(refusal.Code(err)) == cloud.Capacity:
		f.warn(check, "allow more types and zones, or ask AWS for a larger quota", "%s: %v", what, refusal.Wrap("dry run", err))
	default:
		f.failed(check, refusal.Wrap(what, err))
	}
}
