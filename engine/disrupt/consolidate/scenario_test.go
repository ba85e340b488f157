package consolidate_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A scenario is told as in package enginetest. Nodes of pools have joined an
// hour ago, and pools move pods at once, within any budget, unless told otherwise:
//
//	world             adds items, one a line
//	pool NAME key=…   after=SECONDS, budget=NODES[:REASON], policy=WhenEmpty|Balanced|Never
//	node NAME key=…   quiet=SECONDS, forbid, since when nothing came or went; starting
//	pod NAME key=…    forbid, cost=N
//	guard NAME allowed=N app=APP
//	consolidate key=… move=$, least=$, share=%, group=N, spot, unbudgeted: decides and prints
func TestScenarios(t *testing.T) {
	datadriven.Walk(t, "testdata/scenarios", func(t *testing.T, path string) {
		s := stage{scene: enginetest.NewScene()}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "world":
				for line := range strings.SplitSeq(d.Input, "\n") {
					if err := s.scene.Line(line); err != nil {
						return err.Error() + "\n"
					}
				}
			case "pool", "node", "pod", "guard":
				s.changes = append(s.changes, change{d.Cmd, d.CmdArgs[0].Key, arguments(d.CmdArgs[1:])})
			case "consolidate":
				a := arguments(d.CmdArgs)
				_, spot := a["spot"]
				_, unbudgeted := a["unbudgeted"]
				w := s.world(t)
				p := consolidate.Decide(w, consolidate.Options{
					MoveCost: money(a["move"]), LeastSaving: money(a["least"]), LeastShare: number(a["share"]), Group: number(a["group"]), SpotToSpot: spot, Unbudgeted: unbudgeted,
				})
				return plot(p)
			default:
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			return ""
		})
	})
}

const now = 1_000_000

type stage struct {
	scene   *enginetest.Scene
	changes []change
}

// change is what is told of one item beside what a scene tells.
type change struct {
	kind, name string
	args       map[string]string
}

func arguments(args []datadriven.CmdArg) map[string]string {
	out := map[string]string{}
	for _, a := range args {
		out[a.Key] = strings.Join(a.Vals, ",")
	}
	return out
}

func number(s string) int { n, _ := strconv.Atoi(s); return n }

func money(s string) int64 { f, _ := strconv.ParseFloat(s, 64); return int64(f*1e6 + 0.5) }

func (s *stage) world(t *testing.T) *world.World {
	t.Helper()
	w := s.scene.World()
	b := w.Edit()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range w.Pools() {
		pool, after := *p, int64(0)
		pool.Disruption = world.PoolDisruption{EmptyAfter: &after, MoveAfter: &after}
		must(b.SetPool(pool))
	}
	for _, p := range w.Places() {
		if p.Node == nil || p.Node.Pool.Name == "" {
			continue
		}
		n := *p.Node
		n.Claim = n.Name
		n.Labels = maps.Clone(n.Labels)
		if n.Labels[label.CapacityType] == "" {
			n.Labels[label.CapacityType] = label.OnDemand
		}
		must(b.SetNode(n))
		must(b.SetClaim(world.Claim{Name: n.Name, Node: n.Name, Pool: n.Pool, Template: "t", Launched: true, Registered: true, Initialized: true, InitializedAt: now - 3600}))
	}
	w = b.Snapshot(now)
	for _, c := range s.changes {
		must(c.make(w, b))
		w = b.Snapshot(now)
	}
	return w
}

// make changes one item.
func (c change) make(w *world.World, b *world.Builder) error {
	_, forbid := c.args["forbid"]
	switch c.kind {
	case "pool":
		p := *w.Pool(world.PoolID{Kind: world.NodePool, Name: c.name})
		if s, told := c.args["after"]; told {
			after := int64(number(s))
			p.Disruption.EmptyAfter, p.Disruption.MoveAfter = &after, &after
		}
		if s := c.args["budget"]; s != "" {
			nodes, reason, some := strings.Cut(s, ":")
			budget := world.Budget{Nodes: nodes}
			if some {
				budget.Reasons = []string{reason}
			}
			p.Disruption.Budgets = append(p.Disruption.Budgets, budget)
		}
		switch c.args["policy"] {
		case "WhenEmpty":
			p.Disruption.MoveAfter = nil
		case "Never":
			p.Disruption.EmptyAfter, p.Disruption.MoveAfter = nil, nil
		case "Balanced":
			p.Disruption.Balanced = true
		}
		return b.SetPool(p)
	case "node":
		place := w.Place(c.name)
		n, claim := *place.Node, *place.Claim
		n.DoNotDisrupt = forbid
		if s := c.args["quiet"]; s != "" {
			claim.LastPodEvent = now - int64(number(s))
		}
		if _, starting := c.args["starting"]; starting {
			claim.Initialized = false
		}
		if err := b.SetNode(n); err != nil {
			return err
		}
		return b.SetClaim(claim)
	case "pod":
		p := *w.Pod(world.Key{Namespace: "default", Name: c.name})
		p.Disruption.Forbidden, p.Disruption.DeletionCost = forbid, int32(number(c.args["cost"]))
		return b.SetPod(p)
	}
	return b.SetGuard(world.Guard{
		Key: world.Key{Namespace: "default", Name: c.name}, Allowed: number(c.args["allowed"]),
		Selector: world.Selector{Some: true, Set: label.SetOf(label.Is("app", c.args["app"]))},
	})
}

// plot writes the plan in as few words as tell it.
func plot(p consolidate.Plan) string {
	var b strings.Builder
	for _, g := range p.Going {
		fmt.Fprintf(&b, "goes %s: %s\n", g.Node, g.Reason)
	}
	for _, c := range p.Commands {
		var back []string
		for _, g := range c.Back {
			back = append(back, g.Node)
		}
		fmt.Fprintf(&b, "back %s saves %.3f\n", strings.Join(back, " "), float64(c.Saving)/1e6)
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
		fmt.Fprintf(&b, "keep %s\n", strings.ReplaceAll(k.Why.String(), "\n", "\n  "))
	}
	if p.Again > 0 {
		fmt.Fprintf(&b, "again after %d s\n", p.Again-now)
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
