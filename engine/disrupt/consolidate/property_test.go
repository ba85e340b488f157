package consolidate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
)

// hour is for how long nothing has come or gone.
const hour = 3600

// worlds generates clusters that were filled and then lost some of their pods.
func worlds() *rapid.Generator[story] { return worldsOf(enginetest.ChargedLines()) }

func worldsOf(told *rapid.Generator[[]string]) *rapid.Generator[story] {
	return rapid.Custom(func(t *rapid.T) story {
		s := enginetest.NewScene()
		lines := told.Draw(t, "lines")
		for _, line := range lines {
			if err := s.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		w := s.World()
		b := enginetest.Bound(w, provision.Decide(w, provision.Options{Steps: 1000})).Edit()
		for _, p := range w.Pods() {
			if p.Gated || rapid.IntRange(0, 2).Draw(t, "ends") == 0 {
				b.DeletePod(p.Key)
				lines = append(lines, "# ends: "+p.Name)
			}
		}
		none := int64(0)
		for _, p := range w.Pools() {
			p := *p
			p.Disruption = world.PoolDisruption{EmptyAfter: &none, MoveAfter: &none}
			switch rapid.IntRange(0, 6).Draw(t, "disruption") {
			case 0:
				p.Disruption.Budgets = []world.Budget{{Nodes: "1"}}
			case 1:
				p.Disruption.Budgets = []world.Budget{{Nodes: "0", Reasons: []string{plan.Underutilized}}}
			case 2:
				p.Disruption.MoveAfter = nil
			case 3:
				p.Disruption.Balanced = true
			}
			lines = append(lines, fmt.Sprintf("# %s: %+v", p.ID.Name, p.Disruption))
			if err := b.SetPool(p); err != nil {
				t.Fatal(err)
			}
		}
		if rapid.Bool().Draw(t, "guarded") {
			if err := b.SetGuard(world.Guard{
				Key: world.Key{Namespace: "default", Name: "pdb"}, Selector: world.Selector{Some: true}, Allowed: rapid.IntRange(0, 4).Draw(t, "allowed"),
			}); err != nil {
				t.Fatal(err)
			}
		}
		return story{b.Snapshot(w.At() + hour), strings.Join(lines, "\n")}
	})
}

type story struct {
	world *world.World
	text  string
}

var eager = consolidate.Options{MoveCost: -1, LeastSaving: -1, LeastShare: -1}

func options(t *rapid.T) consolidate.Options {
	return rapid.SampledFrom([]consolidate.Options{{}, eager, {MoveCost: 100, LeastSaving: 1000, Group: 2, SpotToSpot: true}, {Unbudgeted: true, MoveCost: -1}}).Draw(t, "options")
}

// started are the commands that may start now, as one plan, and what goes with them.
func started(p plan.Plan) (back []plan.Give, out plan.Plan) {
	for _, c := range moving(p) {
		if c.Verdict == plan.Begin {
			back, out.New, out.Filled = append(back, c.Back...), append(out.New, c.New...), join(out.Filled, c.Moves)
		}
	}
	return back, out
}

func join(a, b []plan.Fill) []plan.Fill {
	for _, f := range b {
		if i := slices.IndexFunc(a, func(x plan.Fill) bool { return x.Node == f.Node }); i >= 0 {
			a[i].Pods = append(slices.Clip(a[i].Pods), f.Pods...)
		} else {
			a = append(a, f)
		}
	}
	return a
}

// without is the World in which the machines that are given back are gone and their pods wait.
func without(w *world.World, back []plan.Give) *world.World {
	for _, g := range back {
		var err error
		if w, err = suppose.Apply(w, suppose.WithoutNode(g.Node)); err != nil {
			panic(err)
		}
	}
	return w
}

// Pods that a command moves find their places by the rules of kube-scheduler,
// as told by somebody else: each command by itself, and all together.
func TestEveryMoveIsValid(t *testing.T) { everyMoveIsValid(t, worlds()) }

// So do pods that have devices, which are given others where they go.
func TestEveryMoveOfDevicesIsValid(t *testing.T) {
	everyMoveIsValid(t, worldsOf(enginetest.DeviceLines()))
}

func everyMoveIsValid(t *testing.T, worlds *rapid.Generator[story]) {
	t.Helper()
	chance.Check(t, func(t *rapid.T) {
		s := worlds.Draw(t, "world")
		s.world = enginetest.Settled(s.world)
		p := decide(s.world, options(t))
		check := func(back []plan.Give, q plan.Plan) {
			if faults := enginetest.Check(without(s.world, back), q); len(faults) > 0 {
				t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), s.text, tell(back, q))
			}
		}
		check(started(p))
		for _, c := range moving(p) {
			check(c.Back, plan.Plan{New: c.New, Filled: c.Moves})
		}
	})
}

