package cloud

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// halfLife is after how long an ask that was refused, or not, counts half.
	halfLife = time.Hour
	// assumedGrants is how many asks an offer is taken to have granted before anything is known of it.
	assumedGrants = 2
	// shareStep is how much, in thousandths, a share moves before that is news.
	shareStep = 50
	// remembered is how many offers are remembered at most.
	remembered = 10_000
)

// refusals remembers which offers were refused lately, and how often. What has
// long been quiet is forgotten; a process that starts knows nothing.
type refusals struct {
	mu   sync.Mutex
	asks map[Offer]asks
}

// asks are those for one offer, as they counted at a time.
type asks struct {
	all, refused float64
	at           time.Time
}

// aged is what the asks count now.
func (a asks) aged(now time.Time) asks {
	if d := now.Sub(a.at); d > 0 {
		left := math.Exp2(-float64(d) / float64(halfLife))
		a.all, a.refused, a.at = a.all*left, a.refused*left, now
	}
	return a
}

// share is how many in a thousand that ask now are likely to be refused.
func (a asks) share() int {
	return int(math.Round(a.refused/(a.all+assumedGrants)*1000/shareStep)) * shareStep
}

// note takes down what became of an order: every offer that gave a machine, or
// was refused, was asked once.
func (r *refusals) note(now time.Time, o Outcome) {
	asked := map[Offer]bool{}
	for _, m := range o.Machines {
		asked[Offer{m.Shape, m.Zone, m.CapacityType}] = false
	}
	for _, offer := range o.Refused {
		asked[offer] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for offer, refused := range asked {
		a, known := r.asks[offer]
		if !known && !refused {
			continue // nothing has to be remembered of what is simply to be had
		}
		a = a.aged(now)
		a.all, a.at = a.all+1, now
		if refused {
			a.refused++
		}
		r.asks[offer] = a
	}
	r.forget(now)
}

// forget drops offers whose refusals no longer count, and those longest quiet
// where there are too many. The lock is held.
func (r *refusals) forget(now time.Time) {
	if len(r.asks) <= remembered {
		return
	}
	maps.DeleteFunc(r.asks, func(_ Offer, a asks) bool { return a.aged(now).share() == 0 })
	if len(r.asks) <= remembered {
		return
	}
	oldest := slices.SortedFunc(maps.Keys(r.asks), func(a, b Offer) int {
		return cmp.Or(r.asks[a].at.Compare(r.asks[b].at), cmp.Compare(a.Shape, b.Shape), cmp.Compare(a.Zone, b.Zone), cmp.Compare(a.CapacityType, b.CapacityType))
	})
	for _, o := range oldest[:len(oldest)-remembered*9/10] { // and room for a while
		delete(r.asks, o)
	}
}

// applied returns the catalogue with what is remembered of its offers. One of
// which nothing is remembered is returned as it is.
func (r *refusals) applied(now time.Time, c world.Catalog) world.Catalog {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.asks) == 0 {
		return c
	}
	sum := fnv.New64a()
	var shapes []world.Shape
	for i, s := range c.Shapes {
		var offers []world.Offer
		for j, o := range s.Offers {
			k := Offer{s.Name, o.Zone, o.CapacityType}
			share := 0
			if a, ok := r.asks[k]; ok {
				share = a.aged(now).share()
			}
			if share == 0 {
				continue
			}
			if offers == nil {
				offers = slices.Clone(s.Offers)
			}
			offers[j].Refused = share
			fmt.Fprintln(sum, k, share)
		}
		if offers == nil {
			continue
		}
		if shapes == nil {
			shapes = slices.Clone(c.Shapes)
		}
		shapes[i].Offers = offers
	}
	if shapes != nil {
		c.Shapes, c.Version = shapes, fmt.Sprintf("%s+%x", c.Version, sum.Sum64())
	}
	return c
}
