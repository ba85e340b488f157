package plan

import (
	"slices"

	"github.com/tenon-sh/tenon/engine/world"
)

// Draw takes what the asks draw from reservations off what the catalogues of the World say is left.
func Draw(b *world.Builder, w *world.World, asks []Ask) error {
	drawn := map[string]int{}
	for _, a := range asks {
		if a.Reservation != "" {
			drawn[a.Reservation]++
		}
	}
	if len(drawn) == 0 {
		return nil
	}
	for _, c := range w.Catalogs() {
		next := *c
		next.Shapes = slices.Clone(c.Shapes)
		for i := range next.Shapes {
			s := &next.Shapes[i]
			s.Offers = slices.Clone(s.Offers)
			for j := range s.Offers {
				s.Offers[j].Count -= drawn[s.Offers[j].Reservation]
			}
		}
		if err := b.SetCatalog(next); err != nil {
			return err
		}
	}
	return nil
}
