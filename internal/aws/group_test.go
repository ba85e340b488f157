package aws_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Machines of a class with a placement group are in it, and in the partition that
// was asked for.
func TestPlacementGroups(t *testing.T) {
	credentials(t)
	const partition = "karpenter.k8s.aws/placement-group-partition"
	tests := map[string]struct {
		why      string
		group    market.PlacementGroup
		selector nodeclass.Selector
		change   func(*cloud.Order)
		labels   map[string]string // of the first machine
		sells    map[string]bool
		none     bool
	}{
		"ByName": {
			why: "A group may be named.", group: market.PlacementGroup{ID: "pg-1", Name: "close", Strategy: "cluster"},
			selector: nodeclass.Selector{Name: "close"}, labels: map[string]string{"karpenter.k8s.aws/placement-group-id": "pg-1"},
			sells: map[string]bool{"c5.large": true, "t3.large": false},
		},
		"ByID": {
			why: "Or be given by its id.", group: market.PlacementGroup{ID: "pg-2", Name: "apart", Strategy: "spread"},
			selector: nodeclass.Selector{IDs: []string{"pg-2"}}, labels: map[string]string{"karpenter.k8s.aws/placement-group-id": "pg-2"},
			sells: map[string]bool{"t3.large": true},
		},
		"AnyPartition": {
			why: "EC2 chooses the partition, and the node says which it is.", group: market.PlacementGroup{ID: "pg-3", Name: "parts", Strategy: "partition", Partitions: 3},
			selector: nodeclass.Selector{Name: "parts"}, labels: map[string]string{partition: "1"},
		},
		"ThatPartition": {
			why: "Pods may ask for a partition.", group: market.PlacementGroup{ID: "pg-4", Name: "parts", Strategy: "partition", Partitions: 3},
			selector: nodeclass.Selector{Name: "parts"}, labels: map[string]string{partition: "2"},
			change: func(o *cloud.Order) { o.Requirements = o.Requirements.And(label.Is(partition, "2")) },
		},
		"NoSuchPartition": {
			why: "There are no more partitions than the group has.", group: market.PlacementGroup{ID: "pg-5", Name: "parts", Strategy: "partition", Partitions: 3},
			selector: nodeclass.Selector{Name: "parts"}, none: true,
			change: func(o *cloud.Order) { o.Requirements = o.Requirements.And(label.Is(partition, "4")) },
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &virtual{t: t, change: func(c *nodeclass.Class) { c.PlacementGroup = &tc.selector }, sold: []string{"c5", "m5", "m5a", "t3"}}
				w.account().Market.AddPlacementGroup(tc.group)
				d := w.start()
				c, err := d.Catalog(t.Context(), templateOf())
				if err != nil {
					t.Fatal(tc.why, err)
				}
				for shape, want := range tc.sells {
					if got := slices.ContainsFunc(c.Shapes, func(s world.Shape) bool { return s.Name == shape }); got != want {
						t.Errorf("%s %s is sold: %t", tc.why, shape, got)
					}
				}
				o := order("one", 2, label.OnDemand)
				if tc.change != nil {
					tc.change(&o)
				}
				out := d.Launch(t.Context(), []cloud.Order{o})[0]
				if tc.none {
					if cloud.CodeOf(out.Err) != cloud.Capacity {
						t.Errorf("%s Got %+v", tc.why, out)
					}
					return
				}
				if out.Err != nil || len(out.Machines) != 2 {
					t.Fatalf("%s %+v", tc.why, out)
				}
				m := out.Machines[0]
				for key, want := range tc.labels {
					if m.Labels[key] != want {
						t.Errorf("%s Label %s is %q, want %q", tc.why, key, m.Labels[key], want)
					}
				}
				if m.Placement != tc.group.ID {
					t.Errorf("%s It is in %q", tc.why, m.Placement)
				}
				if why, err := d.Drift(t.Context(), m, templateOf()); why != (cloud.Drifted{}) || err != nil {
					t.Errorf("%s Drift %q, %v", tc.why, why, err)
				}
				m.Placement = "pg-0"
				if why, err := d.Drift(t.Context(), m, templateOf()); why.Reason != "PlacementGroupDrift" || !strings.HasPrefix(why.Changed, "placement group ") || err != nil {
					t.Errorf("a machine of another group: drift %q, %v", why, err)
				}
			})
		})
	}
}
