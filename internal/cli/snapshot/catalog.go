package snapshot

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// catalogFormat names the form of a catalogue file.
const catalogFormat = "tenon-catalog/v1"

// catalogFile is a catalogue as other programs write it.
type catalogFile struct {
	Format        string         `json:"format"`
	Region        string         `json:"region"`
	Zones         []string       `json:"zones"`
	Currency      string         `json:"currency"`
	InstanceTypes []catalogShape `json:"instanceTypes"`
}

type catalogShape struct {
	Name      string            `json:"name"`
	Arch      string            `json:"arch"`
	OS        []string          `json:"os"`
	Capacity  map[string]string `json:"capacity"`
	Overhead  map[string]string `json:"overhead"`
	Labels    map[string]string `json:"labels"`
	Offerings []catalogOffer    `json:"offerings"`
}

type catalogOffer struct {
	Zone         string      `json:"zone"`
	CapacityType string      `json:"capacityType"`
	Price        json.Number `json:"price"`
	Available    *bool       `json:"available"`
	Synthetic    bool        `json:"synthetic"`
	Reservation  *struct {
		ID    string `json:"id"`
		Count int    `json:"count"`
	} `json:"reservation"`
}

// readCatalog reads a catalogue file as what machines of template t can be.
func readCatalog(path string, t world.TemplateID) (world.Catalog, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return world.Catalog{}, fmt.Errorf("read catalogue: %w", err)
	}
	var f catalogFile
	if err := json.Unmarshal(data, &f); err != nil {
		return world.Catalog{}, fmt.Errorf("read catalogue %s: it is not JSON of the format %s: %w", path, catalogFormat, err)
	}
	if f.Format != catalogFormat {
		return world.Catalog{}, fmt.Errorf("read catalogue %s: format is %q, want %q", path, f.Format, catalogFormat)
	}
	c := world.Catalog{Template: t, Version: catalogFormat, Region: f.Region, Currency: f.Currency}
	if c.Currency == "USD/h" {
		c.Currency = ""
	}
	at := map[string]int{}
	for i, s := range f.InstanceTypes {
		if strings.ContainsFunc(s.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return world.Catalog{}, fmt.Errorf("read catalogue %s: instanceTypes[%d]: name %q has characters that cannot be shown", path, i, s.Name)
		}
		if first, twice := at[s.Name]; twice {
			return world.Catalog{}, fmt.Errorf("read catalogue %s: instanceTypes[%d] (%s) has the name of instanceTypes[%d]", path, i, s.Name, first)
		}
		at[s.Name] = i
		shape, err := s.shape(f.Region)
		if err != nil {
			return world.Catalog{}, fmt.Errorf("read catalogue %s: instanceTypes[%d] (%s): %w", path, i, s.Name, err)
		}
		c.Shapes = append(c.Shapes, shape)
	}
	closeLabels(c.Shapes)
	return c, nil
}

func (s catalogShape) shape(region string) (world.Shape, error) {
	out := world.Shape{Name: s.Name}
	var err error
	if out.Capacity, err = amount.ParseMap(s.Capacity); err != nil {
		return out, fmt.Errorf("capacity: %w", err)
	}
	if out.Overhead, err = amount.ParseMap(s.Overhead); err != nil {
		return out, fmt.Errorf("overhead: %w", err)
	}
	var zones, kinds []string
	for i, o := range s.Offerings {
		offer, err := o.offer()
		if err != nil {
			return out, fmt.Errorf("offerings[%d]: %w", i, err)
		}
		out.Offers = append(out.Offers, offer)
		zones, kinds = append(zones, o.Zone), append(kinds, o.CapacityType)
	}
	os := s.OS
	if len(os) == 0 {
		os = []string{"linux"}
	}
	labels := label.Exactly(s.Labels).Meet(label.SetOf(
		label.Is(label.InstanceType, s.Name), label.Is(label.Arch, s.Arch), label.Is(label.OS, os...),
		label.Is(label.Zone, zones...), label.Is(label.CapacityType, kinds...),
	))
	if region != "" {
		labels = labels.And(label.Is(label.Region, region))
	}
	out.Labels = labels
	return out, nil
}

func (o catalogOffer) offer() (world.Offer, error) {
	price, ok := money.Parse(o.Price.String())
	if !ok {
		return world.Offer{}, fmt.Errorf("price is %q, want a number of the currency an hour from 0 to 1,000,000", o.Price)
	}
	if !slices.Contains([]string{label.OnDemand, label.Spot, label.Reserved}, o.CapacityType) {
		return world.Offer{}, fmt.Errorf("capacityType is %q, want on-demand, spot or reserved", o.CapacityType)
	}
	out := world.Offer{
		Zone: o.Zone, CapacityType: o.CapacityType, Synthetic: o.Synthetic,
		Price: price, Gone: o.Available != nil && !*o.Available,
	}
	if o.Reservation != nil {
		out.Reservation, out.Count = o.Reservation.ID, o.Reservation.Count
	}
	return out, nil
}

// closeLabels says of every label that some shape has, and another does not,
// that the other can never have it.
func closeLabels(shapes []world.Shape) {
	var keys []string
	for _, s := range shapes {
		for _, r := range s.Labels {
			keys = append(keys, r.Key)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for i := range shapes {
		for _, k := range keys {
			if _, ok := shapes[i].Labels.Find(k); !ok {
				shapes[i].Labels = shapes[i].Labels.And(label.Requirement{Key: k})
			}
		}
	}
}
