package driver_test

import (
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"time"

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
		m := market.New(market.Config{Region: region.Name, Account: "123456789012", Zones: market.ZonesOf(region), Types: market.TypesOf(region), Now: time.Now})
		for i, z := range region.Zones {
			m.AddSubnet(market.Subnet{VPC: "vpc-1", Zone: z.Name, Range: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))})
		}
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
		}
	})
}
