package market

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Type is an instance type with what it costs here and where.
type Type struct {
	catalog.Type
	OnDemand money.Micro            // dollars per hour; 0 if not sold so
	SpotFrom map[string]money.Micro // by zone, the price at the start; missing if not sold so
	Zones    []string               // where it is offered, by name
}

// TypesOf returns what a region of the catalogue sells.
func TypesOf(r *catalog.Region) []Type {
	var out []Type
	for _, t := range r.Types() {
		sold := Type{Type: *t, SpotFrom: map[string]money.Micro{}, Zones: r.Offered(t.Name)}
		if p, ok := r.OnDemand(t.Name); ok {
			sold.OnDemand = p.Micro
		}
		for _, z := range sold.Zones {
			if p, ok := r.Spot(t.Name, z); ok {
				sold.SpotFrom[z] = p.Micro
			}
		}
		out = append(out, sold)
	}
	return append(out, stillSold(r)...)
}

// ZonesOf returns the zones of a region of the catalogue.
func ZonesOf(r *catalog.Region) []Zone {
	out := make([]Zone, 0, len(r.Zones))
	for _, z := range r.Zones {
		out = append(out, Zone{Name: z.Name, ID: z.ID})
	}
	return out
}

// Bucket is a group of instance types that shares a quota of vCPUs.
type Bucket string

// The buckets of EC2's on-demand and spot quotas.
const (
	Standard   Bucket = "standard"
	GraphicsVT Bucket = "g-vt"
	Parallel   Bucket = "p"
	HighMemory Bucket = "high-memory"
	Extra      Bucket = "x"
	Field      Bucket = "f"
	Infer      Bucket = "inf"
	Train      Bucket = "trn"
	DeepLearn  Bucket = "dl"
	HPC        Bucket = "hpc"
)

// Spot returns the bucket of the same types bought as spot.
func (b Bucket) Spot() Bucket { return "spot-" + b }

// Bucket returns the quota a type counts against when it is bought on demand.
func (t *Type) Bucket() Bucket {
	name := t.Name
	for _, p := range []struct {
		prefix string
		bucket Bucket
	}{
		{"hpc", HPC},
		{"inf", Infer},
		{"trn", Train},
		{"dl", DeepLearn},
		{"u-", HighMemory},
		{"u7", HighMemory},
		{"vt", GraphicsVT},
		{"g", GraphicsVT},
		{"p", Parallel},
		{"x", Extra},
		{"f", Field},
	} {
		if strings.HasPrefix(name, p.prefix) {
			return p.bucket
		}
	}
	return Standard
}

// Types returns the types offered in the region, by name.
func (m *Market) Types() []*Type {
	out := make([]*Type, 0, len(m.typeNames))
	for _, n := range m.typeNames {
		out = append(out, m.types[n])
	}
	slices.SortFunc(out, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Type returns one type; nil if there is none of this name.
func (m *Market) Type(name string) *Type { return m.types[name] }
