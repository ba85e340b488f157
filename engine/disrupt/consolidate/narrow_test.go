package consolidate

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// sold is what zones sell of a shape, such as "a on-demand 100, b spot 30 gone".
func sold(t *testing.T, name, family, text string) world.Shape {
	t.Helper()
	s := world.Shape{Name: name, Labels: label.SetOf(label.Is("family", family))}
	for offer := range strings.SplitSeq(text, ", ") {
		o, gone := strings.CutSuffix(offer, " gone")
		x := world.Offer{Gone: gone}
		if _, err := fmt.Sscan(o, &x.Zone, &x.CapacityType, &x.Price); err != nil {
			t.Fatalf("offer %q: %v", o, err)
		}
		s.Offers = append(s.Offers, x)
	}
	return s
}

func binderOf(t *testing.T, pool world.Pool, shapes ...world.Shape) *binder {
	t.Helper()
	b := world.NewBuilder()
	pool.Template = "t"
	if err := errors.Join(b.SetPool(pool), b.SetCatalog(world.Catalog{Template: "t", Shapes: shapes})); err != nil {
		t.Fatal(err)
	}
	return &binder{b.Snapshot(1), map[*world.Catalog]map[string]*world.Shape{}}
}

// Whatever the cloud chooses of what a replacement may become costs no more than the
// limit, in any zone and of any type that is left, or the replacement might save nothing.
func TestLimit(t *testing.T) {
	b := binderOf(t, world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}},
		sold(t, "small", "m", "a on-demand 100, b on-demand 120, a spot 30, c on-demand 500 gone"),
		sold(t, "twin", "m", "a on-demand 120, b on-demand 90"),
		sold(t, "large", "c", "a on-demand 200, b on-demand 200"),
		sold(t, "there", "c", "b on-demand 80"),
		sold(t, "cheap", "c", "a spot 10, b spot 10"),
	)
	for name, tc := range map[string]struct {
		why   string
		shape string
		limit money.Micro
		menu  string
		zones string
	}{
		"All":     {"Everything is within the limit: cheapest first, wherever that is.", "small", 1000, "there 80, twin 90, small 100, large 200", ""},
		"Edge":    {"What costs just the limit is within it.", "small", 120, "there 80, twin 90, small 100", ""},
		"Above":   {"In zone b it costs more than that: only the zone that was planned is left, and what costs more there is gone.", "small", 119, "small 100", "a"},
		"Own":     {"What was planned stays, whatever the limit.", "large", 150, "small 100, twin 120, large 200", "a"},
		"Nothing": {"So it does where nothing else is within it.", "small", 1, "small 100", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			a := plan.Ask{Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Shape: tc.shape, Zone: "a", CapacityType: label.OnDemand, Requirements: label.SetOf(label.Is(label.Zone, "a", "b", "c"))}
			for _, s := range []string{"small", "twin", "large", "there", "cheap"} {
				a.Menu = append(a.Menu, plan.Choice{Shape: s})
			}
			b.limit(&a, tc.limit)
			var menu, names []string
			for _, c := range a.Menu {
				menu, names = append(menu, fmt.Sprint(c.Shape, " ", int64(c.Price))), append(names, c.Shape)
			}
			if got := strings.Join(menu, ", "); got != tc.menu {
				t.Errorf("the menu is %s, want %s: %s", got, tc.menu, tc.why)
			}
			for _, want := range []label.Requirement{label.Is(label.CapacityType, label.OnDemand), label.Is(label.InstanceType, names...)} {
				if got, _ := a.Requirements.Find(want.Key); got.String() != want.String() {
					t.Errorf("it requires %s, want %s", got, want)
				}
			}
			if zones, _ := a.Requirements.Find(label.Zone); zones.Has("b") != (tc.zones == "") || !zones.Has("a") {
				t.Errorf("its zones are %s: %s", zones, tc.why)
			}
		})
	}
}

