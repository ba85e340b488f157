package search

import (
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/packing"
	"github.com/tenon-sh/tenon/engine/solve/problem"
)

// Searcher places classes of pods at once.
type Searcher struct {
	*exact.Placer
	Proof *Proof
	Loose bool // what is searched now may use what an earlier search left free, so that search proves nothing of it
	Often bool // it is searched many times, for a few pods each

	shared     bool                    // pods that are not searched for come afterwards, and may use the room that is left
	shelves    map[*market.Pool]*shelf // of tiers, by their first pool
	sameForAll bool                    // what is bought leaves everything else on sale
	sameIn     map[string]bool         // topology keys by whether what is sold is sold in all of their domains alike
	prices     map[priced]map[string]int64
}

// Proof is what is needed to say how little the pods that were placed on new machines could have cost.
type Proof struct {
	forced bool            // every pod was searched for, and every lot could go one way only
	Free   problem.Problem // everything that was on sale
	Hosts  []int
	bound  money.Micro

	draws   [][]problem.Draw // what each of them draws from what limits and reservations leave
	budgets []int64
}

// proving tells what a bound is proven for: the pods on new machines, in all the ways they might have gone. It changes nothing.
type proving struct{ *Searcher }

// shelf is what a tier sells, as hosts, and the offer of each. It is kept where a few pods at a time are searched for, many times.
type shelf struct {
	hosts  []problem.Host
	offers []int
}

// priced is pods that cost about the same in each domain of a key.
type priced struct {
	demands *packing.Demands
	key     string
	need    string
}
