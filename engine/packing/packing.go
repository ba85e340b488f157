// Package packing holds pods, in classes, and the machines that they are put on, and keeps the ledger of spread and the limits true while pods come and go.
package packing

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/world"
)

// Packing is where pods are while places are looked for: on machines that are there, on planned ones, or nowhere yet.
type Packing struct {
	World       *world.World
	Places      []*world.Place // the machines that are there or on their way
	Options     Options
	Market      *market.Market
	Tallies     market.Tallies
	Backoffs    market.Backoffs
	Ledger      *spread.Ledger
	Classes     []*Class
	Existing    []*Bin     // machines there or on their way
	Planned     []*Bin     // planned
	Unplaced    []*Pod     // pods without a place
	Waiting     int        // pods that the plan is for
	Useful      market.Set // offers that would host some pod
	NeedsExotic bool       // some pods can be hosted by exotic types only
	Steps       int
	taken       map[string]bool // names
	accompanied bool            // pods of daemon sets count for others, so that it matters which of them come with a machine
}

// Pod is a pod and its class.
type Pod struct {
	Pod     *world.Pod
	Class   *Class
	Bin     *Bin
	Held    bool // the scheduler has nominated its place
	Kept    bool // it is where the last plan had it
	Proven  bool // the bound counts it
	Crowded bool // onto a machine that holds more of its like than spreading means it to
}

func sameName(e amount.Entry, name string) bool { return e.Name == name }

// New is a packing of w with nothing in it yet: Ready says which pods are to be placed.
func New(w *world.World, o Options) *Packing {
	k := &Packing{World: w, Places: w.Places(), Options: o, Ledger: spread.New(w.Namespaces()), taken: map[string]bool{}, Backoffs: market.NewBackoffs(w)}
	for _, m := range k.Places {
		k.taken[m.Name()] = true
	}
	return k
}

// Ready finds out all that placing the pods takes: what is on sale, what
// machines there are, and which of the pods are alike.
func (k *Packing) Ready(pods []*world.Pod) {
	names := dims(pods)
	k.Tallies = market.NewTallies(k.World.Catalogs(), k.Places, pods)
	k.Tallies.First = len(names)
	k.Market = market.New(k.World, append(names, k.Tallies.Names()...), market.Options{SpotPremium: k.Options.SpotPremium, LowerMinValues: k.Options.MinValuesPolicy == BestEffort})
	k.Market.Equip(&k.Tallies)
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
		if len(p.Requests) == len(last) && slices.EqualFunc(p.Requests, last, sameName) {
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

// SortPods puts pods into the order in which they are placed.
func SortPods(pods []*Pod) {
	slices.SortStableFunc(pods, func(a, b *Pod) int {
		return cmp.Or(
			cmp.Compare(a.Class.Number, b.Class.Number),
			strings.Compare(a.Pod.Namespace, b.Pod.Namespace),
			strings.Compare(a.Pod.Name, b.Pod.Name),
		)
	})
}

// ordered are the resources, the ones that matter most first.
func ordered(names []string) []string {
	slices.SortFunc(names, func(a, b string) int {
		rank := func(s string) int { return slices.Index([]string{amount.Memory, amount.CPU}, s) }
		return cmp.Or(cmp.Compare(rank(b), rank(a)), cmp.Compare(a, b))
	})
	return names
}
