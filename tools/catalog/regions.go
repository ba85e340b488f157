package main

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/internal/catalog"
)

// reference is the region whose prices stand in where a region has none of its own.
const reference = "us-east-1"

// source is what the tables say, before it is put together.
type source struct {
	types    []catalog.Type
	sheets   map[string]*catalog.Sheet
	onDemand map[string]map[string]catalog.Price // region, type
	currency map[string]string                   // region
	share    map[string]map[string]int64         // region/type, zone letter: thousandths of on-demand
	base     map[string]float64                  // type in the reference region: share before zones differ
	sampled  map[string]catalog.Price            // type/zone id: observed
}

// readRegions reads where types are offered and what they cost.
func readRegions(from string, types []catalog.Type) ([]catalog.Sheet, error) {
	s := source{
		types: types, sheets: map[string]*catalog.Sheet{}, onDemand: map[string]map[string]catalog.Price{}, currency: map[string]string{},
		share: map[string]map[string]int64{}, base: map[string]float64{}, sampled: map[string]catalog.Price{},
	}
	for _, table := range []struct {
		name string
		each func(row)
	}{
		{"zones.csv", s.zone},
		{"ondemand-table.csv", s.price(false)},
		{"ondemand-derived-SYNTHETIC.csv", s.price(true)},
		{"spot-synthetic.csv", s.spotShares},
		{"spot-sample-real.csv", s.spotSample},
		{"offerings.csv", s.offering},
	} {
		if err := readTable(from, table.name, table.each); err != nil {
			return nil, err
		}
	}
	var out []catalog.Sheet
	for _, sheet := range s.sheets {
		s.finish(sheet)
		out = append(out, *sheet)
	}
	return out, nil
}

func (s *source) zone(r row) {
	region, name := r.text("region"), r.text("zone")
	sheet := s.sheets[region]
	if sheet == nil {
		sheet = &catalog.Sheet{Name: region, Currency: "USD", Offers: map[string]catalog.Offer{}}
		s.sheets[region] = sheet
	}
	id := r.text("zone_id_by_set_equality")
	if id == "" || strings.Contains(id, "|") {
		id = r.text("zone_id_in_moto")
	}
	sheet.Zones = append(sheet.Zones, catalog.Zone{Name: name, ID: id})
}

func (s *source) price(synthetic bool) func(row) {
	return func(r row) {
		region := r.text("region")
		if s.onDemand[region] == nil {
			s.onDemand[region] = map[string]catalog.Price{}
		}
		s.currency[region] = r.text("currency")
		s.onDemand[region][r.text("type")] = catalog.Price{Micro: r.price("price"), Synthetic: synthetic}
	}
}

func (s *source) spotShares(r row) {
	region, typ := r.text("region"), r.text("type")
	if region == reference {
		s.base[typ] = float64(r.scaled("base_factor", 1000)) / 1000
	}
	shares := map[string]int64{}
	for _, cell := range r.list("zone_factors") {
		letter, factor, _ := strings.Cut(cell, ":")
		f, err := strconv.ParseFloat(factor, 64)
		if err != nil && *r.err == nil {
			*r.err = err
		}
		shares[letter] = int64(math.Round(f * 1000))
	}
	s.share[region+"/"+typ] = shares
}

func (s *source) spotSample(r row) {
	sheet := s.sheets[r.text("region")]
	for _, z := range sheet.Zones {
		if strings.HasSuffix(z.ID, "-"+r.text("zone_id_suffix")) {
			s.sampled[r.text("type")+"/"+z.Name] = catalog.Price{Micro: r.price("spot_usd")}
		}
	}
}

func (s *source) offering(r row) {
	region := r.text("region")
	var zones []string
	for _, letter := range r.list("zone_suffixes") {
		zones = append(zones, region+letter)
	}
	s.sheets[region].Offers[r.text("type")] = catalog.Offer{Zones: zones}
}

// finish adds prices to a region's offers, and offers where none are known.
func (s *source) finish(sheet *catalog.Sheet) {
	if c := s.currency[sheet.Name]; c != "" {
		sheet.Currency = c
	}
	if len(sheet.Offers) == 0 {
		sheet.Assumed = true
		var all []string
		for _, z := range sheet.Zones {
			all = append(all, z.Name)
		}
		for typ := range s.onDemand[sheet.Name] {
			sheet.Offers[typ] = catalog.Offer{Zones: all}
		}
	}
	for i := range s.types {
		t := &s.types[i]
		o, ok := sheet.Offers[t.Name]
		if !ok {
			continue
		}
		o.OnDemand = s.onDemandPrice(sheet.Name, t.Name)
		o.Spot = map[string]catalog.Price{}
		if t.Spot() && o.OnDemand.Micro > 0 {
			for _, zone := range o.Zones {
				o.Spot[zone] = s.spotPrice(sheet.Name, t, zone, o.OnDemand)
			}
		}
		sheet.Offers[t.Name] = o
	}
}

// onDemandPrice is the region's own, or where the region has no prices at all
// that of the reference region, which is then made up.
func (s *source) onDemandPrice(region, typ string) catalog.Price {
	if own, ok := s.onDemand[region]; ok {
		return own[typ]
	}
	p := s.onDemand[reference][typ]
	p.Synthetic = p.Micro > 0
	return p
}

func (s *source) spotPrice(region string, t *catalog.Type, zone string, onDemand catalog.Price) catalog.Price {
	if p, ok := s.sampled[t.Name+"/"+zone]; ok {
		return p
	}
	f, ok := s.share[region+"/"+t.Name][strings.TrimPrefix(zone, region)]
	if !ok {
		f = s.draw(t, zone)
	}
	if f == 0 {
		return catalog.Price{}
	}
	return catalog.Price{Micro: catalog.ShareOf(onDemand.Micro, f), Synthetic: true}
}

// draw makes up the thousandths of the on-demand price that spot costs in a
// zone: the reference region's usual share, spread over zones as in a sample
// of real ones.
func (s *source) draw(t *catalog.Type, zone string) int64 {
	base, ok := s.base[t.Name]
	if !ok {
		return 0
	}
	deviation := 0.18 * (0.7*normal(zone+"|"+t.Family) + 0.714*normal(zone+"|"+t.Name))
	return int64(math.Round(1000 * min(max(base*math.Exp(deviation), 0.10), 1)))
}

// normal is a nearly normal number of variance one that depends on s alone.
func normal(s string) float64 {
	sum := -1.5
	for k := range 3 {
		h := sha256.Sum256([]byte(s + "#" + strconv.Itoa(k)))
		sum += float64(binary.BigEndian.Uint64(h[:8])) / (1 << 64)
	}
	return 2 * sum
}
