package market_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// Offers of a pool are cut by labels that it leaves open to a few values, where pods are counted by them.
func TestOffersAreCut(t *testing.T) {
	many := "0"
	for i := range 32 {
		many += fmt.Sprintf("|%d", i+1)
	}
	for name, tc := range map[string]struct {
		why, pool, pod string
		want           []string
	}{
		"spread":         {"pods are spread over racks", "require=rack:r1|r2", "spread=rack:1:of=web", []string{"r1", "r2"}},
		"apart":          {"pods keep away from racks", "require=rack:r1|r2", "apart=rack:web", []string{"r1", "r2"}},
		"uncounted":      {"no pod is counted by rack", "require=rack:r1|r2", "select=rack:r1", []string{""}},
		"another":        {"pods are counted by something else", "require=rack:r1|r2", "spread=row:1:of=web", []string{""}},
		"settled":        {"the pool says which it is", "require=rack:r1|r2 rack=r1", "spread=rack:1:of=web", []string{""}},
		"known":          {"shapes say which family they are of", "require=family:m|c", "spread=family:1:of=web", []string{""}},
		"open":           {"any value will do, and that is no domain", "require=rack:Exists", "spread=rack:1:of=web", []string{""}},
		"but for one":    {"nor are all but one", "require=rack:NotIn:r1", "spread=rack:1:of=web", []string{""}},
		"min values":     {"what is cut has one value", "require=rack:r1|r2/2", "spread=rack:1:of=web", []string{""}},
		"too many":       {"no offer is cut into so many", "require=rack:" + many, "spread=rack:1:of=web", []string{""}},
		"one of the two": {"the second label would make more of them than there may be", "require=rack:r1|r2 require=row:" + many, "spread=rack:1:of=web spread=row:1:of=web", []string{"r1", "r2"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := enginetest.NewScene()
			for _, line := range []string{"type small cpu=2 memory=4Gi price=0.05 family=m", "pool general " + tc.pool, "pod web " + tc.pod} {
				if err := s.Line(line); err != nil {
					t.Fatal(err)
				}
			}
			w := s.World()
			var got []string
			for _, o := range market.New(w, nil, market.Options{For: w.Waiting()}).Offers {
				got = append(got, o.Labels["rack"])
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\n-racks of the offers +got\n%s", tc.why, diff)
			}
		})
	}
}

// Each of the labels of a pool has every value with each of the others'.
func TestOffersAreCutByEachLabel(t *testing.T) {
	s := enginetest.NewScene()
	for _, line := range []string{"type small cpu=2 memory=4Gi price=0.05 zones=a,b", "pool general require=rack:r1|r2 require=row:1|2|3", "pod web spread=rack:1:of=web spread=row:1:of=web"} {
		if err := s.Line(line); err != nil {
			t.Fatal(err)
		}
	}
	w := s.World()
	m := market.New(w, nil, market.Options{For: w.Waiting()})
	var names []string
	for i := range m.Offers {
		names = append(names, m.Offers[i].Name())
	}
	slices.Sort(names)
	if n := len(slices.Compact(names)); n != 12 {
		t.Errorf("%d offers by name, want 12", n)
	}
	if of := w.CatalogFor(world.PoolID{Kind: world.NodePool, Name: "general"}, ""); of != nil && len(of.Shapes[0].Offers) != 2 {
		t.Errorf("the World's own catalogue has %d offers now", len(of.Shapes[0].Offers))
	}
}
