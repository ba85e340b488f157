package awsapi

import (
	"encoding/json"
	"fmt"
	"hash/fnv"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func getProducts(c *call) (any, error) {
	var in struct {
		ServiceCode string
		Filters     []struct{ Type, Field, Value string }
		MaxResults  int
		NextToken   string
	}
	if err := c.read(&in); err != nil {
		return nil, err
	}
	if in.ServiceCode != "AmazonEC2" {
		return nil, market.Errorf("InvalidParameterException", "Service code %s is not known here", in.ServiceCode)
	}
	var all []product
	for _, t := range c.market.Types() {
		p := productOf(c, t)
		matches := p.price > 0
		for _, f := range in.Filters {
			matches = matches && p.attributes[f.Field] == f.Value
		}
		if matches {
			all = append(all, p)
		}
	}
	page, next, err := cut(all, pages{least: 1, most: 100, usual: 100}, in.MaxResults, in.NextToken)
	if err != nil {
		return nil, market.Errorf("InvalidNextTokenException", "%s", err)
	}
	list := []string{}
	for _, p := range page {
		text, err := json.Marshal(p.document(c.account.cfg.Catalog.Currency))
		if err != nil {
			return nil, err
		}
		list = append(list, string(text))
	}
	out := map[string]any{"FormatVersion": "aws_v1", "PriceList": list}
	if next != "" {
		out["NextToken"] = next
	}
	return out, nil
}

// product is one line of the price list: a type on demand with plain Linux.
type product struct {
	sku        string
	price      money.Micro
	attributes map[string]string
}

func productOf(c *call, t *market.Type) product {
	family, tenancy := "Compute Instance", "Shared"
	if t.BareMetal {
		family, tenancy = "Compute Instance (bare metal)", "Dedicated"
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(c.market.Region() + t.Name))
	return product{
		sku:   fmt.Sprintf("%016X", sum.Sum64()),
		price: c.market.OnDemandPrice(t.Name),
		attributes: map[string]string{
			"instanceType": t.Name, "regionCode": c.market.Region(), "location": c.market.Region(), "locationType": "AWS Region",
			"serviceCode": "AmazonEC2", "servicecode": "AmazonEC2", "productFamily": family, "tenancy": tenancy,
			"operatingSystem": "Linux", "preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand",
			"licenseModel": "No License required", "operation": "RunInstances", "vcpu": fmt.Sprint(t.VCPUs),
		},
	}
}

// document is the product as the price list writes it.
func (p product) document(currency string) map[string]any {
	term, rate := p.sku+".JRTCKXETXF", p.sku+".JRTCKXETXF.6YS6EN2CT7"
	return map[string]any{
		"serviceCode": "AmazonEC2",
		"version":     "20260720000000",
		"product":     map[string]any{"sku": p.sku, "productFamily": p.attributes["productFamily"], "attributes": p.attributes},
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"sku": p.sku, "offerTermCode": "JRTCKXETXF",
			"priceDimensions": map[string]any{rate: map[string]any{
				"unit": "Hrs", "rateCode": rate, "beginRange": "0", "endRange": "Inf",
				"pricePerUnit": map[string]string{currency: p.price.Decimal() + "0000"},
			}},
		}}},
	}
}
