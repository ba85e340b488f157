// Package market is what both sides may buy: the bundled catalogue of one region, in three of its zones.
package market

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
)

// Region is where all machines are.
const Region = "us-east-1"

// Zones are those that the node class has a subnet in.
func Zones() []string { return []string{Region + "a", Region + "b", Region + "c"} }

// Load returns the catalogue.
func Load() (world.Catalog, error) {
	all, err := catalog.Load()
	if err != nil {
		return world.Catalog{}, fmt.Errorf("load catalogue: %w", err)
	}
	region, err := all.Region(Region)
	if err != nil {
		return world.Catalog{}, fmt.Errorf("load catalogue: %w", err)
	}
	c := types.Bundled(region, types.Default(Region))
	var shapes []world.Shape
	for _, s := range c.Shapes {
		offers := slices.DeleteFunc(slices.Clone(s.Offers), func(o world.Offer) bool { return !slices.Contains(Zones(), o.Zone) })
		if len(offers) > 0 {
			shapes = append(shapes, types.Sell(s, offers))
		}
	}
	c.Shapes = shapes
	return c, nil
}
