package awsapi

import (
	"slices"
	"time"

	"github.com/tenon-sh/tenon/internal/sim/market"
)

func describeSpotPriceHistory(c *call) ([]node, error) {
	var in struct {
		lookup

		InstanceType       []string
		ProductDescription []string
		AvailabilityZone   string
		AvailabilityZoneId string
		StartTime          time.Time
		EndTime            time.Time
	}
	if err := c.look(&in); err != nil {
		return nil, err
	}
	const product = "Linux/UNIX"
	prices := c.market.SpotPrices(in.InstanceType, in.AvailabilityZone)
	if len(in.ProductDescription) > 0 && !slices.Contains(in.ProductDescription, product) && !slices.Contains(in.ProductDescription, product+" (Amazon VPC)") {
		prices = nil
	}
	prices, err := keep(prices, in.Filter, func(market.SpotPrice) market.Tags { return nil }, func(p market.SpotPrice) facts {
		return table(map[string]string{
			"instance-type": p.Type, "availability-zone": p.Zone, "product-description": product, "spot-price": p.Price.Decimal(),
		})
	})
	if err != nil {
		return nil, err
	}
	page, next, err := cut(prices, pages{least: 1, most: 1000, usual: 1000}, min(in.MaxResults, 1000), in.NextToken)
	if err != nil {
		return nil, err
	}
	return []node{list("spotPriceHistorySet", page, func(p market.SpotPrice) []node {
		return []node{
			txt("instanceType", p.Type), txt("productDescription", product), txt("spotPrice", p.Price.Decimal()),
			moment("timestamp", p.Since), txt("availabilityZone", p.Zone),
		}
	}), txt("nextToken", next)}, nil
}
