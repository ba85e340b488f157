package picture

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
	changes, err := s.changes()
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
	in, err := load(b, more)
	if err != nil {
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

// changes reads the flags, in the order in which they make sense together.
func (s *Suppositions) changes() ([]suppose.Change, error) {
	var out []suppose.Change
	for _, kind := range []struct {
		flag  string
		texts []string
		read  func(string) (suppose.Change, error)
	}{
		{"--scale", s.scale, readScale}, {"--sold-out", s.soldOut, readSoldOut}, {"--price", s.price, readPrice}, {"--without", s.without, readWithout},
	} {
		for _, text := range kind.texts {
			change, err := kind.read(text)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", kind.flag, text, err)
			}
			out = append(out, change)
		}
	}
	return out, nil
}

func readWithout(text string) (suppose.Change, error) {
	kind, name, _ := strings.Cut(text, "/")
	switch strings.ToLower(kind) {
	case "node", "nodeclaim":
		return suppose.WithoutNode(name), nil
	case "nodepool":
		return suppose.WithoutPool(world.PoolID{Kind: world.NodePool, Name: name}), nil
	case "provisioner":
		return suppose.WithoutPool(world.PoolID{Kind: world.Provisioner, Name: name}), nil
	}
	return nil, fmt.Errorf("want node/NAME, nodeclaim/NAME, nodepool/NAME or provisioner/NAME")
}

func readScale(text string) (suppose.Change, error) {
	what, number, _ := strings.Cut(text, "=")
	parts := strings.Split(what, "/")
	if len(parts) == 2 {
		parts = []string{parts[0], "default", parts[1]}
	}
	n, err := strconv.Atoi(number)
	if len(parts) != 3 || err != nil || n < 0 || n > 1_000_000 {
		return nil, fmt.Errorf("want deployment/NAMESPACE/NAME=N, or deployment/NAME=N for the namespace default, with N from 0 to 1000000")
	}
	kind, known := scaled()[strings.ToLower(parts[0])]
	if !known {
		return nil, fmt.Errorf("a %q cannot be scaled here: want a deployment (deploy), statefulset (sts) or replicaset (rs)", parts[0])
	}
	return suppose.Scale(suppose.Workload{Kind: kind, Namespace: parts[1], Name: parts[2]}, n), nil
}

// scaled are the kinds that can be scaled, by every name that kubectl has for them.
func scaled() map[string]string {
	out := map[string]string{}
	for kind, short := range map[string]string{"deployment": "deploy", "statefulset": "sts", "replicaset": "rs"} {
		for _, name := range []string{kind, kind + "s", kind + ".apps", kind + "s.apps", short} {
			out[name] = kind
		}
	}
	return out
}

func readSoldOut(text string) (suppose.Change, error) {
	o, err := readOffers(text)
	return suppose.SoldOut(o), err
}

func readPrice(text string) (suppose.Change, error) {
	what, number, _ := strings.Cut(text, "=")
	price, err := strconv.ParseFloat(number, 64)
	if err != nil || !(price >= 0 && price <= 1e6) {
		return nil, fmt.Errorf("want TYPE[,ZONE[,CAPACITY-TYPE]]=PRICE with a price from 0 to 1,000,000 an hour")
	}
	o, err := readOffers(what)
	return suppose.Price(o, int64(math.Round(price*1e6))), err
}

func readOffers(text string) (suppose.Offers, error) {
	parts := strings.Split(text, ",")
	if len(parts) > 3 || parts[0] == "" {
		return suppose.Offers{}, fmt.Errorf("want TYPE[,ZONE[,CAPACITY-TYPE]]")
	}
	parts = append(parts, "", "")
	return suppose.Offers{Shape: parts[0], Zone: parts[1], CapacityType: parts[2]}, nil
}
