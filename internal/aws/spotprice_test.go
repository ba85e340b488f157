package aws_test

import (
	"testing"
	"testing/synctest"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// A price of spot that cannot be true is not offered, whatever else is on sale.
func TestAbsurdSpotPrice(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		d := w.start()
		w.account().Market.SetPrice(market.PriceRule{Type: "m5.large", CapacityType: label.Spot, Price: 1})
		c, err := d.Catalog(t.Context(), templateOf())
		if err != nil {
			t.Fatal(err)
		}
		spot := 0
		for _, s := range c.Shapes {
			for _, o := range s.Offers {
				if o.CapacityType != label.Spot {
					continue
				}
				if spot++; o.Price < 1000 {
					t.Errorf("%s in %s is offered for %d millionths of a dollar", s.Name, o.Zone, o.Price)
				}
			}
		}
		if spot == 0 {
			t.Error("nothing is offered as spot")
		}
	})
}
