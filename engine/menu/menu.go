// Package menu writes planned machines as machines to be asked for: the shapes that would do, cheapest first, with zones, requirements and labels.
package menu

import (
	"cmp"
	"math"
	"slices"

	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
)

// maxMenuSize is the length of a menu that the cloud accepts.
const maxMenuSize = 60

// Writer writes planned machines as machines to be bought.
type Writer struct {
	*packing.Packing
	items []item // of the menu that is being written
}

// menu lists the shapes among the hosts, cheapest first, as many as are taken.
func (k *Writer) menu(b *packing.Bin, hosts market.Set, a *plan.Ask) []plan.Choice {
	p := k.Market.Offers[b.Offer].Type.Pool
	menu := k.fromHosts(p, hosts)
	if n := wantedItems(menu); n < len(menu) || !p.HasMinValues {
		menu = withPlanned(k.shorten(p, menu, n), k.planned(b, hosts))
	}
	out := make([]plan.Choice, len(menu))
	for i, d := range menu {
		out[i] = plan.Choice{Shape: d.machine.Shape.Name, Price: d.pays}
	}
	if p.HasMinValues {
		a.Relaxed = len(k.Market.Lacking(p, k.offersOf(menu, hosts))) > 0
	}
	return out
}

// fromHosts lists the shapes among the hosts, cheapest first, without those that cost more than any menu takes, unless minValues may want them.
func (k *Writer) fromHosts(p *market.Pool, hosts market.Set) []item {
	menu, least := k.items[:0], money.Micro(math.MaxInt64)
	for _, t := range p.ByPrice {
		if !p.HasMinValues && len(menu) > 0 && t.Least > least.Part(mostPercent, 100) {
			break
		}
		if d, sold := k.item(t, hosts); sold {
			menu, least = append(menu, d), min(least, d.price)
		}
	}
	slices.SortFunc(menu, cheaper) // zones may differ in price
	k.items = menu
	return menu
}

// item is the shape of a type at the prices of its cheapest offer among the hosts; not sold if it has none there.
func (k *Writer) item(t *market.Type, hosts market.Set) (d item, sold bool) {
	if !hosts.Between(t.From, t.To) {
		return item{}, false
	}
	for i := t.From; i < t.To; i++ {
		if o := &k.Market.Offers[i]; hosts.Has(i) && (d.machine == nil || o.Expected < d.price) {
			d = item{t, o.Expected, o.Pays}
		}
	}
	return d, true
}

// planned is the item of the shape that the bin was planned as.
func (k *Writer) planned(b *packing.Bin, hosts market.Set) item {
	t := k.Market.Offers[b.Offer].Type
	at := slices.IndexFunc(t.Pool.ByPrice, func(o *market.Type) bool { return o.From == t.From })
	d, _ := k.item(t.Pool.ByPrice[at], hosts)
	return d
}

// withPlanned is the menu with the planned item, however much others cost less.
func withPlanned(menu []item, planned item) []item {
	if slices.Contains(menu, planned) {
		return menu
	}
	menu = append(slices.Clone(menu[:min(len(menu), maxMenuSize-1)]), planned)
	slices.SortFunc(menu, cheaper)
	return menu
}

// item is a shape on a menu at the prices of its cheapest offer there.
type item struct {
	machine     *market.Type
	price, pays money.Micro
}

func cheaper(a, b item) int {
	return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.machine.Rank, b.machine.Rank))
}

// offersOf are the hosts that the menu names.
func (k *Writer) offersOf(menu []item, hosts market.Set) market.Set {
	out := market.NewSet(len(k.Market.Offers))
	for _, d := range menu {
		for i := d.machine.From; i < d.machine.To; i++ {
			if hosts.Has(i) {
				out.Add(i)
			}
		}
	}
	return out
}

// A menu needs so many shapes that one of them is always available, and none that costs much more: it takes what
// is within the first of these percentages of the cheapest, then the next, until it has enough.
const (
	wantedMenuSize = 15
	mostPercent    = 300
)

// wantedItems is how many of the cheapest items are wanted.
func wantedItems(menu []item) int {
	n := 0
	for _, percent := range []int64{115, 130, 150, 200, mostPercent} {
		for n < len(menu) && menu[n].price <= menu[0].price.Part(percent, 100) {
			n++
		}
		if n >= wantedMenuSize {
			return min(n, maxMenuSize)
		}
	}
	return n
}

// shorten cuts the menu to n items: the cheapest, but first for every
// requirement with minValues the cheapest of as many values as it wants.
func (k *Writer) shorten(p *market.Pool, menu []item, n int) []item {
	if !p.HasMinValues {
		return menu[:n]
	}
	var head, rest []item
	wanted := map[string][]string{}
	for _, d := range menu {
		fresh := false
		for _, r := range p.Requirements {
			seen := wanted[r.Key]
			if len(seen) >= r.Least {
				continue
			}
			for _, v := range k.Market.Values(d.machine.First, r.Key) {
				if r.Has(v) && !slices.Contains(seen, v) {
					wanted[r.Key] = append(wanted[r.Key], v)
					fresh = true
				}
			}
		}
		if fresh {
			head = append(head, d)
		} else {
			rest = append(rest, d)
		}
	}
	out := append(head, rest...)[:min(max(n, len(head)), maxMenuSize)]
	slices.SortFunc(out, cheaper)
	return out
}
