package peer_test

import (
	"testing"
	"time"

	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/bench/peer"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/label"
)

// TestConsolidation holds that each command of the library's makes a cluster
// that is too large cheaper, that all pods still run on nodes that are there,
// and that it comes to an end.
func TestConsolidation(t *testing.T) {
	catalog, err := market.Load()
	if err != nil {
		t.Fatal(err)
	}
	catalog.Template = "catalogue"
	w := enginetest.ShrunkFrom(catalog, label.SetOf(label.Is(label.CapacityType, label.OnDemand), label.Is(label.Arch, "amd64"), label.Is("karpenter.k8s.aws/instance-category", "m")), 60, 1)
	in, err := scenario.Of(w)
	if err != nil {
		t.Fatal(err)
	}
	c, err := peer.NewConsolidation(in, catalog)
	if err != nil {
		t.Fatal(err)
	}
	begin := c.Cost()
	for last := begin; ; last = c.Cost() {
		more, err := c.Step(time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range in.Bound {
			if !c.Has(p.Spec.NodeName) {
				t.Fatalf("after command %d pod %s runs on %s, which is gone", c.Commands, p.Name, p.Spec.NodeName)
			}
		}
		if !more {
			break
		}
		if c.Cost() >= last {
			t.Errorf("command %d made nothing cheaper: %v, and %v before", c.Commands, c.Cost(), last)
		}
	}
	if c.Commands == 0 || c.Moved == 0 {
		t.Errorf("%d commands moved %d pods: nothing was found in a cluster half of which is empty", c.Commands, c.Moved)
	}
}
