package provision_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/world"
)

func tell(t *rapid.T, lines []string) *world.World {
	s := enginetest.NewScene()
	for _, line := range lines {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	return s.World()
}

// Every plan can be bound by kube-scheduler in some order, keeps all limits, and refuses no pod that would find a place.
func TestPlanIsValid(t *testing.T) {
	for name, o := range map[string]provision.Options{"Fast": {}, "Exact": {ExactOnly: true}} {
		t.Run(name, func(t *testing.T) {
			chance.Check(t, func(t *rapid.T) {
				lines := enginetest.ChargedLines().Draw(t, "lines")
				w := tell(t, lines)
				p := provision.Decide(w, o)
				if faults := enginetest.Check(w, p); len(faults) > 0 {
					t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), strings.Join(lines, "\n"), p.Text(true))
				}
			})
		})
	}
}

// The order in which items are told never matters, not among equals either (T-3).
func TestOrderDoesNotMatter(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		types := 0
		for types < len(lines) && strings.HasPrefix(lines[types], "type ") {
			types++ // a catalogue is one item, and has an order of its own
		}
		shuffled := append(append([]string{}, lines[:types]...), rapid.Permutation(lines[types:]).Draw(t, "order")...)
		a, b := provision.Decide(tell(t, lines), provision.Options{}), provision.Decide(tell(t, shuffled), provision.Options{})
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("-told in one order +in another\n%s\n%s", diff, strings.Join(lines, "\n"))
		}
	})
}

// The whole portfolio never refuses more, nor spends more, than placing pods one
// by one, unless its price is lower by more than fewer nodes are worth; and no plan is cheaper than what is said to be the least possible.
func TestSearchIsNeverWorse(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		w := tell(t, lines)
		o := provision.Options{PreferencePolicy: pack.Ignore, ProveSpend: true}
		a, b := searched(w, o)
		if worse(a, b) {
			t.Fatalf("worse:\n%s\nthan one by one:\n%s\n%s", a, b, strings.Join(lines, "\n"))
		}
		// Spread over hosts is planned with a cap on each machine, which the bound takes for granted.
		capped := strings.Contains(strings.Join(lines, " "), "spread=host")
		if a.Bound > a.Expected() || a.Bound > b.Expected() && !capped && len(a.Refused)+len(b.Refused)+len(b.Filled) == 0 {
			t.Fatalf("the bound %d is above the cost %d of\n%s\n%s", a.Bound, b.Expected(), b, strings.Join(lines, "\n"))
		}
		// One by one, pods may be put beside others onto machines of pools that are lighter than those they would have been bought for.
		ordered := strings.Contains(strings.Join(lines, " "), "weight=1")
		if a.SpendBound > a.Spend() || b.SpendBound > b.Spend() || a.SpendBound > b.Spend() && !capped && !ordered && len(a.Refused)+len(b.Refused)+len(b.Filled) == 0 {
			t.Fatalf("the bounds %d and %d are above what is spent, %d of\n%s\nor %d of\n%s\n%s", a.SpendBound, b.SpendBound, a.Spend(), a, b.Spend(), b, strings.Join(lines, "\n"))
		}
	})
}

// searched are the plans of the whole portfolio and of placing pods one by one.
func searched(w *world.World, o provision.Options) (whole, single plan.Plan) {
	whole = provision.Decide(w, o)
	o.ExactOnly = true
	return whole, provision.Decide(w, o)
}

// worse reports whether plan a refuses or spends more than b, where what b costs is bearable.
func worse(a, b plan.Plan) bool {
	bearable := a.Charge == 0 || b.Expected() <= max(a.Expected(), solve.PriceCeiling(a.Bound)) // what pools say is part of what is borne
	return len(a.Refused) > len(b.Refused) || len(a.Refused) == len(b.Refused) && a.Spend() > b.Spend() && bearable
}

