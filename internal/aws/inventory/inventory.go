// Package inventory knows which instance types a region has, where they are sold, and at what price.
package inventory

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/tenon-sh/tenon/internal/aws/answers"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
)

// fresh is how long what EC2 said of types, zones and prices is used. What could
// not be asked for is asked for sooner, and not by every caller that wants a shelf.
const (
	fresh      = 12 * time.Hour
	retryAfter = 10 * time.Minute
)

// Inventory is what one region sells. It is safe for several goroutines.
type Inventory struct {
	asker   asker
	bundled *catalog.Catalog

	shelf *answers.Memory[Shelf]

	// What follows is the asker's alone, and there is one at a time.
	typed  time.Time // when types and zones are due
	priced time.Time // when prices are
	last   Shelf
}

// New returns an Inventory of a region that starts from the bundled facts.
func New(c Clients, bundled *catalog.Catalog, region string, now clock.Now) *Inventory {
	return &Inventory{asker: asker{c, region, now}, bundled: bundled, shelf: answers.New(now, answers.Rules[Shelf]{Stale: answers.Ever})}
}

// Shelf returns what is sold, asked again if the answer is old. What EC2 cannot be
// asked for is as it was known before, or as it is bundled, and the shelf says
// so until it has been asked for. The error is why nothing at all is known.
func (s *Inventory) Shelf(ctx context.Context) (Shelf, error) {
	return s.shelf.Get(ctx, "", s.renew)
}

// renew asks for what is due of the shelf.
func (s *Inventory) renew(ctx context.Context) (Shelf, time.Duration, error) {
	now := s.asker.now()
	next := s.last
	if !now.Before(s.typed) {
		types, zones, err := s.ask(ctx)
		switch {
		case err != nil && (ctx.Err() != nil || len(next.Types) == 0):
			return s.last, 0, err
		case err != nil:
			s.typed, s.last.Untyped, next.Untyped = now.Add(retryAfter), err, err
		default:
			s.typed, next.Types, next.Zones, next.Untyped = now.Add(fresh), types, zones, nil
			s.priced = time.Time{} // for the types that are new
		}
	}
	if !now.Before(s.priced) {
		next.Unpriced = s.price(ctx, &next)
		s.priced = now.Add(fresh)
		if next.Unpriced != nil {
			s.priced = now.Add(retryAfter)
		}
		next.Version = s.last.Version + 1
	}
	s.last = next
	due := s.typed
	if s.priced.Before(due) {
		due = s.priced
	}
	return next, due.Sub(now), nil
}

// Sells reports whether the region has a type, as far as that is known.
func (s *Inventory) Sells(typ string) bool {
	shelf, _ := s.shelf.Known("")
	_, found := slices.BinarySearchFunc(shelf.Types, typ, func(t catalog.Type, name string) int { return strings.Compare(t.Name, name) })
	return found
}

// ask finds types and where they are sold. A server that does not have the calls
// is taken to sell what is bundled for the region.
func (s *Inventory) ask(ctx context.Context) ([]catalog.Type, map[string][]string, error) {
	types, err := s.types(ctx)
	if refusal.Absent(err) {
		types, err = s.bundledTypes()
	}
	if err != nil {
		return nil, nil, err
	}
	zones, err := s.zones(ctx)
	if refusal.Absent(err) || err == nil && len(zones) == 0 {
		zones, err = s.bundledZones(), nil
	}
	return types, zones, err
}

// price puts prices on a shelf: the bundled ones, over them those that were known
// before, and over them those of today.
func (s *Inventory) price(ctx context.Context, shelf *Shelf) error {
	had := *shelf
	shelf.OnDemand, shelf.Spot = map[string]catalog.Price{}, map[string]map[string]catalog.Price{}
	s.bundledPrices(shelf)
	for typ, p := range had.OnDemand {
		if !p.Synthetic {
			shelf.OnDemand[typ] = p
		}
	}
	onDemand := s.asker.onDemandPrices(ctx, shelf)
	guard := newGuard(shelf)
	for typ, zones := range had.Spot {
		for zone, p := range zones {
			if !p.Synthetic && guard.believes(typ, p.Micro) {
				shelf.setSpot(typ, zone, p)
			}
		}
	}
	return errors.Join(s.asker.spotPrices(ctx, shelf), onDemand)
}

// bundledTypes are the types that are bundled for the region, or else all.
func (s *Inventory) bundledTypes() ([]catalog.Type, error) {
	var out []catalog.Type
	if r, err := s.bundled.Region(s.asker.region); err == nil {
		for _, t := range r.Types() {
			out = append(out, *t)
		}
		return out, nil
	}
	return s.bundled.Types(), nil
}

// bundledZones returns the zones in which each type is sold, as bundled; nil if the region is not bundled.
func (s *Inventory) bundledZones() map[string][]string {
	r, err := s.bundled.Region(s.asker.region)
	if err != nil {
		return nil
	}
	out := map[string][]string{}
	for _, t := range r.Types() {
		out[t.Name] = r.Offered(t.Name)
	}
	return out
}

// types lists the instance types that can run Linux or Windows nodes.
func (s *Inventory) types(ctx context.Context) ([]catalog.Type, error) {
	var out []catalog.Type
	pages := ec2.NewDescribeInstanceTypesPaginator(s.asker.clients.EC2, &ec2.DescribeInstanceTypesInput{
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
			if t := Type(info, known); t.Arch != "" && t.VCPUs > 0 && t.MemoryMiB > 0 {
				out = append(out, t) // the rest no node runs on: some servers pass over filters
			}
		}
	}
	slices.SortFunc(out, func(a, b catalog.Type) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// zones returns the zones in which each type is sold.
func (s *Inventory) zones(ctx context.Context) (map[string][]string, error) {
	sold := map[string][]string{}
	pages := ec2.NewDescribeInstanceTypeOfferingsPaginator(s.asker.clients.EC2, &ec2.DescribeInstanceTypeOfferingsInput{
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
func (s *Inventory) bundledPrices(shelf *Shelf) {
	r, err := s.bundled.Region(s.asker.region)
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
		for _, z := range r.Zones {
			if p, ok := r.Spot(t.Name, z.Name); ok && shelf.sells(t.Name, z.Name) {
				shelf.setSpot(t.Name, z.Name, p)
			}
		}
	}
}
