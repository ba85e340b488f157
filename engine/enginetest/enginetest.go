// Package enginetest turns text into Worlds and plans into text, so that the engine's behaviour is written as scenarios that a person can read.
package enginetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
)

// Run plays every scenario below dir. A scenario file holds commands:
//
//	world           adds the items below to the World, one a line (see Line)
//	plan [option…]  decides and prints the plan; options: exact, ignore-preferences, best-effort, full
//	why NAME        decides and prints why the pod is refused
func Run(t *testing.T, dir string) {
	t.Helper()
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		s := NewScene()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				for line := range strings.SplitSeq(d.Input, "\n") {
					if err := s.Line(line); err != nil {
						return err.Error() + "\n"
					}
				}
				return ""
			case "plan":
				return plot(decide(s.World(), d), d.HasArg("full"))
			case "why":
				return why(decide(s.World(), d), d.CmdArgs[0].Key)
			}
			d.Fatalf(t, "unknown command %s", d.Cmd)
			return ""
		})
	})
}

func decide(w *world.World, d *datadriven.TestData) plan.Plan { return provision.Decide(w, Options(d)) }

// Options are those that a command of a scenario names.
func Options(d *datadriven.TestData) provision.Options {
	o := provision.Options{ExactOnly: d.HasArg("exact"), Nominated: d.HasArg("nominated")}
	if d.HasArg("ignore-preferences") {
		o.PreferencePolicy = "Ignore"
	}
	if d.HasArg("best-effort") {
		o.MinValuesPolicy = "BestEffort"
	}
	return o
}

// plot writes the plan in as few words as possible.
func plot(p plan.Plan, full bool) string {
	var b strings.Builder
	for _, a := range p.New {
		expected := ""
		if a.Expected > 0 {
			expected = fmt.Sprintf(" (expected %.3f)", a.Expected.Units())
		}
		fmt.Fprintf(&b, "new %s %s %s %s %.3f%s: %s\n", a.Pool.Name, a.Shape, a.Zone, a.CapacityType, a.Price.Units(), expected, keys(a.Pods))
		if full {
			names := make([]string, len(a.Menu))
			for i, c := range a.Menu {
				names[i] = c.Shape
			}
			fmt.Fprintf(&b, "  menu %s\n  requires %s\n  labels %v\n  binds %s\n", strings.Join(names, " "), a.Requirements, a.Labels, a.Why.Binds)
			if a.Relaxed {
				b.WriteString("  minValues lowered\n")
			}
		}
	}
	for _, f := range p.Filled {
		fmt.Fprintf(&b, "fill %s: %s\n", f.Node+f.Claim, keys(f.Pods))
	}
	for _, f := range p.Held {
		fmt.Fprintf(&b, "held %s: %s\n", f.Node+f.Claim, keys(f.Pods))
	}
	for _, r := range p.Refused {
		fmt.Fprintf(&b, "refuse %s\n%s\n", r.Pod.Name, indent(r.Why.String()))
	}
	for _, l := range p.GivenUp {
		fmt.Fprintf(&b, "give up %s: %s\n", l.Pod.Name, l.Term)
	}
	if b.Len() == 0 {
		return "nothing to do\n"
	}
	return b.String()
}

func why(p plan.Plan, name string) string {
	for _, r := range p.Refused {
		if r.Pod.Name == name {
			return r.Why.String() + "\n"
		}
	}
	return name + " is not refused\n"
}

func keys(ks []world.Key) string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	return strings.Join(names, " ")
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
