package spread_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// model is kube-scheduler's rules about other pods, said as plainly as they can be: nothing is kept, all is counted again.
type model struct {
	places []*fit.Place
	on     [][]*world.Pod // the pods of each place
}

// allows reports whether a pod may go to a place.
func (m model) allows(p *world.Pod, n int) bool {
	for _, c := range p.Spread {
		if !m.spread(p, c, n) {
			return false
		}
	}
	affinity, matched, met := 0, false, true
	for _, t := range p.PodTerms {
		switch {
		case t.Anti && m.near(t, n) > 0:
			return false
		case !t.Anti:
			affinity++
			met = met && m.near(t, n) > 0
			if _, has := m.places[n].Labels[t.Key]; !has {
				return false
			}
			for i, pods := range m.on {
				_, counted := m.places[i].Labels[t.Key]
				for _, x := range pods {
					matched = matched || counted && t.Selector.Match(x.Labels)
				}
			}
		}
	}
	for at, pods := range m.on {
		for _, x := range pods {
			for _, t := range x.PodTerms {
				if here, has := m.places[n].Labels[t.Key]; t.Anti && has && m.places[at].Labels[t.Key] == here && t.Selector.Match(p.Labels) {
					return false
				}
			}
		}
	}
	return affinity == 0 || met || !matched && m.self(p)
}

// spread reports whether one more keeps the skew.
func (m model) spread(p *world.Pod, c world.Spread, n int) bool {
	here, has := m.places[n].Labels[c.Key]
	if !has {
		return false
	}
	count := map[string]int{}
	for i, at := range m.places {
		whole := true
		for _, o := range p.Spread { // a node counts if it has the keys of all constraints
			_, has := at.Labels[o.Key]
			whole = whole && has
		}
		if !whole {
			continue
		}
		d := at.Labels[c.Key]
		count[d] += 0
		for _, x := range m.on[i] {
			if c.Selector.Match(x.Labels) {
				count[d]++
			}
		}
	}
	least := 1 << 30
	for _, k := range count {
		least = min(least, k)
	}
	if len(count) < c.MinDomains {
		least = 0
	}
	own := 0
	if c.Selector.Match(p.Labels) {
		own = 1
	}
	return count[here]+own-least <= c.MaxSkew
}

// near counts the pods that a term selects in the domain of a place.
func (m model) near(t world.PodTerm, n int) (k int) {
	here, has := m.places[n].Labels[t.Key]
	for i, at := range m.places {
		if d, same := at.Labels[t.Key]; has && same && d == here {
			for _, x := range m.on[i] {
				if t.Selector.Match(x.Labels) {
					k++
				}
			}
		}
	}
	return k
}

// self reports whether the pod meets its own required affinity.
func (m model) self(p *world.Pod) bool {
	for _, t := range p.PodTerms {
		if !t.Anti && !t.Selector.Match(p.Labels) {
			return false
		}
	}
	return true
}

func drawPod(t *rapid.T, name string) *world.Pod {
	apps := []string{"x", "y", "z"}
	keys := []string{label.Zone, label.Hostname}
	p := &world.Pod{Key: world.Key{Namespace: "d", Name: name}, Labels: map[string]string{"app": rapid.SampledFrom(apps).Draw(t, "app")}}
	for range rapid.IntRange(0, 2).Draw(t, "constraints") {
		p.Spread = append(p.Spread, world.Spread{
			Key: rapid.SampledFrom(keys).Draw(t, "key"), MaxSkew: rapid.IntRange(1, 2).Draw(t, "skew"),
			MinDomains: rapid.SampledFrom([]int{0, 0, 3, 4}).Draw(t, "domains"), Selector: picks(rapid.SampledFrom(apps).Draw(t, "of")),
		})
	}
	affinity := false
	for range rapid.IntRange(0, 2).Draw(t, "terms") {
		anti := affinity || rapid.Bool().Draw(t, "anti")
		affinity = affinity || !anti
		p.PodTerms = append(p.PodTerms, world.PodTerm{Anti: anti, Key: rapid.SampledFrom(keys).Draw(t, "key"), Selector: picks(rapid.SampledFrom(apps).Draw(t, "with")), Namespaces: []string{"d"}})
	}
	return p
}

