package observe

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// View is a catalogue as one pool sees it.
type View struct {
	Pool    world.Pool
	Catalog world.Catalog
}

// Lay lays overlays over what pools see. It returns the views that this changes,
// and for each overlay that had to be left out the one that it contradicts.
//
// The heavier overlay is the first to set a price or a resource, of equals the
// later name; others fill the gaps. Two of one weight that would set the same
// thing contradict each other, and the one that comes second is left out
// everywhere.
func Lay(views []View, overlays []Overlay) (changed []View, against map[string]string) {
	sheets := make([]*sheet, len(views))
	for i, v := range views {
		sheets[i] = newSheet(v)
	}
	order := slices.Clone(overlays)
	slices.SortFunc(order, func(a, b Overlay) int { return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.Name, a.Name)) })
	against = map[string]string{}
	for i := range order {
		o := &order[i]
		picked := make([][]pick, len(sheets))
		rival := ""
		for n, s := range sheets {
			picked[n] = s.picks(o)
			rival = cmp.Or(rival, s.rival(o, picked[n]))
		}
		if rival != "" {
			against[o.Name] = rival
			continue
		}
		for n, s := range sheets {
			s.lay(o, picked[n])
		}
	}
	for _, s := range sheets {
		if s.changed {
			changed = append(changed, s.view)
		}
	}
	return changed, against
}

// sheet is a view and what overlays have set in it so far.
type sheet struct {
	view    View
	labels  []label.Set // of each shape's machines, but for what only the offer settles
	prices  map[thing]*Overlay
	amounts map[extra]*Overlay
	preview map[thing]bool // the cloud has no price of it
	changed bool
}

// thing is an offer, by its place and its shape's.
type thing struct{ shape, offer int }

// extra is how much a shape has of one resource.
type extra struct {
	shape int
	name  string
}

// pick is a shape, and which of its offers an overlay is about.
type pick struct {
	shape  int
	offers []int
}

func newSheet(v View) *sheet {
	key := label.NodePool
	if v.Pool.ID.Kind == world.Provisioner {
		key = label.Provisioner
	}
	s := &sheet{view: v, prices: map[thing]*Overlay{}, amounts: map[extra]*Overlay{}, preview: map[thing]bool{}}
	pool := label.Exactly(v.Pool.Labels).Meet(label.SetOf(label.Is(key, v.Pool.ID.Name)))
	for i := range v.Catalog.Shapes {
		for j := range v.Catalog.Shapes[i].Offers {
			if v.Catalog.Shapes[i].Offers[j].Unpriced {
				s.preview[thing{i, j}] = true
			}
		}
		s.labels = append(s.labels, pool.Meet(v.Catalog.Shapes[i].Labels.Without(label.Zone, label.CapacityType)))
	}
	return s
}

// picks are the shapes and offers that an overlay is about.
func (s *sheet) picks(o *Overlay) []pick {
	var out []pick
	for i := range s.view.Catalog.Shapes {
		p := pick{shape: i}
		for j := range s.view.Catalog.Shapes[i].Offers {
			if o.about(s.labels[i], &s.view.Catalog.Shapes[i].Offers[j]) {
				p.offers = append(p.offers, j)
			}
		}
		if len(p.offers) > 0 {
			out = append(out, p)
		}
	}
	return out
}

// about reports whether the overlay is about an offer of a shape with these labels.
func (o *Overlay) about(shape label.Set, offer *world.Offer) bool {
	for _, want := range o.Requirements {
		var own string
		switch want.Key {
		case label.Zone:
			own = offer.Zone
		case label.CapacityType:
			own = offer.CapacityType
		default:
			own = offer.Labels[want.Key]
		}
		if own == "" {
			if !shape.Compatible(label.Set{want}, nil) {
				return false
			}
		} else if !want.Has(own) {
			return false
		}
	}
	return true
}

// priced reports whether the overlay sets the price of an offer that it is about. One of which no price is known is a type in preview:
// that it is to be bought is said by an overlay that names the type, and not by one for many that are sold.
func (s *sheet) priced(o *Overlay, at thing) bool {
	named, ok := o.Requirements.Find(label.InstanceType)
	return o.Price != nil && (!s.preview[at] || o.Fixed && ok && !named.Not && len(named.Values) > 0)
}

// rival names the overlay of the same weight that has set what o would set.
func (s *sheet) rival(o *Overlay, picked []pick) string {
	same := func(set *Overlay) bool { return set != nil && set.Weight == o.Weight }
	for _, p := range picked {
		for _, j := range p.offers {
			if set := s.prices[thing{p.shape, j}]; same(set) && s.priced(o, thing{p.shape, j}) {
				return set.Name
			}
		}
		for _, e := range o.Capacity {
			if set := s.amounts[extra{p.shape, e.Name}]; same(set) {
				return set.Name
			}
		}
	}
	return ""
}

// lay has the overlay set what no heavier one has set.
func (s *sheet) lay(o *Overlay, picked []pick) {
	if len(picked) == 0 || o.Price == nil && len(o.Capacity) == 0 {
		return
	}
	if !s.changed {
		s.view.Catalog.Shapes, s.changed = slices.Clone(s.view.Catalog.Shapes), true
	}
	for _, p := range picked {
		shape := &s.view.Catalog.Shapes[p.shape]
		for _, e := range o.Capacity {
			at := extra{p.shape, e.Name}
			if s.amounts[at] == nil {
				extend(shape, e)
			}
			s.amounts[at] = o
		}
		if o.Price == nil {
			continue
		}
		shape.Offers = slices.Clone(shape.Offers)
		for _, j := range p.offers {
			at, offer := thing{p.shape, j}, &shape.Offers[j]
			if !s.priced(o, at) {
				continue
			}
			if s.prices[at] == nil {
				offer.Price, offer.Overlaid, offer.Synthetic, offer.Unpriced = o.Price(offer.Price), true, false, false
			}
			s.prices[at] = o
		}
	}
}

// extend gives a shape an amount of a resource. Huge pages are cut from its memory.
func extend(s *world.Shape, e amount.Entry) {
	s.Capacity, s.Overlaid = s.Capacity.With(e.Name, e.Value), true
	if strings.HasPrefix(e.Name, "hugepages-") {
		s.Overhead = s.Overhead.Plus(amount.Of(amount.Entry{Name: amount.Memory, Value: e.Value}))
	}
}
