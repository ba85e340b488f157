package driver_test

import (
	"sync"
	"testing"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cloudtest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

var loaded = sync.OnceValues(catalog.Load)

// TestLaw holds the driver to the law of drivers. It has no wire on which answers could be lost.
func TestLaw(t *testing.T) {
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	region, err := all.Region("us-west-2")
	if err != nil {
		t.Fatal(err)
	}
	cloudtest.Run(t, func(*testing.T) cloudtest.Stage {
		m := driver.Market(region)
		return cloudtest.Stage{
			Start:    func() cloud.Driver { return driver.New(m, "demo") },
			Template: cloud.Template{ID: "t"},
			Menu:     []string{"c5.large", "m5.large", "m5a.large"},
			Running: func() []cloud.MachineID {
				var out []cloud.MachineID
				for _, i := range m.Everything() {
					if !i.State.Gone() {
						out = append(out, cloud.MachineID(i.ID))
					}
				}
				return out
			},
			SellOut: func(shape, kind string, left int) {
				c := market.Capacity{Type: shape, CapacityType: kind, Left: left}
				if left < 0 {
					m.ClearCapacity(c)
				} else {
					m.SetCapacity(c)
				}
			},
			Strip: func(id cloud.MachineID) {
				if err := m.Untag([]string{string(id)}, map[string]*string{"eks:eks-cluster-name": nil}); err != nil {
					t.Fatal(err)
				}
			},
		}
	})
}
