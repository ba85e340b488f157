package driver

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

const aws = "karpenter.k8s.aws/"

// Catalog implements cloud.Driver.
func (d *Driver) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	if err := ctx.Err(); err != nil {
		return world.Catalog{}, err
	}
	zones := map[string]bool{}
	for _, s := range d.market.Subnets() {
		zones[s.Zone] = true
	}
	c := world.Catalog{Template: t.ID, Region: d.market.Region()}
	sum := money.Micro(0) // a price that changes makes another version
	for _, typ := range d.market.Types() {
		if typ.Arch != "amd64" && typ.Arch != "" {
			continue // its image is for amd64
		}
		s := d.shape(typ)
		for _, z := range typ.Zones {
			if !zones[z] {
				continue
			}
			if typ.OnDemand > 0 {
				s.Offers = append(s.Offers, world.Offer{Zone: z, CapacityType: label.OnDemand, Price: typ.OnDemand, Gone: d.gone(offer{typ.Name, z, label.OnDemand})})
			}
			for _, p := range d.market.SpotPrices([]string{typ.Name}, z) {
				s.Offers = append(s.Offers, world.Offer{Zone: z, CapacityType: label.Spot, Price: p.Price, Gone: d.gone(offer{typ.Name, z, label.Spot})})
				sum += p.Price
			}
		}
		if len(s.Offers) > 0 {
			c.Shapes = append(c.Shapes, s)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Version = fmt.Sprintf("%d-%d", d.round, sum)
	return c, nil
}

// shape is a type as pods see it, without its offers.
func (d *Driver) shape(t *market.Type) world.Shape {
	memory := t.MemoryMiB
	if memory == 0 {
		memory = int64(t.VCPUs) * 4096
	}
	pods := 110
	if t.ENIs > 0 && t.IPv4PerENI > 1 {
		pods = t.ENIs*(t.IPv4PerENI-1) + 2
	}
	const mib = 1 << 20 * amount.Unit
	s := world.Shape{
		Name: t.Name,
		Capacity: amount.Of(
			amount.Entry{Name: amount.CPU, Value: int64(t.VCPUs) * amount.Unit},
			amount.Entry{Name: amount.Memory, Value: memory * 925 / 1000 * mib},
			amount.Entry{Name: amount.Pods, Value: int64(pods) * amount.Unit},
			amount.Entry{Name: amount.Ephemeral, Value: 20 * 1024 * mib},
		),
		Overhead: amount.Of(
			amount.Entry{Name: amount.CPU, Value: 80},
			amount.Entry{Name: amount.Memory, Value: min(int64(255+11*pods+100), memory/4) * mib},
			amount.Entry{Name: amount.Ephemeral, Value: 3 * 1024 * mib},
		),
	}
	family, size, _ := strings.Cut(t.Name, ".")
	labels := map[string]string{
		label.InstanceType: t.Name, label.Arch: "amd64", label.OS: "linux", label.Region: d.market.Region(),
		aws + "instance-family": family, aws + "instance-size": size, aws + "instance-cpu": strconv.Itoa(t.VCPUs),
		aws + "instance-memory": strconv.FormatInt(memory, 10),
	}
	if t.Category != "" {
		labels[aws+"instance-category"] = t.Category
	}
	if t.Generation > 0 {
		labels[aws+"instance-generation"] = strconv.Itoa(t.Generation)
	}
	s.Labels = label.Exactly(labels)
	return s
}

// labelsOf are the labels that every machine of a shape has.
func labelsOf(s world.Shape) map[string]string {
	out := map[string]string{}
	for _, q := range s.Labels {
		if len(q.Values) == 1 {
			out[q.Key] = q.Values[0]
		}
	}
	return out
}