func tell(back []plan.Give, p plan.Plan) string {
	var b strings.Builder
	for _, g := range back {
		fmt.Fprintf(&b, "back %s\n", g.Node)
	}
	return b.String() + p.Text(true)
}

// What is said to be saved is saved, and never nothing.
func TestSavingIsReal(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		for _, c := range moving(decide(s.world, options(t))) {
			saving, charges := money.Micro(0), money.Micro(0)
			charged := slices.ContainsFunc(s.world.Pools(), func(p *world.Pool) bool { return p.Charge != nil })
			for _, g := range c.Back {
				saving += plan.PriceOf(s.world, s.world.Place(g.Node))
				switch pool := s.world.Pool(s.world.Place(g.Node).Pool()); {
				case pool.Charge != nil:
					charges += *pool.Charge
				case charged:
					charges += packing.DefaultCharge
				}
			}
			for _, a := range c.New {
				saving -= a.Price
				charges -= a.Charge
				for _, m := range a.Menu {
					if m.Price < a.Price && a.Reservation == "" {
						t.Fatalf("%s is planned at %d and may be had for %d\n%s", a.Name, a.Price, m.Price, s.text)
					}
				}
			}
			if saving != c.Saving || charges != c.Charge || saving+charges <= 0 {
				t.Fatalf("saves %d and %d of charges, says %d and %d\n%s", saving, charges, c.Saving, c.Charge, s.text)
			}
		}
	})
}

// Budgets hold, and what has to stay stays.
func TestWhatMustStayStays(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		o := options(t)
		o.Unbudgeted = false
		p := decide(s.world, o)
		gone := map[string]int{}
		seen := map[string]bool{}
		for _, c := range moving(p) {
			for _, g := range c.Back {
				place := s.world.Place(g.Node)
				pool := s.world.Pool(place.Pool())
				if seen[g.Node] || place.Claim == nil || place.Deleting() || pool.Disruption.MoveAfter == nil {
					t.Fatalf("%s may not go\n%s", g.Node, s.text)
				}
				seen[g.Node] = true
				for _, x := range place.Pods {
					for _, guard := range s.world.Guards() {
						if x.Moves() && x.Namespace == guard.Namespace && guard.Allowed == 0 && guard.Selector.Match(x.Labels) {
							t.Fatalf("%s is guarded\n%s", x.Key, s.text)
						}
					}
				}
				if c.Verdict == plan.Begin {
					gone[pool.ID.Name]++
				}
			}
		}
		for _, pool := range s.world.Pools() {
			for _, b := range pool.Disruption.Budgets {
				if n := gone[pool.ID.Name]; fmt.Sprint(n) > b.Nodes {
					t.Fatalf("%d of %s go\n%s", n, pool.ID.Name, s.text)
				}
			}
		}
		kept := 0
		for _, k := range p.Kept {
			if k.Reason == plan.Underutilized {
				kept++
			}
		}
		if kept+len(seen)+len(idle(p)) != claims(s.world) {
			t.Fatalf("%d kept, %d back, %d going of %d\n%s", kept, len(seen), len(idle(p)), claims(s.world), s.text)
		}
	})
}

func claims(w *world.World) int {
	n := 0
	for _, p := range w.Places() {
		if p.Claim != nil {
			n++
		}
	}
	return n
}

// The same World gives the same plan, in whatever order it was told.
func TestOrderDoesNotMatter(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		s := worlds().Draw(t, "world")
		o := options(t)
		b := world.NewBuilder()
		set := func(err error) {
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range s.world.Catalogs() {
			set(b.SetCatalog(*c))
		}
		for _, n := range s.world.Namespaces() {
			set(b.SetNamespace(*n))
		}
		for _, p := range slices.Backward(s.world.Pods()) {
			set(b.SetPod(*p))
		}
		for _, p := range slices.Backward(s.world.Places()) {
			if p.Node != nil {
				set(b.SetNode(*p.Node))
			}
			if p.Claim != nil {
				set(b.SetClaim(*p.Claim))
			}
		}
		for _, p := range slices.Backward(s.world.Pools()) {
			set(b.SetPool(*p))
		}
		for _, d := range s.world.DaemonSets() {
			set(b.SetDaemonSet(*d))
		}
		for _, g := range s.world.Guards() {
			set(b.SetGuard(*g))
		}
		if diff := cmp.Diff(decide(s.world, o), decide(b.Snapshot(s.world.At()), o)); diff != "" {
			t.Fatalf("-told in one order +in another\n%s\n%s", diff, s.text)
		}
	})
}

// The properties are about something: in these worlds nodes do go.
func TestNodesGo(t *testing.T) {
	begun := 0
	chance.Check(t, func(t *rapid.T) {
		back, _ := started(decide(enginetest.Settled(worlds().Draw(t, "world").world), eager))
		begun += len(back)
	})
	if begun == 0 {
		t.Error("no command may start in any world, so that no property says anything")
	}
	t.Logf("%d nodes go", begun)
}
