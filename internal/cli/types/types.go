// Package types is the verb `tenon types`: what each EC2 instance type gives to pods, and what it costs where.
package types

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

const wide = "wide"

// defaultRegion is the region where none is named.
const defaultRegion = "us-east-1"

// options are the flags.
type options struct {
	region string
	family string
	all    bool
	sort   string
	filter filter
}

// Command is the verb.
func Command() *cobra.Command {
	o := options{region: defaultRegion, family: types.AL2023, sort: "name"}
	cmd := &cobra.Command{
		Use:   "types [name…]",
		Short: "List EC2 instance types: what they give to pods, what they cost where",
		Long: `List EC2 instance types from the bundled catalogue, without a cluster or an
account: capacity, what is left of it for pods, labels, zones and prices, as they
are for a node class that sets nothing.

Names may hold asterisks: tenon types 'c5.*' 'm7g.?large'.

JSON holds every type that passes the filters; one that is not offered in the
region has no offerings. Text leaves those out unless --all is given. Prices
marked ~ (synthetic in JSON) are made up from others and were not observed.

Regions:
  af-south-1 ap-east-1 ap-northeast-1 ap-northeast-2 ap-northeast-3 ap-south-1
  ap-south-2 ap-southeast-1 ap-southeast-2 ap-southeast-3 ap-southeast-4
  ap-southeast-5 ca-central-1 ca-west-1 cn-north-1 cn-northwest-1 eu-central-1
  eu-central-2 eu-north-1 eu-south-1 eu-south-2 eu-west-1 eu-west-2 eu-west-3
  il-central-1 me-central-1 me-south-1 sa-east-1 us-east-1 us-east-2
  us-gov-east-1 us-gov-west-1 us-west-1 us-west-2`,
		Example: `  tenon types --min-cpu 4 --max-memory 16Gi --sort price
  tenon types --region eu-west-1 --family m7g -o wide
  tenon types 'p5.*' -o json`,
		Args: cobra.ArbitraryArgs,
	}
	format := verb.FormatFlag(cmd, verb.Text, wide, verb.JSON)
	f := cmd.Flags()
	f.StringVar(&o.region, "region", o.region, "region whose offers and prices to show")
	f.StringVar(&o.family, "ami-family", o.family, "family of images the nodes boot")
	f.BoolVar(&o.all, "all", false, "in text, show types too that cannot be had in the region")
	f.StringVar(&o.sort, "sort", o.sort, "order of the list: name, price, cpu or memory")
	o.filter.flags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		list, err := o.list(args)
		if err != nil {
			return err
		}
		if format.Is(verb.JSON) {
			return verb.WriteJSON(cmd.OutOrStdout(), answers(list))
		}
		return list.print(cmd.OutOrStdout(), o.all, format.Is(wide))
	}
	return cmd
}

// item is one type with what is known of it here.
type item struct {
	*catalog.Type
	shape world.Shape
	unfit string // why nodes of it cannot be had with this class
}

// list is what passed the filters.
type list struct {
	items    []item
	region   string
	currency string
}

func (o *options) list(names []string) (list, error) {
	accept, err := o.filter.compile(names)
	if err != nil {
		return list{}, verb.BadInput(err)
	}
	order, err := orderBy(o.sort)
	if err != nil {
		return list{}, err
	}
	settings := types.Default(o.region)
	if !slices.Contains(types.Families(), o.family) {
		return list{}, verb.BadInputf("--ami-family %q is none of %v", o.family, types.Families())
	}
	settings.Class.Family = o.family
	c, err := catalog.Load()
	if err != nil {
		return list{}, err
	}
	region, err := c.Region(o.region)
	if err != nil {
		return list{}, verb.BadInputf("--region: %w", err)
	}
	if err := slips(names, c.Types()); err != nil {
		return list{}, verb.BadInput(err)
	}
	out := list{region: region.Name, currency: region.Currency}
	for i := range c.Types() {
		t := &c.Types()[i]
		if t.Arch == "" {
			continue // Kubernetes does not run on it
		}
		it := item{Type: t, unfit: types.Unfit(t, settings)}
		it.shape = types.Sell(types.Shape(t, settings), slices.DeleteFunc(types.Offers(region, t), func(o world.Offer) bool { return o.Unpriced }))
		if accept(it) {
			out.items = append(out.items, it)
		}
	}
	slices.SortStableFunc(out.items, order)
	return out, nil
}

