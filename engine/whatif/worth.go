package whatif

import (
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/menu"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/refuse"
	"github.com/tenon-sh/tenon/engine/search"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/solve/problem"
	"github.com/tenon-sh/tenon/engine/spread/advice"
	"github.com/tenon-sh/tenon/engine/world"
)

// Worth finds out what pods are worth: the prices at which pouring all that may
// move into new machines costs least. It returns that cost, without charges for machines.
func (y *Cluster) Worth() money.Micro {
	if y.worth != nil {
		return y.bound
	}
	k := y.k
	count := make([]int, len(k.Classes))
	for _, l := range y.residents {
		for _, x := range l.pods {
			count[x.Class.Number]++
		}
	}
	p := k.NewProof()
	among := search.NewHosts(p.Hosts)
	shares := map[advice.Share][]int{}
	y.worth = make([]int64, len(k.Classes))
	var items []int
	for n, c := range k.Classes {
		y.worth[n] = -1
		if count[n] == 0 {
			continue
		}
		item := problem.Item{Name: c.Pod.String(), Need: c.Need, Count: count[n], Hosts: among.Among(c.Offers), PerHost: k.Advice.PerHost(c.PodInfo)}
		if item.Hosts == nil {
			continue
		}
		for _, s := range k.Advice.Caps(c.PodInfo) {
			shares[s] = append(shares[s], len(p.Free.Items))
		}
		items = append(items, n)
		p.Free.Items = append(p.Free.Items, item)
	}
	p.Free.Groups = search.Shared(shares)
	bound, worth := solve.Worth(p.Free)
	for i, n := range items {
		y.worth[n] = worth[i]
	}
	if k.Market.Charged {
		p.Free.Hosts = p.Priced(k.Market)
		bound = solve.Bound(p.Free, 0)
	}
	y.bound = money.Micro(bound)
	return y.bound
}

// Value is what the unplaced pods are worth; false if for some of them nothing can be bought.
func (y *Cluster) Value() (money.Micro, bool) { return value(y, y.k.Unplaced) }

// Load is what the pods on machine i are worth; false if for some of them nothing can be bought.
func (y *Cluster) Load(i int) (money.Micro, bool) { return value(y, y.k.Existing[i].Pods) }

func value(y *Cluster, pods []*packing.Pod) (sum money.Micro, all bool) {
	y.Worth()
	all = true
	for _, x := range pods {
		if w := y.worth[x.Class.Number]; w >= 0 {
			sum += money.Micro(w)
		} else {
			all = false
		}
	}
	return sum, all
}

// Ask is machine j that was bought.
func (y *Cluster) Ask(j int) plan.Ask { return (&menu.Writer{Packing: y.k.Packing}).Ask(y.bought[j]) }

// Price is what machine j that was bought costs, with its charge where pools have their own.
func (y *Cluster) Price(j int) money.Micro {
	k, b := y.k, y.bought[j]
	offer := b.Offer
	if k.Market.Offers[offer].Type.Pool.HasMinValues {
		offer = (&menu.Writer{Packing: k.Packing}).Expected(b)
	}
	return k.Market.Offers[offer].Weighs
}

// Charged reports whether charges for machines are part of what they cost: some pool has its own.
func (y *Cluster) Charged() bool { return y.k.Market.Charged }

// Charge is what a machine of the pool costs beside its price.
func (y *Cluster) Charge(pool world.PoolID) money.Micro {
	if !y.Charged() {
		return 0
	}
	return market.ChargeOf(y.k.World.Pool(pool), y.k.Options.NodeCharge())
}

// Objections is what the machines that are there have against the first unplaced pod.
func (y *Cluster) Objections() []*reason.Why {
	if len(y.k.Unplaced) == 0 {
		return nil
	}
	x := y.k.Unplaced[0]
	return []*reason.Why{{Code: reason.NoPlace, Subject: x.Pod.String(), Causes: refuse.Nodes(y.k.Packing, x)}}
}