// What was found worse once is not any more.
func TestSearchWasWorse(t *testing.T) {
	for _, found := range []struct{ why, lines string }{
		{
			why: "Under minValues and a limit the largest type of a menu is booked and the cheapest expected, and it is what is expected that counts.",
			lines: `type accelerated cpu=1 price=0.02 gpu=1
type plain cpu=2 price=0.04
pool open
pool varied limit=cpu:10 require=type:Exists:/2
pod web cpu=300m`,
		},
		{
			why: "That the web and what is kept from crowds of it do not share a machine is the search's way to keep the rule, and no rule: the bound must not build on it.",
			lines: `type large cpu=4 memory=4Gi price=0.08 zones=a family=c reserved=cr0:1
type small cpu=1 memory=1Gi price=0.02 zones=a family=c reserved=cr1:2 gpu=1
pool open
pod web x3 cpu=2000m memory=2800Mi spread=host:2:taints:of=web
pod guest x1 cpu=400m memory=200Mi spread=host:1:of=web spread=family:2:of=guest
pod other x2 cpu=100m memory=200Mi`,
		},
		{
			why: "Pods that have to be on one machine together are, although they wish to be spread over machines: the bound must not count on that wish.",
			lines: `type large cpu=4 memory=8Gi price=0.08 zones=a
pool open
pod web x5 cpu=2000m memory=2900Mi near=host:web spread=host:1:of=web`,
		},
		{
			why: "A zone that is sold under a limit alone does not count once the limit is used up: the bound must not count on pods in it.",
			lines: `type t0 cpu=4 memory=4Gi price=0.08 zones=a,b,c family=m reserved=cr0:1 gpu=1
type t1 cpu=1 memory=1Gi price=0.02 zones=a family=m reserved=cr1:2 gpu=1
type t2 cpu=8 memory=8Gi price=0.16 zones=a family=m reserved=cr0:1
type t3 cpu=1 memory=1Gi price=0.02 zones=a family=m reserved=cr1:2
pool p0 weight=0 taint=dedicated:NoSchedule taint=soft:PreferNoSchedule limit=cpu:10 limit=nodes:2
pool p1 weight=0 taint=soft:PreferNoSchedule limit=cpu:10
pool p2 weight=0 taint=soft:PreferNoSchedule limit=cpu:10 limit=nodes:2 require=zone:a|b charge=1
daemonset log cpu=100m tolerate=*
pod app0 x3 cpu=100m memory=100Mi spread=zone:1:of=app0`,
		},
	} {
		s := enginetest.NewScene()
		for line := range strings.SplitSeq(found.lines, "\n") {
			if err := s.Line(line); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := searched(s.World(), provision.Options{PreferencePolicy: pack.Ignore}); worse(a, b) {
			t.Errorf("worse:\n%s\nthan one by one:\n%s\n%s", a, b, found.why)
		} else if a.Bound > a.Expected() || a.Bound > b.Expected() && !strings.Contains(found.lines, "spread=host") {
			t.Errorf("the bound %d is above the cost of\n%s\nor of\n%s\n%s", a.Bound, a, b, found.why)
		}
	}
}

// Where nothing was refused lately, a plan counts on what is paid and on nothing
// else, so that it is none the dearer. Where spot was refused, it never counts on less.
func TestRefusalsCostNothingWhereThereAreNone(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		calm := strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), " refused=900", ""), "\n")
		plain := provision.Decide(tell(t, calm), provision.Options{})
		if plain.Expected() != plain.Cost {
			t.Fatalf("expected %d, paid %d, and nothing was refused:\n%s", plain.Expected(), plain.Cost, plain.Text(true))
		}
		wary := provision.Decide(tell(t, lines), provision.Options{})
		if wary.Expected() < wary.Cost {
			t.Fatalf("expected %d, less than the %d paid:\n%s", wary.Expected(), wary.Cost, wary.Text(true))
		}
		for _, a := range plain.New {
			if a.Expected != 0 || a.Refused != 0 {
				t.Fatalf("%s is counted at %d and was never refused:\n%s", a.Name, a.Expected, plain.Text(true))
			}
		}
	})
}

// A plan that is being carried out is left alone: looked at again, with its
// machines on their way or started, it buys nothing and refuses no pod.
func TestPlanIsKept(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		launched := rapid.Bool().Draw(t, "launched")
		w := tell(t, lines)
		p := provision.Decide(w, provision.Options{})
		if len(p.Refused) > 0 {
			return // for pods that are left there may be another way now
		}
		again := provision.Decide(enginetest.Carried(w, p, launched), provision.Options{})
		if len(again.New)+len(again.Refused) > 0 {
			t.Fatalf("the second plan is\n%s\nthe first was\n%s\n%s", again.Text(true), p.Text(true), strings.Join(lines, "\n"))
		}
	})
}

