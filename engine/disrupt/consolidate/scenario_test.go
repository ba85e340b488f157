package consolidate_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// A scenario is told as in enginetest.Stage:
//
//	world             adds items, one a line
//	pool, node, pod, guard NAME key=…   change one
//	consolidate key=… move=$, least=$, share=%, group=N, spot, unbudgeted, moved=NODE,…: decides and prints
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := enginetest.NewStage()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				for line := range strings.SplitSeq(d.Input, "\n") {
					if err := s.Scene.Line(line); err != nil {
						return err.Error() + "\n"
					}
				}
			case "pool", "node", "pod", "guard":
				s.Change(d.Cmd, d.CmdArgs[0].Key, arguments(d.CmdArgs[1:]))
			case "consolidate":
				a := arguments(d.CmdArgs)
				_, spot := a["spot"]
				_, unbudgeted := a["unbudgeted"]
				w, err := s.World()
				if err != nil {
					t.Fatal(err)
				}
				var moved []string
				for name := range strings.SplitSeq(a["moved"], ",") {
					if p := w.Place(name); p != nil {
						moved = append(moved, p.Claim.Name)
					}
				}
				p := decide(w, consolidate.Options{
					JustMoved: moved,
					Level:     a["level"], MoveCost: price(a["move"]), LeastSaving: price(a["least"]), LeastShare: number(a["share"]), Group: number(a["group"]), SpotToSpot: spot, Unbudgeted: unbudgeted,
				})
				return plot(p)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return ""
		})
	})
}

func arguments(args []datadriven.CmdArg) map[string]string {
	out := map[string]string{}
	for _, a := range args {
		out[a.Key] = strings.Join(a.Vals, ",")
	}
	return out
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func price(s string) money.Micro { p, _ := money.Parse(s); return p }

// plot writes the plan in as few words as tell it.
func plot(p plan.Plan) string {
	var b strings.Builder
	for _, g := range idle(p) {
		fmt.Fprintf(&b, "goes %s: %s\n", g.Node, g.Reason)
	}
	for _, c := range moving(p) {
		var back []string
		for _, g := range c.Back {
			back = append(back, g.Node)
		}
		fmt.Fprintf(&b, "back %s saves %.3f", strings.Join(back, " "), float64(c.Saving)/1e6)
		if c.Charge != 0 {
			fmt.Fprintf(&b, " and %.3f of charges", float64(c.Charge)/1e6)
		}
		b.WriteString("\n")
		for _, a := range c.New {
			var menu []string
			for _, m := range a.Menu {
				menu = append(menu, m.Shape)
			}
			fmt.Fprintf(&b, "  new %s %s %s %.3f: %s (menu %s)\n", a.Shape, a.Zone, a.CapacityType, float64(a.Price)/1e6, keys(a.Pods), strings.Join(menu, " "))
		}
		for _, f := range c.Moves {
			fmt.Fprintf(&b, "  fill %s: %s\n", f.Node, keys(f.Pods))
		}
		if c.Why != nil {
			fmt.Fprintf(&b, "  held up: %s\n", c.Why.Line())
		}
	}
	for _, k := range p.Kept {
		if k.Reason != plan.Underutilized {
			continue
		}
		fmt.Fprintf(&b, "keep %s\n", strings.ReplaceAll(k.Why.String(), "\n", "\n  "))
	}
	if p.Again > 0 {
		fmt.Fprintf(&b, "again after %d s\n", p.Again-enginetest.StageNow)
	}
	return b.String()
}

func keys(ks []world.Key) string {
	names := make([]string, len(ks))
	for i, k := range ks {
		names[i] = k.Name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}