// slips finds a name or pattern of which EC2 has no type: to say that it cannot be
// had in the region, or to list what the others name, would be to say that it exists.
func slips(names []string, all []catalog.Type) error {
	var known []string
	for i := range all {
		known = append(known, all[i].Name)
	}
	for _, name := range names {
		if slices.ContainsFunc(known, func(k string) bool { ok, _ := path.Match(name, k); return ok }) {
			continue
		}
		if strings.ContainsAny(name, "*?[") {
			return fmt.Errorf("no instance type is called %q", name)
		}
		if meant := label.Meant(name, known); meant != "" {
			return fmt.Errorf("there is no instance type %q: did you mean %q?", name, meant)
		}
		return fmt.Errorf("there is no instance type %q; a name may hold asterisks, as in 'm5.*'", name)
	}
	return nil
}

// orderBy returns how to sort. Types of one family stand together, by size.
func orderBy(what string) (func(a, b item) int, error) {
	byName := func(a, b item) int {
		return cmp.Or(cmp.Compare(a.Family, b.Family), cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.Name, b.Name))
	}
	switch what {
	case "name":
		return byName, nil
	case "cpu":
		return func(a, b item) int { return cmp.Or(cmp.Compare(a.VCPUs, b.VCPUs), byName(a, b)) }, nil
	case "memory":
		return func(a, b item) int { return cmp.Or(cmp.Compare(a.MemoryMiB, b.MemoryMiB), byName(a, b)) }, nil
	case "price":
		return func(a, b item) int { return cmp.Or(comparePrice(a.cheapest(), b.cheapest()), byName(a, b)) }, nil
	}
	return nil, verb.BadInputf("--sort %q is none of name, price, cpu, memory", what)
}

// comparePrice puts what has no price last.
func comparePrice(a, b money.Micro) int {
	if (a == 0) != (b == 0) {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

// cheapest is the lowest price of any offer; 0 if there is none.
func (it item) cheapest() money.Micro {
	var low money.Micro
	for _, o := range it.shape.Offers {
		if low == 0 || o.Price < low {
			low = o.Price
		}
	}
	return low
}

// answer is one type in JSON.
type answer struct {
	Name        string            `json:"name"`
	Capacity    map[string]string `json:"capacity"`
	Overhead    map[string]string `json:"overhead"`
	Allocatable map[string]string `json:"allocatable"`
	Labels      map[string]string `json:"labels"` // those whose value is settled before a zone is chosen
	Unfit       string            `json:"unfit,omitempty"`
	Currency    string            `json:"currency"`
	Offerings   []offering        `json:"offerings"`
}

type offering struct {
	Zone         string  `json:"zone"`
	ZoneID       string  `json:"zoneId"`
	CapacityType string  `json:"capacityType"`
	Price        float64 `json:"price"`
	Synthetic    bool    `json:"synthetic"`
	Available    bool    `json:"available"`
}

func answers(l list) []answer {
	out := make([]answer, 0, len(l.items))
	for _, it := range l.items {
		a := answer{
			Name: it.Name, Capacity: it.shape.Capacity.Map(), Overhead: it.shape.Overhead.Map(), Allocatable: it.shape.Allocatable().Map(),
			Labels: map[string]string{}, Unfit: it.unfit, Currency: l.currency, Offerings: []offering{},
		}
		for _, r := range it.shape.Labels {
			if len(r.Values) == 1 {
				a.Labels[r.Key] = r.Values[0]
			}
		}
		for _, o := range it.shape.Offers {
			a.Offerings = append(a.Offerings, offering{
				Zone: o.Zone, ZoneID: o.Labels[awsv1.LabelZoneID], CapacityType: o.CapacityType,
				Price: o.Price.Units(), Synthetic: o.Synthetic, Available: it.unfit == "",
			})
		}
		out = append(out, a)
	}
	return out
}
