package pack

import (
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/solve"
	"github.com/tenon-sh/tenon/engine/spread"
)

// Worth finds out what pods are worth: the prices at which pouring all that may
// move into new machines costs least. It returns that cost.
func (y *Yard) Worth() int64 {
	if y.worth != nil {
		return y.bound
	}
	k := y.k
	count := make([]int, len(k.classes))
	for _, l := range y.lodgers {
		for _, x := range l.pods {
			count[x.class.number]++
		}
	}
	p := k.newProof()
	shares := map[spread.Share][]int{}
	y.worth = make([]int64, len(k.classes))
	var items []int
	for n, c := range k.classes {
		y.worth[n] = -1
		if count[n] == 0 {
			continue
		}
		item := solve.Item{Name: c.pod.String(), Need: c.need, Count: count[n], Hosts: among(c.offers, p.hosts), PerHost: k.ledger.PerHost(c.subject)}
		if item.Hosts == nil {
			continue
		}
		for _, s := range k.ledger.Caps(c.subject) {
			shares[s] = append(shares[s], len(p.free.Items))
		}
		items = append(items, n)
		p.free.Items = append(p.free.Items, item)
	}
	p.free.Groups = shared(shares)
	bound, worth := solve.Worth(p.free)
	for i, n := range items {
		y.worth[n] = worth[i]
	}
	y.bound = bound
	return bound
}

// Value is what the pods in the air are worth; false if for some of them nothing can be bought.
func (y *Yard) Value() (int64, bool) { return y.value(y.k.left) }

// Load is what the pods on machine i are worth; false if for some of them nothing can be bought.
func (y *Yard) Load(i int) (int64, bool) { return y.value(y.k.old[i].pods) }

func (y *Yard) value(pods []*waiting) (sum int64, all bool) {
	y.Worth()
	all = true
	for _, x := range pods {
		if w := y.worth[x.class.number]; w >= 0 {
			sum += w
		} else {
			all = false
		}
	}
	return sum, all
}

// Ask is machine j that was bought.
func (y *Yard) Ask(j int) plan.Ask { return y.k.ask(y.bought[j]) }

// Price is what machine j that was bought costs.
func (y *Yard) Price(j int) int64 {
	k, b := y.k, y.bought[j]
	offer := b.offer
	if k.market.Offers[offer].Type.Pool.HasMinValues {
		hosts, _, _ := k.menuOffers(b)
		offer = k.sold(b, hosts)
	}
	return k.market.Offers[offer].Expected
}

// Objections is what the machines that are there have against the first pod in the air.
func (y *Yard) Objections() []*reason.Why {
	if len(y.k.left) == 0 {
		return nil
	}
	x := y.k.left[0]
	return []*reason.Why{{Code: reason.NoPlace, Subject: x.pod.String(), Causes: y.k.nodeWhys(x)}}
}