// A machine with an accelerator is asked for only if, in its pool and zone, no
// other type would host one of its pods; of those that look at other pods that is not known from outside.
func TestExoticOnlyWhereNeeded(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.ChargedLines().Draw(t, "lines")
		w := tell(t, lines)
		for name, o := range map[string]provision.Options{"fast": {}, "exact": {ExactOnly: true}} {
			p := provision.Decide(w, o)
			for _, a := range p.New {
				pool := w.Pool(a.Pool)
				varied := slices.ContainsFunc(pool.Requirements, func(r label.Requirement) bool { return r.Least > 0 })
				if varied || !slices.ContainsFunc(a.Menu, func(c plan.Choice) bool { return shape(w, a, c.Shape).Exotic() }) {
					continue
				}
				needed := func(k world.Key) bool {
					pod := w.Pod(k)
					shares := slices.ContainsFunc(pod.Volumes, world.Volume.Exclusive) // with pods that have to be on the same machine
					return shares || len(pod.Spread)+len(pod.PodTerms) > 0 || len(provision.Decide(ordinary(w, a, k), o).New) == 0
				}
				if !slices.ContainsFunc(a.Pods, needed) {
					t.Fatalf("%s: %s may be a machine with accelerators\n%s\n%s", name, a.Name, p.Text(true), strings.Join(lines, "\n"))
				}
			}
		}
	})
}

func shape(w *world.World, a plan.Ask, name string) *world.Shape {
	c := w.CatalogFor(a.Pool, a.Template)
	return &c.Shapes[slices.IndexFunc(c.Shapes, func(s world.Shape) bool { return s.Name == name })]
}

// ordinary is the World in which the pod waits alone, and the pool of the ask sells no exotic types, in its zone.
func ordinary(w *world.World, a plan.Ask, key world.Key) *world.World {
	b := world.NewBuilder()
	set := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	pod := *w.Pod(key)
	pod.Node, pod.Nominated, pod.Waiting = "", "", true
	set(b.SetPod(pod))
	set(b.SetPool(*w.Pool(a.Pool)))
	for _, d := range w.DaemonSets() {
		set(b.SetDaemonSet(*d))
	}
	c := *w.CatalogFor(a.Pool, a.Template)
	c.Shapes = nil
	for _, s := range w.CatalogFor(a.Pool, a.Template).Shapes {
		if s.Exotic() {
			continue
		}
		s.Offers = slices.DeleteFunc(slices.Clone(s.Offers), func(o world.Offer) bool { return o.Zone != a.Zone })
		c.Shapes = append(c.Shapes, s)
	}
	set(b.SetCatalog(c))
	return b.Snapshot(w.At())
}

// So it is where pods ask for devices.
func TestPlanOfDevicesIsValid(t *testing.T) {
	for name, o := range map[string]provision.Options{"Fast": {}, "Exact": {ExactOnly: true}} {
		t.Run(name, func(t *testing.T) {
			chance.Check(t, func(t *rapid.T) {
				lines := enginetest.DeviceLines().Draw(t, "lines")
				w := tell(t, lines)
				p := provision.Decide(w, o)
				if faults := enginetest.Check(w, p); len(faults) > 0 {
					t.Fatalf("%s\n\n%s\n\n%s", strings.Join(faults, "\n"), strings.Join(lines, "\n"), p.Text(true))
				}
			})
		})
	}
}

// A plan for devices is carried out without another purchase: once its machines are on their way, and once they are
// launched, all of its pods have the places that they had.
func TestPlanOfDevicesIsKept(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		lines := enginetest.DeviceLines().Draw(t, "lines")
		for i := range lines { // a pod of a higher priority may take a place that another was to have
			lines[i] = strings.ReplaceAll(lines[i], " priority=3", "")
		}
		w := tell(t, lines)
		p := provision.Decide(w, provision.Options{})
		for _, launched := range []bool{false, true} {
			q := provision.Decide(enginetest.Carried(w, p, launched), provision.Options{})
			if len(q.New) > 0 || len(q.Refused) > len(p.Refused) {
				t.Fatalf("launched %t: a second plan buys or refuses more\n%s\n\n%s\n\n%s", launched, strings.Join(lines, "\n"), p.Text(true), q.Text(true))
			}
		}
	})
}
