package spread

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/spread/terms"
)

// Objections says what keeps a pod of the class from machine n.
func (l *Ledger) Objections(s *terms.PodInfo, n int, name string) []*reason.Why {
	return (&objections{l, s, l.on(n), name}).all()
}

// ObjectionsNew says what keeps a pod of the class from a machine that would be added.
func (l *Ledger) ObjectionsNew(s *terms.PodInfo, at *fit.Place) []*reason.Why {
	return (&objections{l, s, l.onNew(at), at.Name}).all()
}

// objections says what keeps pods of a class from a candidate.
type objections struct {
	*Ledger

	pod  *terms.PodInfo
	at   candidate
	name string // of the machine
}

func (o *objections) all() []*reason.Why {
	s, at := o.pod, o.at
	var out []*reason.Why
	for i := range s.Spread {
		if e := &s.Spread[i]; !o.spreadAllows(e, at) {
			out = append(out, &reason.Why{Code: reason.Spread, Subject: o.name, Detail: o.spreadText(e), About: o.about(e.Group)})
		}
	}
	for _, id := range s.AntiAffinity {
		if g := o.Group(id); o.antiAffinityCount(id, at, false) > 0 {
			out = append(out, &reason.Why{
				Code: reason.AntiAffinity, Subject: o.name,
				Detail: fmt.Sprintf("%s %s has pods with %s", o.TopologyKey(g.Key), at.value(g.Key), selectorText(g)),
				About:  o.about(id),
			})
		}
	}
	for _, id := range s.Shunned {
		if g := o.Group(id); o.antiAffinityCount(id, at, true) > 0 {
			out = append(out, &reason.Why{
				Code: reason.AntiAffinity, Subject: o.name,
				Detail: fmt.Sprintf("%s %s has pods that keep away from %s", o.TopologyKey(g.Key), at.value(g.Key), selectorText(g)),
				About:  o.about(id),
			})
		}
	}
	for _, groups := range [2][]int32{s.Unmade, s.Exclusive} {
		for _, id := range groups {
			if !o.hasVolume(id, at) {
				out = append(out, o.volumeWhy(o.Group(id)))
			}
		}
	}
	if s.Affinity != domain.None && !o.affinityAllows(s, at) {
		out = append(out, &reason.Why{Code: reason.Affinity, Subject: o.name, Detail: o.affinityText()})
	}
	return out
}

// about is the topology of a group, and the domain of it that the candidate is in, if any.
func (o *objections) about(id int32) reason.About {
	key := o.Group(id).Key
	about := reason.About{Key: o.TopologyKey(key)}
	if _, has := o.at.domain(key); has {
		about.Value = o.at.value(key)
	}
	return about
}

// maxDomainsShown is how many domains a text counts before it says how many more there are.
const maxDomainsShown = 25

// noLabel says that machines have no label of a topology key, and which well-known one may be meant.
func noLabel(key string) string {
	text := key + " is not a label there"
	last := func(k string) string { return k[strings.LastIndex(k, "/")+1:] }
	for _, known := range []string{label.Zone, label.Hostname, label.Region} {
		if key != known && (last(key) == last(known) || label.Near(known, key)) {
			return text + " (is " + known + " meant?)"
		}
	}
	return text
}

func (o *objections) spreadText(e *terms.Constraint) string {
	g := o.Group(e.Group)
	key := o.TopologyKey(g.Key)
	if _, has := o.at.domain(g.Key); !has {
		return noLabel(key)
	}
	d, _ := o.at.domain(g.Key)
	text := fmt.Sprintf("%s %s has %d, the least is %d, maxSkew %d", key, o.at.value(g.Key), g.Most(d), o.at.floor(g, e), e.MaxSkew)
	if e.MinDomains > 0 {
		text += fmt.Sprintf(", minDomains %d and %d known", e.MinDomains, g.Known)
	}
	return text + " (" + o.countsText(g) + ")"
}

// countsText writes the fullest and the emptiest domains first by name.
func (o *objections) countsText(g *terms.Group) string {
	var parts []string
	for d, n := range g.Nodes {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", o.DomainsOf(g.Key).Values[d], g.Counts.In(int32(d))))
		}
	}
	slices.SortFunc(parts, cmp.Compare[string])
	if n := len(parts); n > maxDomainsShown {
		return fmt.Sprintf("%s and %d others", strings.Join(parts[:maxDomainsShown], ", "), n-maxDomainsShown)
	}
	return strings.Join(parts, ", ")
}

func (o *objections) affinityText() string {
	g := o.Group(o.pod.Affinity)
	for i, k := range g.Keys {
		d, has := o.at.domain(k)
		switch {
		case !has:
			return noLabel(o.TopologyKey(k))
		case o.at.company(o.pod.Affinity, false) > 0: // whose keys all have some
		case g.Total == 0:
			return fmt.Sprintf("no pod with %s runs anywhere", selectorText(g))
		case g.ByKey[i].In(d) == 0:
			if o.at.value(k) == "" { // a new machine is the only one of its name
				return fmt.Sprintf("the pods with %s are on other nodes", selectorText(g))
			}
			return fmt.Sprintf("no pod with %s in %s %s", selectorText(g), o.TopologyKey(k), o.at.value(k))
		}
	}
	return ""
}

// volumeWhy says why a volume cannot be had on the candidate, and for a new machine what to do instead.
func (o *objections) volumeWhy(g *terms.Group) *reason.Why {
	why := &reason.Why{Code: reason.Volume, Subject: o.name}
	switch {
	case g.Claim:
		why.Code, why.Detail = reason.DeviceElsewhere, g.Volume+" is of one node, and another pod has it on "+o.seat(g)
	case g.OnePod:
		why.Detail = g.Volume + " is for one pod at a time (ReadWriteOncePod), and another has it on " + o.seat(g)
	case o.TopologyKey(g.Keys[0]) == label.Hostname:
		why.Detail = fmt.Sprintf("%s is for one node at a time (ReadWriteOnce), and another pod has it on %s", g.Volume, o.seat(g))
		if o.at.node == nil {
			why.Hint = "make room on " + o.seat(g) + ", or have pods share volumes that are ReadWriteMany"
		}
	default:
		why.Detail = fmt.Sprintf("%s will be in %s, where another pod that waits for it goes", g.Volume, o.seat(g))
	}
	return why
}

// seat names the domain in which the volume of a group is.
func (o *objections) seat(g *terms.Group) string {
	if d := g.ByKey[0].Least(); d != domain.None {
		return o.DomainsOf(g.Keys[0]).Values[d]
	}
	return ""
}

func selectorText(g *terms.Group) string {
	texts := make([]string, len(g.Terms))
	for i, t := range g.Terms {
		texts[i] = t.Selector.Set.String()
		if len(t.Selector.Set) == 0 {
			texts[i] = "any labels"
		}
	}
	return strings.Join(texts, " and ")
}
