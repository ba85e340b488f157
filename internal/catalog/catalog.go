package catalog

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
)

//go:embed catalog.bin
var bundled []byte

// Load reads the bundled catalogue. It takes some ten milliseconds: load once and pass it on.
func Load() (*Catalog, error) {
	c, err := Decode(bundled)
	if err != nil {
		return nil, fmt.Errorf("bundled catalogue: %w", err)
	}
	return c, nil
}

// Catalog is every type and every region. It does not change once loaded.
type Catalog struct {
	types   []Type
	index   map[string]int // of types, by name
	regions []Region
}

// Types returns every type, by name. The slice is shared: do not change it.
func (c *Catalog) Types() []Type { return c.types }

// Type returns the type of a name.
func (c *Catalog) Type(name string) (*Type, bool) {
	i, ok := c.index[name]
	if !ok {
		return nil, false
	}
	return &c.types[i], true
}

// Regions returns the names of all regions, sorted.
func (c *Catalog) Regions() []string {
	names := make([]string, len(c.regions))
	for i, r := range c.regions {
		names[i] = r.Name
	}
	return names
}

// Region returns the region of a name. The error names those that may be meant, and where all are listed.
func (c *Catalog) Region(name string) (*Region, error) {
	i, ok := slices.BinarySearchFunc(c.regions, name, func(r Region, n string) int { return strings.Compare(r.Name, n) })
	if !ok {
		return nil, fmt.Errorf("no region %q in the catalogue%s", name, meantRegion(name, c.Regions()))
	}
	return &c.regions[i], nil
}

// meantRegion names the region that may be meant, or else those of the same part of the world.
func meantRegion(name string, known []string) string {
	const all = "`tenon types --help` lists all"
	if meant := label.Meant(name, known); meant != "" {
		return ": did you mean " + meant + "? " + all
	}
	for _, hyphen := range []int{strings.LastIndexByte(name, '-'), strings.IndexByte(name, '-')} {
		near := slices.Clone(known)
		near = slices.DeleteFunc(near, func(k string) bool { return !strings.HasPrefix(k, name[:hyphen+1]) })
		if hyphen > 0 && len(near) > 0 {
			return ": there is " + strings.Join(near, ", ") + "; " + all
		}
	}
	return "; " + all
}

// Region is what is sold in one place.
type Region struct {
	Name     string
	Currency string // USD or CNY
	Zones    []Zone // by name
	Assumed  bool   // offerings are not known: whatever has a price is taken to be sold in every zone

	catalog  *Catalog
	offered  []uint64 // a bit per zone, for each type
	onDemand []Price  // for each type
	spot     []Price  // for each type and zone
}

// Zone is one availability zone; its id is the same in every account, its name is not.
type Zone struct {
	Name, ID string
}

// Price is what an hour costs.
type Price struct {
	Micro     money.Micro // millionths of the region's currency
	Synthetic bool        // made up, not observed
}

// Partition returns the partition of AWS that the region belongs to.
func (r *Region) Partition() string {
	switch {
	case strings.HasPrefix(r.Name, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(r.Name, "us-gov-"):
		return "aws-us-gov"
	}
	return "aws"
}

// Types returns the types offered in some zone of the region, by name.
func (r *Region) Types() []*Type {
	var out []*Type
	for i := range r.catalog.types {
		if r.offered[i] != 0 {
			out = append(out, &r.catalog.types[i])
		}
	}
	return out
}

// Offered returns the names of the zones that offer a type; none for an unknown type.
func (r *Region) Offered(typ string) []string {
	i, ok := r.catalog.index[typ]
	if !ok {
		return nil
	}
	var out []string
	for z := range r.Zones {
		if r.offered[i]&(1<<z) != 0 {
			out = append(out, r.Zones[z].Name)
		}
	}
	return out
}

// OnDemand returns the on-demand price of a type; false if none is known.
func (r *Region) OnDemand(typ string) (Price, bool) {
	i, ok := r.catalog.index[typ]
	if !ok {
		return Price{}, false
	}
	return r.onDemand[i], r.onDemand[i].Micro > 0
}

// Spot returns the spot price of a type in a zone; false if it is not sold so there or no price is known.
func (r *Region) Spot(typ, zone string) (Price, bool) {
	i, ok := r.catalog.index[typ]
	z := slices.IndexFunc(r.Zones, func(z Zone) bool { return z.Name == zone })
	if !ok || z < 0 {
		return Price{}, false
	}
	p := r.spot[i*len(r.Zones)+z]
	return p, p.Micro > 0
}

// ZoneID returns the id of a zone; empty for a zone of another region.
func (r *Region) ZoneID(zone string) string {
	for _, z := range r.Zones {
		if z.Name == zone {
			return z.ID
		}
	}
	return ""
}
