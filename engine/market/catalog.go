package market

import (
	"maps"
	"slices"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// A pool may leave a label open to a few values of its own, by which pods are counted: racks that it makes up, or the shares of spot
// and on-demand. Its offers are cut by it then: each is one for every value, and nodes of these lie in different domains.

// maxCuts is into how many an offer is cut at most. Labels that would make more stay open, and pods that are counted by them find no domain.
const maxCuts = 32

// countedLabels are the labels by which pods are counted that may be put on machines, or that keep these away.
func countedLabels(w *world.World, pods []*world.Pod) map[string]bool {
	out := map[string]bool{}
	for _, p := range pods {
		for i := range p.Spread {
			out[p.Spread[i].Key] = true
		}
		for i := range p.PodTerms {
			out[p.PodTerms[i].Key] = true
		}
	}
	for _, place := range w.Places() {
		for _, t := range place.AntiAffinity() {
			out[t.Key] = true
		}
	}
	return out
}

// shelves know what catalogues say of labels.
type shelves struct {
	world   *world.World
	pods    []*world.Pod // nil: none is counted
	known   map[*world.Catalog]knowledge
	counted map[string]bool // labels by which pods are counted; looked for when a pool has some that are open
}

// of is what the pool's catalogue says of labels, once it is cut.
func (s *shelves) of(p *Pool) knowledge {
	by := choices(p.Pool, s.learned(p.Catalog).keys)
	if len(by) > 0 && s.pods != nil {
		if s.counted == nil {
			s.counted = countedLabels(s.world, s.pods)
		}
		p.cut(slices.DeleteFunc(by, func(r label.Requirement) bool { return !s.counted[r.Key] }))
	}
	return s.learned(p.Catalog)
}

func (s *shelves) learned(c *world.Catalog) knowledge {
	k, known := s.known[c]
	if !known {
		k = learn(c)
		s.known[c] = k
	}
	return k
}

// choices are the pool's requirements that leave a label of its own open to several values.
func choices(p *world.Pool, known map[string]bool) label.Set {
	var out label.Set
	for _, r := range p.Requirements {
		if _, fixed := p.Labels[r.Key]; !fixed && !known[r.Key] && r.Op() == label.In && len(r.Values) > 1 && r.Least <= 1 && r.Key != label.InstanceType && r.Key != label.Hostname {
			out = append(out, r)
		}
	}
	return out
}

// cut cuts what the pool may buy by labels that it leaves open.
func (p *Pool) cut(by label.Set) {
	cuts := []map[string]string{nil}
	for _, r := range by {
		if len(cuts)*len(r.Values) > maxCuts {
			continue
		}
		var more []map[string]string
		for _, labels := range cuts {
			for _, v := range r.Values {
				with := maps.Clone(labels)
				if with == nil {
					with = map[string]string{}
				}
				with[r.Key] = v
				more = append(more, with)
			}
		}
		cuts, p.Cut = more, append(p.Cut, r.Key)
	}
	if len(p.Cut) == 0 {
		return
	}
	catalog := *p.Catalog
	catalog.Shapes = slices.Clone(catalog.Shapes)
	for i := range catalog.Shapes {
		s := &catalog.Shapes[i]
		whole := s.Offers
		s.Offers = make([]world.Offer, 0, len(whole)*len(cuts))
		for _, o := range whole {
			own := o.Labels
			for _, labels := range cuts {
				o.Labels = maps.Clone(labels)
				maps.Copy(o.Labels, own)
				s.Offers = append(s.Offers, o)
			}
		}
	}
	p.Catalog = &catalog
}

// knowledge is what a catalogue says of labels.
type knowledge struct {
	keys     map[string]bool // that some shape, or some offer, defines
	offering []string        // those that offers add
}

// learn notes which labels the catalogue defines.
func learn(c *world.Catalog) knowledge {
	k := knowledge{keys: map[string]bool{label.Zone: true, label.CapacityType: true, label.Region: true}}
	var last label.Set
	for i := range c.Shapes {
		shape := &c.Shapes[i]
		for i, r := range shape.Labels {
			if i >= len(last) || last[i].Key != r.Key { // most shapes have the same labels
				k.keys[r.Key] = true
			}
		}
		last = shape.Labels
		for j := range shape.Offers {
			k.offering = learned(k.offering, shape.Offers[j].Labels)
		}
	}
	for _, key := range k.offering {
		k.keys[key] = true
	}
	return k
}

// learned returns the keys with those of the labels. Most offers have the same.
func learned(keys []string, labels map[string]string) []string {
	found := 0
	for _, key := range keys {
		if _, ok := labels[key]; ok {
			found++
		}
	}
	if found == len(labels) {
		return keys
	}
	for key := range labels {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}
