package v1_test

import (
	"strings"
	"testing"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

func TestNodeCharge(t *testing.T) {
	for name, c := range map[string]struct {
		why, text string
		want      int64
		wrong     bool
	}{
		"Whole":     {"Units are read.", "1", 1_000_000, false},
		"Part":      {"So are millionths.", "0.027397", 27_397, false},
		"Few":       {"Digits may be missing.", "0.5", 500_000, false},
		"Nothing":   {"A node may count for nothing.", "0", 0, false},
		"Most":      {"So much is no slip yet.", "1000", 1_000_000_000, false},
		"More":      {"More is.", "1000.000001", 0, true},
		"Long":      {"So is what no number holds.", strings.Repeat("9", 40), 0, true},
		"Empty":     {"Nothing is no amount.", "", 0, true},
		"Negative":  {"Nothing is paid for having nodes.", "-1", 0, true},
		"Plus":      {"An amount has digits only.", "+1", 0, true},
		"Word":      {"A word is no amount.", "cheap", 0, true},
		"Currency":  {"Neither is one with a currency.", "$0.05", 0, true},
		"Exponent":  {"Nor one with an exponent.", "1e-2", 0, true},
		"TooExact":  {"What is rounded would not be what was said.", "0.0000001", 0, true},
		"NoPart":    {"A point has digits behind it.", "1.", 0, true},
		"NoWhole":   {"And before it.", ".5", 0, true},
		"TwoPoints": {"There is one.", "1.0.0", 0, true},
		"Space":     {"Blanks are none.", " 1", 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			annotations := map[string]string{v1.AnnotationNodeCharge: c.text}
			s, wrong := v1.SettingsOf(annotations)
			if (s.NodeCharge == nil) != c.wrong || (len(wrong) > 0) != c.wrong {
				t.Errorf("%s It reads %v: %v", c.why, s.NodeCharge, wrong)
			}
			if s.NodeCharge != nil && *s.NodeCharge != c.want {
				t.Errorf("%s It reads %d, want %d", c.why, *s.NodeCharge, c.want)
			}
			p := &v1.NodePool{}
			p.Annotations = annotations
			if said := p.Problems().ToAggregate(); c.wrong && (said == nil || !strings.Contains(said.Error(), "karpenter.sh/node-charge")) {
				t.Errorf("%s The pool's problems are %v", c.why, said)
			}
		})
	}
	if s, wrong := v1.SettingsOf(nil); s.NodeCharge != nil || len(wrong) > 0 {
		t.Errorf("without the annotation there is a charge, or something is wrong: %v", wrong)
	}
}