// The ledger allows what the rules of kube-scheduler allow, objects to all else, and answers of a machine that is to come as it does once it is there.
func TestLedgerIsTheModel(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		var pods []*world.Pod
		l := spread.New(nil)
		for i := range 3 {
			pods = append(pods, drawPod(t, fmt.Sprint("p", i)))
			l.Enlist(pods[i])
		}
		var m model
		for i := range rapid.IntRange(2, 5).Draw(t, "nodes") {
			name := fmt.Sprint("n", i)
			at := &fit.Place{Name: name, Labels: map[string]string{label.Hostname: name}}
			if z := rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "zone"); z != "" {
				at.Labels[label.Zone] = z
			}
			l.Enter(at)
			m.places, m.on = append(m.places, at), append(m.on, nil)
		}
		var infos []*terms.PodInfo
		for _, p := range pods {
			infos = append(infos, l.PodInfo(p))
		}
		for range rapid.IntRange(0, 12).Draw(t, "pods") {
			i, n := rapid.IntRange(0, 2).Draw(t, "pod"), rapid.IntRange(0, len(m.places)-1).Draw(t, "node")
			l.Put(infos[i], n)
			m.on[n] = append(m.on[n], pods[i])
		}
		check := func(when string) {
			for i, p := range pods {
				for n := range m.places {
					if got, want := l.Allows(infos[i], n), m.allows(p, n); got != want {
						t.Fatalf("%s: %s on n%d: allowed %t, by the rules %t", when, p.Name, n, got, want)
					}
					if got := l.Objections(infos[i], n, m.places[n].Name); len(got) == 0 != m.allows(p, n) {
						t.Fatalf("%s: %s on n%d: objections %v", when, p.Name, n, got)
					}
				}
			}
		}
		check("entered")
		next := &fit.Place{Name: "next", Labels: map[string]string{label.Hostname: "next", label.Zone: rapid.SampledFrom([]string{"a", "b", "d"}).Draw(t, "next")}}
		var before []bool
		for i := range pods {
			before = append(before, l.AllowsNew(infos[i], next))
			if got := l.ObjectionsNew(infos[i], next); len(got) == 0 != before[i] {
				t.Fatalf("%s on a new machine: allowed %t, objections %v", pods[i].Name, before[i], got)
			}
		}
		n := l.Enter(next)
		m.places, m.on = append(m.places, next), append(m.on, nil)
		check("grown")
		for i, p := range pods {
			if after := m.allows(p, n); after != before[i] {
				t.Fatalf("%s on a machine that is new: allowed %t before it was there, %t after", p.Name, before[i], after)
			}
		}
		l.Leave(n)
		m.places, m.on = m.places[:n], m.on[:n]
		check("left")
	})
}

// A gate is shut where a pod may not go; one that runs loses as much as it would have been told before; and what is
// said of a new machine for whole classes is what is allowed there.
func TestAdviceIsTheRules(t *testing.T) {
	chance.Check(t, func(t *rapid.T) {
		l := spread.New(nil)
		var pods []*world.Pod
		for i := range 3 {
			p := drawPod(t, fmt.Sprint("p", i))
			for j := range p.Spread {
				p.Spread[j].Soft = rapid.IntRange(0, 2).Draw(t, "soft") == 0
			}
			for j := range p.PodTerms {
				p.PodTerms[j].Weight = rapid.SampledFrom([]int{0, 0, 30}).Draw(t, "weight")
			}
			pods = append(pods, p)
			l.Enlist(p)
		}
		places := nodes("a", "a", "b", "c")
		for _, at := range places {
			l.Enter(at)
		}
		var infos []*terms.PodInfo
		for _, p := range pods {
			infos = append(infos, l.PodInfo(p))
		}
		for range rapid.IntRange(0, 8).Draw(t, "pods") {
			l.Put(infos[rapid.IntRange(0, 2).Draw(t, "pod")], rapid.IntRange(0, 3).Draw(t, "node"))
		}
		fresh := &fit.Place{Name: "fresh", Labels: map[string]string{label.Zone: "d", label.Hostname: "fresh"}}
		for i, s := range infos {
			for n := range places {
				if _, shut := l.Gate(s, n); shut == l.Allows(s, n) {
					t.Fatalf("%s on n%d: allowed %t, and a gate is shut: %t", pods[i].Name, n, !shut, shut)
				}
				before := l.Regret(s, n)
				l.Put(s, n)
				lost := 0
				for _, x := range l.Losses(s, n) {
					lost += x.Weight
				}
				l.Take(s, n)
				if after := l.Regret(s, n); lost != before || after != before {
					t.Fatalf("%s on n%d: it would lose %d, loses %d there, and then would lose %d", pods[i].Name, n, before, lost, after)
				}
			}
			if !l.Accepts(s, fresh) && l.AllowsNew(s, fresh) {
				t.Fatalf("%s is allowed on a new machine, and not accepted", pods[i].Name)
			}
			hard := slices.ContainsFunc(pods[i].Spread, func(c world.Spread) bool { return !c.Soft })
			if !hard && l.Accepts(s, fresh) != l.AllowsNew(s, fresh) {
				t.Fatalf("%s on a new machine: accepted %t, allowed %t", pods[i].Name, l.Accepts(s, fresh), l.AllowsNew(s, fresh))
			}
		}
	})
}
