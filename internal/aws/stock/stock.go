// Package stock knows which instance types a region has, where they are sold, and at what price.
package stock

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/pricing"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/turn"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
)

// fresh is how long what EC2 said of types, zones and prices is used.
const fresh = 12 * time.Hour

// Clients are what a Stock asks. Without Pricing, on-demand prices are the bundled ones.
type Clients struct {
	EC2     *ec2.Client
	Pricing *pricing.Client
}

// Stock is what one region sells. It is safe for several goroutines.
type Stock struct {
	clients Clients
	bundled *catalog.Catalog
	region  string
	now     clock.Now

	line turn.Line // the rest belongs to whose turn it is
	at   time.Time
	last Shelf
}

// Shelf is what was known at one moment. It does not change.
type Shelf struct {
	Types    []catalog.Type      // by name
	Zones    map[string][]string // of each type, sorted
	OnDemand map[string]catalog.Price
	Spot     map[string]map[string]catalog.Price // by type and zone
	Currency string
	Version  int
}

// New returns a Stock of a region that starts from the bundled facts.
func New(c Clients, bundled *catalog.Catalog, region string, now clock.Now) *Stock {
	return &Stock{clients: c, bundled: bundled, region: region, now: now}
}

// Shelf returns what is sold, asked anew if the answer is old. If EC2 cannot be
// asked, what was known before is used, and the error says so beside it.
func (s *Stock) Shelf(ctx context.Context) (Shelf, error) {
	done, err := s.line.Take(ctx, "")
	if err != nil {
		return Shelf{}, err
	}
	defer done()
	if !s.at.IsZero() && s.now.Since(s.at) < fresh {
		return s.last, nil
	}
	next, err := s.ask(ctx)
	if err != nil && len(next.Types) == 0 {
		return s.last, err
	}
	next.Version = s.last.Version + 1
	s.last, s.at = next, s.now()
	return next, err
}

func (s *Stock) ask(ctx context.Context) (Shelf, error) {
	types, err := s.types(ctx)
	if err != nil {
		return Shelf{}, err
	}
	zones, err := s.zones(ctx)
	if err != nil {
		return Shelf{}, err
	}
	shelf := Shelf{Types: types, Zones: zones, OnDemand: map[string]catalog.Price{}, Spot: map[string]map[string]catalog.Price{}}
	s.bundledPrices(&shelf)
	spot := s.spotPrices(ctx, &shelf)
	onDemand := s.onDemandPrices(ctx, &shelf)
	return shelf, errors.Join(spot, onDemand)
}

// types lists the instance types that can run Linux or Windows nodes.
func (s *Stock) types(ctx context.Context) ([]catalog.Type, error) {
	var out []catalog.Type
	pages := ec2.NewDescribeInstanceTypesPaginator(s.clients.EC2, &ec2.DescribeInstanceTypesInput{
		MaxResults: aws.Int32(100),
		Filters: []ec2types.Filter{
			{Name: aws.String("supported-virtualization-type"), Values: []string{"hvm"}},
			{Name: aws.String("processor-info.supported-architecture"), Values: []string{"x86_64", "arm64"}},
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal.Wrap("describe instance types", err)
		}
		for _, info := range page.InstanceTypes {
			known, _ := s.bundled.Type(string(info.InstanceType))
			out = append(out, Type(info, known))
		}
	}
	slices.SortFunc(out, func(a, b catalog.Type) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// zones tells where each type is sold.
func (s *Stock) zones(ctx context.Context) (map[string][]string, error) {
	sold := map[string][]string{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(s.clients.EC2, &ec2.DescribeInstanceTypeOfferingsInput{
		LocationType: ec2types.LocationTypeAvailabilityZone, MaxResults: aws.Int32(1000),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, refusal.Wrap("describe instance type offerings", err)
		}
		for _, o := range page.InstanceTypeOfferings {
			sold[string(o.InstanceType)] = append(sold[string(o.InstanceType)], aws.ToString(o.Location))
		}
	}
	for _, z := range sold {
		slices.Sort(z)
	}
	return sold, nil
}

// bundledPrices is what is used until, and wherever, the region says better. A
// region that is not bundled has the prices of us-east-1.
func (s *Stock) bundledPrices(shelf *Shelf) {
	r, err := s.bundled.Region(s.region)
	assumed := err != nil
	if assumed {
		if r, err = s.bundled.Region("us-east-1"); err != nil {
			return
		}
	}
	shelf.Currency = r.Currency
	for _, t := range shelf.Types {
		if p, ok := r.OnDemand(t.Name); ok {
			p.Synthetic = p.Synthetic || assumed
			shelf.OnDemand[t.Name] = p
		}
		for _, z := range shelf.Zones[t.Name] {
			if p, ok := r.Spot(t.Name, z); ok {
				shelf.setSpot(t.Name, z, p)
			}
		}
	}
}

func (s *Shelf) setSpot(typ, zone string, p catalog.Price) {
	if s.Spot[typ] == nil {
		s.Spot[typ] = map[string]catalog.Price{}
	}
	s.Spot[typ][zone] = p
}

// Offers returns where and for how much a type is sold, in order of zone and kind.
// A spot offer without a price of its own is taken to cost what on-demand does.
func (s Shelf) Offers(t *catalog.Type) []world.Offer {
	onDemand, priced := s.OnDemand[t.Name]
	var out []world.Offer
	for _, zone := range s.Zones[t.Name] {
		if priced && slices.Contains(t.UsageClasses, "on-demand") {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.OnDemand, Price: onDemand.Micro, Synthetic: onDemand.Synthetic})
		}
		if !t.Spot() {
			continue
		}
		spot, known := s.Spot[t.Name][zone]
		if !known {
			spot = onDemand
		}
		if spot.Micro > 0 {
			out = append(out, world.Offer{Zone: zone, CapacityType: label.Spot, Price: spot.Micro, Synthetic: spot.Synthetic})
		}
	}
	return out
}