// A replacement keeps as many values as its pool's minValues asks for, by types, by
// their labels, or by what it may be itself.
func TestVaried(t *testing.T) {
	least := func(key string, n int, values ...string) label.Requirement {
		r := label.Is(key, values...)
		r.Least = n
		return r
	}
	zones := func(names ...string) label.Set { return label.SetOf(label.Is(label.Zone, names...)) }
	any := label.Requirement{Key: "family", Not: true, Least: 2}
	for name, tc := range map[string]struct {
		why     string
		pool    label.Requirement
		relaxed bool
		menu    string
		ask     label.Set
		ok      bool
	}{
		"None":         {"Nothing is asked for.", label.Is("family", "m"), false, "m1", nil, true},
		"Types":        {"Two types are two values.", least(label.InstanceType, 2, "m1", "m2", "c1"), false, "m1 c1", nil, true},
		"OneType":      {"One is too few.", least(label.InstanceType, 2, "m1", "m2", "c1"), false, "m1", nil, false},
		"Relaxed":      {"The plan has given it up already.", least(label.InstanceType, 2, "m1", "m2", "c1"), true, "m1", nil, true},
		"Families":     {"Types of two families.", least("family", 2, "m", "c"), false, "m1 c1", nil, true},
		"OneFamily":    {"Two types of one.", least("family", 2, "m", "c"), false, "m1 m2", nil, false},
		"AnyFamily":    {"Any value counts if the pool names none.", any, false, "m1 c1", nil, true},
		"OutOfPool":    {"A value that the pool does not take is none.", least("family", 2, "m", "r"), false, "m1 c1", nil, false},
		"Zones":        {"It may be bought in two zones.", least(label.Zone, 2, "a", "b"), false, "m1 c1", zones("a", "b"), true},
		"OneZone":      {"It was narrowed to one, whatever its types say of all their offers.", least(label.Zone, 2, "a", "b"), false, "m1 c1", zones("a"), false},
		"Unsold":       {"It may go to a zone where none of its types is sold.", least(label.Zone, 2, "a", "b"), false, "m1", zones("a", "b"), false},
		"Capacity":     {"It is bought in one way.", least(label.CapacityType, 2, "spot", "on-demand"), false, "m1 c1", nil, false},
		"OneCapacity":  {"One is one.", least(label.CapacityType, 1, "spot", "on-demand"), false, "m1", nil, true},
		"OfferLabel":   {"Offers have labels of their own.", least("zone-id", 2, "az1", "az2"), false, "m1 c1", zones("a", "b"), true},
		"OneOffer":     {"Those of one are left.", least("zone-id", 2, "az1", "az2"), false, "m1 c1", zones("b"), false},
		"OwnLabel":     {"What types do not say, the ask may.", least("team", 2, "a", "b"), false, "m1", label.SetOf(label.Is("team", "a", "b")), true},
		"Except":       {"All but one is no list of values.", least("team", 1, "a", "b"), false, "m1", label.Set{{Key: "team", Not: true, Values: []string{"a"}}}, false},
		"ExceptFamily": {"Nor is it of a type.", least("family", 1, "m", "c"), false, "x1", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			except := sold(t, "x1", "", "a on-demand 1")
			except.Labels = label.Set{{Key: "family", Not: true, Values: []string{"m"}}}
			b := binderOf(t, world.Pool{ID: world.PoolID{Kind: world.NodePool, Name: "p"}, Requirements: label.SetOf(tc.pool)},
				sold(t, "m1", "m", "a on-demand 1, a spot 1"), sold(t, "m2", "m", "a on-demand 1"), sold(t, "c1", "c", "a on-demand 1, b on-demand 1"), except)
			for i := range b.world.Catalog("t").Shapes { // as catalogues have it
				s := &b.world.Catalog("t").Shapes[i]
				s.Labels = s.Labels.And(label.Is(label.Zone, "a", "b")).And(label.Is(label.CapacityType, "spot", "on-demand"))
				for j := range s.Offers {
					s.Offers[j].Labels = map[string]string{"zone-id": map[string]string{"a": "az1", "b": "az2"}[s.Offers[j].Zone]}
				}
			}
			a := plan.Ask{CapacityType: label.OnDemand, Pool: world.PoolID{Kind: world.NodePool, Name: "p"}, Template: "t", Requirements: tc.ask, Relaxed: tc.relaxed}
			for s := range strings.FieldsSeq(tc.menu) {
				a.Menu = append(a.Menu, plan.Choice{Shape: s})
			}
			r, ok := b.varied(a)
			if ok != tc.ok || !ok && r.Key != tc.pool.Key {
				t.Errorf("varied: %t, lacking %s, want %t: %s", ok, r, tc.ok, tc.why)
			}
		})
	}
}
