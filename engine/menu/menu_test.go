package menu_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest/bins"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
)

// text is what an ask says: what is expected, the menu, where and how it may be bought, and why.
func text(a plan.Ask) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %d:", a.Shape, a.Zone, a.Price)
	for _, c := range a.Menu {
		b.WriteString(" " + c.Shape)
	}
	for _, key := range []string{label.Zone, label.CapacityType, "family"} {
		if r, ok := a.Requirements.Find(key); ok {
			b.WriteString("; " + strings.Join(r.Values, " "))
		}
	}
	if a.Relaxed {
		b.WriteString("; relaxed")
	}
	if a.Why.Binds != "" {
		b.WriteString("; binds " + a.Why.Binds)
	}
	if a.Why.LeftOut != "" {
		b.WriteString("; without " + a.Why.LeftOut)
	}
	if a.Why.RunnerUp != "" {
		b.WriteString("; next " + a.Why.RunnerUp)
	}
	return b.String()
}

func names(pods []*packing.Pod) []string {
	var out []string
	for _, x := range pods {
		out = append(out, x.Pod.Name)
	}
	return out
}

func TestAsk(t *testing.T) {
	// Eighteen types, each a hundredth dearer than the one before.
	var many []string
	for i := range 18 {
		many = append(many, fmt.Sprintf("type t%02d cpu=2 memory=4Gi price=0.1%02d family=f%d", i, i, i/17))
	}
	many = append(many, "type dear cpu=2 memory=4Gi price=0.900 family=z")
	many = slices.Clip(many)
	two := []string{"type small cpu=2 memory=4Gi price=0.10 zones=a,b", "type large cpu=8 memory=16Gi price=0.11 zones=a,b"}
	tests := map[string]struct {
		why         string
		world       []string
		options     packing.Options
		shape, want string
	}{
		"AllThatHost": {
			why:   "The menu lists every type that hosts the pods, cheapest first, and every zone in which all of them are sold.",
			world: append(two, "pool general", "pod web cpu=1"), shape: "small",
			want: "small a 100000: small large; a b; on-demand; next large",
		},
		"TooSmallIsNotAsked": {
			why:   "A type that does not hold the pods is not on the menu, and what it lacks is why more is paid.",
			world: append(two, "pool general", "pod web x2 cpu=1500m"), shape: "large",
			want: "large a 110000: large; a b; on-demand; binds cpu (3 of 8; small has 2)",
		},
		"PinnedToItsZone": {
			why:   "Pods that are spread over zones let the machine be bought in its own zone only.",
			world: append(two, "pool general", "pod web cpu=1 spread=zone:1"), shape: "small",
			want: "small a 100000: small large; a; on-demand; next large",
		},
		"SoldInOneZone": {
			why:   "A type that is sold in one of the zones only is on the menu as well: in the others there is nothing of it to be had.",
			world: append(two, "type other cpu=2 memory=4Gi price=0.101 zones=a", "pool general", "pod web cpu=1"), shape: "small",
			want: "small a 100000: small other large; a b; on-demand; next other",
		},
		"DearIsLeftOut": {
			why:   "With fifteen types at like prices, those that cost much more are left out.",
			world: append(many, "pool general", "pod web cpu=1"), shape: "t00",
			want: "t00 a 100000: t00 t01 t02 t03 t04 t05 t06 t07 t08 t09 t10 t11 t12 t13 t14 t15; a; on-demand; next t01",
		},
		"MinValuesKeepDear": {
			why:   "A dear type stays where the pool wants as many families as need it.",
			world: append(many, "pool general require=family:In:f0|f1|z/3", "pod web cpu=1"), shape: "t00",
			want: "t00 a 100000: t00 t01 t02 t03 t04 t05 t06 t07 t08 t09 t10 t11 t12 t13 t17 dear; a; on-demand; f0 f1 z; next t01",
		},
		"PlannedStaysOn": {
			why:   "What is planned is on the menu, however much dearer than others it is.",
			world: append(many, "pool general", "pod web cpu=1"), shape: "dear",
			want: "dear a 900000: t00 t01 t02 t03 t04 t05 t06 t07 t08 t09 t10 t11 t12 t13 t14 t15 dear; a; on-demand; next t00",
		},
		"LimitBooksWhatIsPlanned": {
			why:   "Under a limit no type is on the menu that counts for more than what is planned.",
			world: append(two, "pool general limit=cpu:20", "pod web cpu=1"), shape: "small",
			want: "small a 100000: small; a b; on-demand",
		},
		"LargestIsBooked": {
			why:   "Under minValues and a limit the largest type is booked, and the cheapest is what is expected.",
			world: append(two, "pool general require=type:Exists:/2 limit=cpu:20", "pod web cpu=1"), shape: "large",
			want: "small a 100000: small large; a b; on-demand; next large",
		},
		"MinValuesAreLowered": {
			why:   "Where minValues cannot be kept and may be lowered, the ask says so.",
			world: append(two, "pool general require=type:Exists:/3", "pod web cpu=1"), options: packing.Options{MinValuesPolicy: packing.BestEffort}, shape: "small",
			want: "small a 100000: small large; a b; on-demand; relaxed; next large",
		},
		"AcceleratorsAreTold": {
			why:   "Types with accelerators are not asked for by pods that need none, and the ask names what was left out.",
			world: append(two, "type gpu cpu=8 memory=16Gi gpu=1 price=0.12 zones=a,b", "pool general", "pod web cpu=1"), shape: "small",
			want: "small a 100000: small large; a b; on-demand; without gpu: bare metal or with accelerators; next large",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.why)
			k := bins.Ready(t, tc.options, tc.world...)
			waiting := len(k.Unplaced)
			b := bins.Buy(t, k, tc.shape, "a", names(k.Unplaced)...)
			w := &menu.Writer{Packing: k}
			a := w.Ask(b)
			if diff := cmp.Diff(tc.want, text(a)); diff != "" {
				t.Error(diff)
			}
			if e := k.Market.Offers[w.Expected(b)].Type.Shape.Name; e != a.Shape {
				t.Errorf("%s is expected, and the ask says %s", e, a.Shape)
			}
			if len(a.Pods) != waiting {
				t.Errorf("it is asked for the pods %v and not for %d", a.Pods, waiting)
			}
		})
	}
}
