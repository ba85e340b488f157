package market_test

import (
	"testing"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/enginetest"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/world"
)

// A hundred pods of a few teams do not make a list of what the pools of all other teams could buy.
func TestOnlyPoolsThatSomePodWantsAreFilled(t *testing.T) {
	w := enginetest.Tenants(60, 10)
	teams := map[string]bool{}
	for _, p := range w.Waiting() {
		r, _ := p.NodeSelector.Find("team")
		teams[r.Values[0]] = true
	}
	all := market.New(w, []string{amount.CPU}, market.Options{})
	m := market.New(w, []string{amount.CPU}, market.Options{For: w.Waiting()})
	if len(m.Pools) != 60 || len(m.Offers) != len(all.Offers)/60*len(teams) {
		t.Errorf("%d offers of %d pools for %d teams, where all 60 teams have %d", len(m.Offers), len(m.Pools), len(teams), len(all.Offers))
	}
	for _, p := range m.Pools {
		if filled := len(p.Types) > 0; filled != teams[p.ID.Name] {
			t.Errorf("pool %s is filled: %t", p.ID.Name, filled)
		}
	}
	if m := market.New(w, []string{amount.CPU}, market.Options{For: []*world.Pod{}}); len(m.Offers) != 0 {
		t.Errorf("%d offers for no pod", len(m.Offers))
	}
}

// Between agrees with asking for one number after the other.
func TestBetween(t *testing.T) {
	const size = 200
	for _, has := range []int{0, 1, 62, 63, 64, 65, 127, 128, 199} {
		s := market.NewSet(size)
		s.Add(has)
		for first := range size {
			for last := first; last <= size; last++ {
				if got := s.Between(first, last); got != (first <= has && has < last) {
					t.Fatalf("{%d} between %d and %d: %t", has, first, last, got)
				}
			}
		}
	}
}
