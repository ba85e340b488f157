package packing

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/advice"
	"github.com/tenon-sh/tenon/engine/world"
)

func sameName(e amount.Entry, name string) bool { return e.Name == name }

// New is a packing of w with nothing in it yet: Ready says which pods are to be placed.
func New(w *world.World, o Options) *Packing {
	ledger := spread.New(w.Namespaces())
	return &Packing{World: w, Places: w.Places(), Options: o, Ledger: ledger, Advice: advice.Of(ledger), taken: map[string]bool{}, Backoffs: market.NewBackoffs(w)}
}

// Ready finds out all that placing the pods takes: what is on sale, what
// machines there are, and which of the pods are alike.
func (k *Packing) Ready(pods []*world.Pod) {
	names := dims(pods)
	k.Counters = market.NewCounters(k.World, k.Places, pods)
	k.Counters.First = len(names)
	k.Market = market.New(k.World, append(names, k.Counters.Names()...), market.Options{
		Charge: k.Options.NodeCharge(), SpotPremium: k.Options.SpotPremium, LowerMinValues: k.Options.MinValuesPolicy == BestEffort, UnhealthyLast: k.Options.UnhealthyLast, For: pods,
	})
	k.Market.Equip(&k.Counters)
	openMachines(k, pods)
	numberDomains(k)
	classify(k, pods)
	spareExotic(k)
	noteUseful(k)
	holdNominated(k)
	confineVolumes(k)
}

// dims names the resources that matter: those that a pod asks for.
func dims(pods []*world.Pod) []string {
	var names []string
	var last []string
	for _, p := range pods {
		if slices.EqualFunc(p.Requests, last, sameName) {
			continue
		}
		last = last[:0]
		for _, e := range p.Requests {
			last = append(last, e.Name)
			if !slices.Contains(names, e.Name) {
				names = append(names, e.Name)
			}
		}
	}
	return ordered(names)
}

// ordered are the resources, the ones that matter most first.
func ordered(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		rank := func(s string) int { return slices.Index([]string{amount.Memory, amount.CPU}, s) }
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
	return names
}
