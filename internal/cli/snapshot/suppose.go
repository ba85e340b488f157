package snapshot

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Suppositions are how the user supposes the World to be otherwise.
type Suppositions struct {
	add, without, scale, soldOut, price []string
}

// Flags adds the flags by which a user supposes something.
func (s *Suppositions) Flags(f *pflag.FlagSet) {
	f.StringSliceVar(&s.add, "add", nil, "what if these objects were there: file or folder; one of the same kind and name is replaced; may be repeated")
	f.StringSliceVar(&s.without, "without", nil, "what if it were gone: node/NAME, nodeclaim/NAME or nodepool/NAME with all its nodes; may be repeated")
	f.StringArrayVar(&s.scale, "scale", nil, "what if it had so many pods: deployment/NAMESPACE/NAME=N, also statefulset and replicaset, or deploy, sts and rs; may be repeated")
	f.StringArrayVar(&s.soldOut, "sold-out", nil, "what if it could not be had: TYPE[,ZONE[,CAPACITY-TYPE]], with asterisks; may be repeated")
	f.StringArrayVar(&s.price, "price", nil, "what if it cost so much an hour: TYPE[,ZONE[,CAPACITY-TYPE]]=PRICE, with asterisks; may be repeated")
}

// Any reports whether anything is supposed.
func (s *Suppositions) Any() bool {
	return len(s.add)+len(s.without)+len(s.scale)+len(s.soldOut)+len(s.price) > 0
}

// Suppose makes the World of what was read as the user supposes it to be, given
// the World that it is.
func (i *Input) Suppose(s *Suppositions, w *world.World, in io.Reader, progress io.Writer) (*world.World, error) {
	changes, err := suppose.Read(suppose.Texts{Scale: s.scale, SoldOut: s.soldOut, Price: s.price, Without: s.without}, func(kind string) string { return "--" + kind })
	if err != nil {
		return nil, verb.BadInput(err)
	}
	if len(s.add) > 0 {
		more, err := objectsOf(s.add, in, progress)
		if err == nil {
			w, err = i.with(w, more)
		}
		if err != nil {
			return nil, verb.BadInput(fmt.Errorf("--add: %w", err))
		}
	}
	w, err = suppose.Apply(w, changes...)
	return w, verb.BadInput(err)
}

// with makes the World in which more objects are there, in the place of those
// of the same kind and name.
func (i *Input) with(w *world.World, more []object) (*world.World, error) {
	if slices.ContainsFunc(more, func(o object) bool { _, kept := o.v.(replay); return kept }) {
		return nil, fmt.Errorf("%s: a kept world cannot be added to another", more[0].from.where())
	}
	if kept, _ := i.kept(); kept != nil {
		return i.onto(w, more)
	}
	added := map[string]bool{"": false}
	for _, o := range more {
		if id := o.id(); id != "" {
			added[id] = true
		}
	}
	next := *i
	next.objects = append(slices.DeleteFunc(slices.Clone(i.objects), func(o object) bool { return added[o.id()] }), more...)
	return next.World(w.At())
}

// onto adds objects to a World of which only the values are there. A pool buys
// from the catalogue of its class if there is one, and else from the bundled one.
func (i *Input) onto(w *world.World, more []object) (*world.World, error) {
	b := w.Edit()
	in, err := load(b, more, nil) // which devices nodes have for other claims the World does not say
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, n := range w.Namespaces() {
		known[n.Name] = true
	}
	if err := in.imply(known); err != nil {
		return nil, err
	}
	for _, p := range in.pools {
		if w.Catalog(p.Template) == nil {
			p.Template = template
			if err := b.SetCatalog(i.shapes); err != nil {
				return nil, err
			}
		}
		if err := b.SetPool(p); err != nil {
			return nil, err
		}
	}
	return i.lay(b.Snapshot(w.At()), in)
}

// lay lays overlays that are added over what pools of a World buy from. Those that the controller has laid already are
// laid again with them, for one overlay may outweigh another: they have to be known.
func (i *Input) lay(w *world.World, added *input) (*world.World, error) {
	var views []observe.View
	var laid []world.TemplateID
	for _, p := range w.Pools() {
		if c := w.Catalog(p.Template); c != nil {
			views = append(views, observe.View{Pool: *p, Catalog: *c})
		}
		if own := p.Template.For(p.ID); w.Catalog(own) != nil {
			laid = append(laid, own)
		}
	}
	if len(added.overlays) == 0 && (len(laid) == 0 || len(added.pools) == 0 || i.overlays == nil) {
		return w, nil
	}
	overlays := added.overlays
	if len(laid) > 0 {
		if i.overlays == nil {
			return nil, fmt.Errorf("NodeOverlay %q cannot be added to this world: other NodeOverlays have made its prices, and it does not say which; give --price", added.overlays[0].Name)
		}
		present, err := i.overlays()
		if err != nil {
			return nil, fmt.Errorf("the NodeOverlays of the cluster count as well, and cannot be read: %w", err)
		}
		for _, o := range present {
			if !slices.ContainsFunc(added.overlays, func(n observe.Overlay) bool { return n.Name == o.Name }) {
				overlays = append(overlays, o)
			}
		}
	}
	b := w.Edit()
	for _, id := range laid {
		b.DeleteCatalog(id)
	}
	against, err := setLaid(b, views, overlays)
	if err != nil {
		return nil, err
	}
	i.Notes = append(i.Notes, against...)
	if len(added.overlays) > 0 && len(laid) == 0 {
		i.Notes = append(i.Notes, "NodeOverlays are supposed to count: a controller follows them while its feature gate NodeOverlay is open")
	}
	return b.Snapshot(w.At()), nil
}
