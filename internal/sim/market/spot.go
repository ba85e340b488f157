package market

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
)

// PriceRule fixes or scales prices of the pools it matches; empty fields match everything, the last rule counts.
type PriceRule struct {
	Zone         string
	Type         string
	CapacityType string
	Price        money.Micro // dollars per hour; 0 means scaled by Factor
	Factor       float64     // 0 means 1
}

// SetPrice adds a rule for prices, or replaces the one of the same pools.
func (m *Market) SetPrice(r PriceRule) {
	defer m.lock()()
	m.prices = slices.DeleteFunc(m.prices, func(o PriceRule) bool {
		return o.Zone == r.Zone && o.Type == r.Type && o.CapacityType == r.CapacityType
	})
	if r.Price == 0 && (r.Factor == 0 || r.Factor == 1) {
		return
	}
	m.prices = append(m.prices, r)
}

func (m *Market) ruled(zone, typ, capacityType string, price money.Micro) money.Micro {
	for _, r := range slices.Backward(m.prices) {
		if (r.Zone != "" && r.Zone != zone) || (r.Type != "" && r.Type != typ) || (r.CapacityType != "" && r.CapacityType != capacityType) {
			continue
		}
		if r.Price > 0 {
			return r.Price
		}
		return price.Scale(r.Factor)
	}
	return price
}

// SpotPrice is what a spot pool costs from a time on, in dollars per hour.
type SpotPrice struct {
	Type  string
	Zone  string
	Price money.Micro
	Since time.Time
}

// OnDemandPrice returns the price of a type, in dollars per hour; 0 if it is not sold on demand.
func (m *Market) OnDemandPrice(typ string) money.Micro {
	defer m.lock()()
	return m.onDemandPrice(typ)
}

func (m *Market) onDemandPrice(typ string) money.Micro {
	t := m.types[typ]
	if t == nil || t.OnDemand == 0 {
		return 0
	}
	return m.ruled("", typ, OnDemand, t.OnDemand)
}

// SpotPrices returns the prices of spot pools now: of the named types, or of all, in one zone, or in all.
func (m *Market) SpotPrices(types []string, zone string) []SpotPrice {
	defer m.lock()()
	if len(types) == 0 {
		types = m.typeNames
	}
	since := m.at.Truncate(m.cfg.Timing.PricePeriod)
	var out []SpotPrice
	for _, name := range types {
		t := m.types[name]
		if t == nil {
			continue
		}
		for z := range t.SpotFrom {
			if zone != "" && z != zone {
				continue
			}
			out = append(out, SpotPrice{Type: name, Zone: z, Price: m.spotPrice(name, z), Since: since})
		}
	}
	slices.SortFunc(out, func(a, b SpotPrice) int {
		return strings.Compare(a.Type+"/"+a.Zone, b.Type+"/"+b.Zone)
	})
	return out
}

// spotPrice redraws the starting price of a pool once a period: its logarithm moves by the configured
// deviation, and the result stays between a tenth of the on-demand price and all of it.
func (m *Market) spotPrice(typ, zone string) money.Micro {
	t := m.types[typ]
	if t == nil {
		return 0
	}
	start := t.SpotFrom[zone]
	if start == 0 {
		return 0
	}
	price := start
	if sigma := m.cfg.Timing.SpotVariance; sigma > 0 {
		period := m.at.Unix() / int64(max(m.cfg.Timing.PricePeriod/time.Second, 1))
		z := spread(fmt.Sprintf("%d/%s|%s/%d", m.cfg.Seed, zone, typ, period))
		price = money.Micro(float64(start) * math.Exp(sigma*z))
		if t.OnDemand > 0 {
			price = min(max(price, t.OnDemand/10), t.OnDemand)
		}
		price -= price % 100 // AWS quotes at most four digits of a dollar
	}
	return m.ruled(zone, typ, Spot, max(price, 100))
}

// ClearPrices removes all rules for prices.
func (m *Market) ClearPrices() {
	defer m.lock()()
	m.prices = nil
}
