package inventory

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	pricingtypes "github.com/aws/aws-sdk-go-v2/service/pricing/types"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
)

// PricingRegion is the region whose Pricing service speaks for a region.
func PricingRegion(region string) string {
	switch {
	case strings.HasPrefix(region, "ap-"):
		return "ap-south-1"
	case strings.HasPrefix(region, "cn-"):
		return "cn-northwest-1"
	case strings.HasPrefix(region, "eu-"):
		return "eu-central-1"
	}
	return "us-east-1"
}

// Clients are what an Inventory asks. Without Pricing, on-demand prices are the bundled ones.
type Clients struct {
	EC2     *ec2.Client
	Pricing *pricing.Client
}

// asker asks for the prices of a region.
type asker struct {
	clients Clients
	region  string
	now     clock.Now
}

// spotPriceAttempts is how often spot prices are asked for: a caller that waits can do without.
const spotPriceAttempts = 2

// spotPrices reads what spot costs now, by type and zone.
func (a asker) spotPrices(ctx context.Context, shelf *Shelf) error {
	now, guard := a.now(), newGuard(shelf)
	pages := ec2.NewDescribeSpotPriceHistoryPaginator(a.clients.EC2, &ec2.DescribeSpotPriceHistoryInput{
		StartTime: aws.Time(now), EndTime: aws.Time(now), MaxResults: aws.Int32(1000),
		ProductDescriptions: []string{"Linux/UNIX", "Linux/UNIX (Amazon VPC)"},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, func(o *ec2.Options) { o.RetryMaxAttempts = spotPriceAttempts })
		if err != nil {
			return refusal.Wrap("describe spot prices", err)
		}
		for _, p := range page.SpotPriceHistory {
			price, ok := priceOf(aws.ToString(p.SpotPrice))
			if ok && guard.believes(string(p.InstanceType), price) {
				shelf.setSpot(string(p.InstanceType), aws.ToString(p.AvailabilityZone), catalog.Price{Micro: price})
			}
		}
	}
	return nil
}

// product is the part of a price list entry that says which type costs what.
type product struct {
	Product struct {
		Attributes struct {
			InstanceType string `json:"instanceType"`
		} `json:"attributes"`
	} `json:"product"`
	Terms struct {
		OnDemand map[string]struct {
			PriceDimensions map[string]struct {
				PricePerUnit map[string]string `json:"pricePerUnit"`
			} `json:"priceDimensions"`
		} `json:"OnDemand"`
	} `json:"terms"`
}

// onDemandPrices reads the region's price list: shared machines, and bare metal, which is sold as dedicated.
func (a asker) onDemandPrices(ctx context.Context, shelf *Shelf) error {
	if a.clients.Pricing == nil {
		return nil
	}
	for _, kind := range []struct{ family, tenancy string }{{"Compute Instance", "Shared"}, {"Compute Instance (bare metal)", "Dedicated"}} {
		if err := a.priceList(ctx, shelf, kind.family, kind.tenancy); err != nil {
			return err
		}
	}
	return nil
}

func (a asker) priceList(ctx context.Context, shelf *Shelf, family, tenancy string) error {
	equals := func(field, v string) pricingtypes.Filter {
		return pricingtypes.Filter{Field: aws.String(field), Type: pricingtypes.FilterTypeTermMatch, Value: aws.String(v)}
	}
	pages := pricing.NewGetProductsPaginator(a.clients.Pricing, &pricing.GetProductsInput{
		ServiceCode: aws.String("AmazonEC2"),
		Filters: []pricingtypes.Filter{
			equals("regionCode", a.region), equals("serviceCode", "AmazonEC2"), equals("preInstalledSw", "NA"), equals("operatingSystem", "Linux"),
			equals("capacitystatus", "Used"), equals("marketoption", "OnDemand"), equals("productFamily", family), equals("tenancy", tenancy),
		},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return refusal.Wrap("get on-demand prices", err)
		}
		for _, text := range page.PriceList {
			typ, p, err := readPrice(text, a.currency())
			if err != nil {
				return err
			}
			if p.Micro > 0 {
				shelf.OnDemand[typ] = p
			}
		}
	}
	return nil
}

// currency is what prices of the region are in.
func (a asker) currency() string {
	if strings.HasPrefix(a.region, "cn-") {
		return "CNY"
	}
	return "USD"
}

// readPrice reads one entry of a price list. An entry without a price in the currency has none.
func readPrice(text, currency string) (string, catalog.Price, error) {
	var p product
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return "", catalog.Price{}, fmt.Errorf("read price list entry: %w", err)
	}
	for _, term := range p.Terms.OnDemand {
		for _, d := range term.PriceDimensions {
			if price, ok := priceOf(d.PricePerUnit[currency]); ok {
				return p.Product.Attributes.InstanceType, catalog.Price{Micro: price}, nil
			}
		}
	}
	return p.Product.Attributes.InstanceType, catalog.Price{}, nil
}

// priceOf reads a price; false for what is none, or nothing.
func priceOf(text string) (money.Micro, bool) {
	price, ok := money.Parse(text)
	return price, ok && price > 0
}
