package search

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/packing"
)

// colocated is a pod and those that go to its machine because they want its company there.
type colocated struct {
	leader *packing.Pod
	others []*packing.Pod
}

// company is the pods of a group that want its company on the very machine, and those of it that go wherever they like.
type company struct {
	seekers []*packing.Pod
	counted []int32 // groups besides that count seekers
	leaders []*packing.Pod
}

// companions makes lots of pods and those that want their company.
type companions struct{ *Searcher }

// together makes lots of pods that want the company of others on the very machine, each with one of these others: what is left of pods
// goes on as it came. One by one they would come when all machines are full, and their company could not follow them elsewhere.
func (k companions) together(pods []*packing.Pod) (lots []*lot, rest []*packing.Pod) {
	companies := k.companies(pods)
	if len(companies) == 0 {
		return nil, pods
	}
	taken := map[*packing.Pod]bool{}
	for _, g := range sortedKeys(companies, cmp.Compare[int32]) {
		x := companies[g]
		leaders := slices.DeleteFunc(x.leaders, func(y *packing.Pod) bool { return taken[y] })
		if len(leaders) == 0 {
			continue
		}
		made, ok := k.colocatedLots(pair(leaders, x.seekers))
		if !ok {
			continue
		}
		for _, l := range made {
			for _, y := range l.pods {
				taken[y] = true
			}
		}
		lots = append(lots, made...)
	}
	return lots, slices.DeleteFunc(slices.Clone(pods), func(x *packing.Pod) bool { return taken[x] })
}

// companies are the groups of which pods want company on the very machine, where others are company for all of them.
func (k companions) companies(pods []*packing.Pod) map[int32]*company {
	out := map[int32]*company{}
	for c, run := range packing.ByClass(pods) {
		g, ok := k.Advice.SeeksCompany(c.PodInfo)
		if !ok || len(c.Wishes) > 0 || c.Demands.Open || !k.Counters.Cover(c.Pod) {
			continue
		}
		if out[g] == nil {
			out[g] = &company{}
		}
		out[g].seekers = append(out[g].seekers, run...)
		for _, id := range k.Advice.CountedBeside(c.PodInfo) {
			if !slices.Contains(out[g].counted, id) {
				out[g].counted = append(out[g].counted, id)
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	for c, run := range packing.ByClass(pods) {
		for _, g := range c.PodInfo.Members {
			if x := out[g]; x != nil && c.Pod.Priority == x.seekers[0].Pod.Priority && k.Advice.Leads(c.PodInfo, x.counted) {
				x.leaders = append(x.leaders, run...)
			}
		}
	}
	maps.DeleteFunc(out, func(_ int32, x *company) bool {
		return len(x.leaders) == 0 || x.seekers[0].Pod.Priority != x.seekers[len(x.seekers)-1].Pod.Priority // they are in this order
	})
	return out
}

// pair gives every seeker a leader: the smallest of these, as many as there are seekers, the larger ones with the smaller seekers, so
// that colocated pods are about as large as each other.
func pair(leaders, seekers []*packing.Pod) []colocated {
	bySize := func(a, b *packing.Pod) int {
		return cmp.Or(cmp.Compare(a.Pod.Requests.Value(amount.CPU), b.Pod.Requests.Value(amount.CPU)),
			cmp.Compare(a.Pod.Requests.Value(amount.Memory), b.Pod.Requests.Value(amount.Memory)), cmp.Compare(a.Class.Number, b.Class.Number))
	}
	leaders, seekers = slices.Clone(leaders), slices.Clone(seekers)
	slices.SortStableFunc(leaders, bySize)
	slices.SortStableFunc(seekers, bySize)
	leaders = leaders[:min(len(leaders), len(seekers))]
	slices.Reverse(leaders)
	out := make([]colocated, len(leaders))
	for i, x := range leaders {
		out[i].leader = x
	}
	for i, x := range seekers {
		p := &out[i%len(out)]
		p.others = append(p.others, x)
	}
	return out
}

// colocatedLots are the colocated pods as lots, one for those that are made of the same classes; false if one has no machine that would hold it.
func (k companions) colocatedLots(all []colocated) ([]*lot, bool) {
	var out []*lot
	known := map[string]*lot{}
	for _, p := range all {
		var name strings.Builder
		name.WriteString(p.leader.Class.Pod.String())
		for _, x := range p.others {
			name.WriteString(" with " + x.Class.Pod.String())
		}
		l := known[name.String()]
		if l == nil {
			var ok bool
			if l, ok = k.colocatedLot(p); !ok {
				return nil, false
			}
			l.name = name.String()
			known[l.name] = l
			out = append(out, l)
		}
		l.pods = append(append(l.pods, p.leader), p.others...)
	}
	return out, true
}

// colocatedLot is a lot for colocated pods like this, without pods yet.
func (k companions) colocatedLot(p colocated) (*lot, bool) {
	l, ok := k.lot(p.leader.Class, nil)
	if !ok {
		return nil, false
	}
	l.need, l.piece, l.hasAlternatives = slices.Clone(l.need), 1+len(p.others), true
	for _, x := range p.others {
		for d, n := range x.Class.Need {
			l.need[d] = amount.Plus(l.need[d], n)
		}
		l.offers.Intersect(x.Class.Buyable)
	}
	k.Market.KeepFitting(l.offers, l.need)
	return l, !l.offers.Empty()
}
