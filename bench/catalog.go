package main

import (
	"github.com/tenon-sh/tenon/bench/market"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// The form of a catalogue file, tenon-catalog/v1.
type (
	catalogFile struct {
		Format   string         `json:"format"`
		Region   string         `json:"region"`
		Zones    []string       `json:"zones"`
		Currency string         `json:"currency"`
		Types    []instanceType `json:"instanceTypes"`
	}
	instanceType struct {
		Name      string            `json:"name"`
		Arch      string            `json:"arch"`
		OS        []string          `json:"os"`
		Capacity  map[string]string `json:"capacity"`
		Overhead  map[string]string `json:"overhead"`
		Labels    map[string]string `json:"labels"`
		Offerings []offering        `json:"offerings"`
	}
	offering struct {
		Zone         string  `json:"zone"`
		CapacityType string  `json:"capacityType"`
		Price        float64 `json:"price"`
		Synthetic    bool    `json:"synthetic,omitempty"`
	}
)

// file puts a catalogue into that form.
func file(c world.Catalog) catalogFile {
	out := catalogFile{Format: "tenon-catalog/v1", Region: c.Region, Zones: market.Zones(), Currency: "USD/h"}
	for _, s := range c.Shapes {
		t := instanceType{Name: s.Name, Capacity: s.Capacity.Map(), Overhead: s.Overhead.Map(), Labels: map[string]string{}}
		for _, r := range s.Labels {
			switch r.Key {
			case label.Arch:
				t.Arch = r.Values[0]
			case label.OS:
				t.OS = r.Values
			case label.InstanceType, label.Zone, label.CapacityType, label.Region:
			default:
				if len(r.Values) == 1 && !r.Not {
					t.Labels[r.Key] = r.Values[0]
				}
			}
		}
		for _, o := range s.Offers {
			t.Offerings = append(t.Offerings, offering{o.Zone, o.CapacityType, float64(o.Price) / 1e6, o.Synthetic})
		}
		out.Types = append(out.Types, t)
	}
	return out
}
