package search

import (
	"github.com/tenon-sh/tenon/engine/exact"
	"github.com/tenon-sh/tenon/engine/solve"
)

// Searcher places classes of pods at once.
type Searcher struct {
	*exact.Placer
	Proof *Proof
	Loose bool // what is searched now may use what an earlier search left free, so that search proves nothing of it
}

// Proof is what is needed to say how little the pods that were placed on new machines could have cost.
type Proof struct {
	forced bool          // every pod was searched for, and every lot could go one way only
	Free   solve.Problem // everything that was on sale
	Hosts  []int
	bound  int64
}
