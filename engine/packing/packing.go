// Package packing holds pods, in classes, and the machines that they are put on, and keeps the ledger of spread and the limits true while pods come and go.
package packing

import (
	"cmp"
	"slices"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/market"
	"github.com/tenon-sh/tenon/engine/spread"
	"github.com/tenon-sh/tenon/engine/spread/advice"
	"github.com/tenon-sh/tenon/engine/spread/terms"
	"github.com/tenon-sh/tenon/engine/world"
)

// Packing is where pods are while places are looked for: on machines that are there, on planned ones, or nowhere yet.
type Packing struct {
	World       *world.World
	Places      []*world.Place // the machines that are there or on their way
	Options     Options
	Market      *market.Market
	Counters    market.Counters
	Backoffs    market.Backoffs
	Ledger      *spread.Ledger
	Advice      advice.Advice
	Classes     []*Class
	Existing    []*Bin     // machines there or on their way
	Planned     []*Bin     // machines to be bought
	Unplaced    []*Pod     // pods without a place
	Waiting     int        // pods that the plan is for
	Useful      market.Set // offers that would host some pod
	NeedsExotic bool       // some pods can be hosted by exotic types only
	Full        Full       // machines without room for more of a class
	Steps       int
	Changed     func(*Bin)      // called with each bin to which something is about to be done; may be nil
	taken       map[string]bool // names of planned machines
	accompanied bool            // pods of daemon sets count for others, so that it matters which of them come with a machine
	marks       int             // that have neither been undone nor committed
	trail       []change        // what was done since the first of them
	rooms       []int64         // what was free on the bins of the trail before
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
	Counted bool // it has no place, and counts as running on a machine all the same
	turn    int  // where it stands among all, in the order in which they are placed
}

// SortPods puts pods into the order in which they are placed: by class, and those of a class by namespace and name.
func SortPods(pods []*Pod) {
	slices.SortFunc(pods, func(a, b *Pod) int { return cmp.Compare(a.turn, b.turn) })
}

// Bin is a machine that pods are put on.
type Bin struct {
	Machine *world.Place // nil for a planned one
	Place   *fit.Place
	Node    int // number in the ledger
	Free    []int64
	Pods    []*Pod
	Closed  bool // it takes no pod
	Away    bool // it is supposed to be gone, or was given back
	Changes int  // grows with all that is done to it

	// Of a planned one.
	Offer   int
	Used    []int64
	Allowed market.Set // offers that stand for all its pods
	Pinned  bool
	Number  int
}

// Class is the pods that nothing in this World tells apart.
type Class struct {
	Number       int
	Pod          *world.Pod // the first of them
	Pods         []*world.Pod
	Need         []int64 // by dimension
	Demands      *Demands
	PodInfo      *terms.PodInfo
	Special      bool               // its pods take more of a machine than resources
	Plain        bool               // whether a place takes one depends on labels, taints and room only
	Pinned       bool               // it matters in which zone its machine is, or another domain beyond the machine
	Rank         int                // classes of a lower rank are placed first
	Colocated    bool               // it wants the company of others, or its own, on the very machine
	Offers       market.Set         // offers that stand and have room for one
	Buyable      market.Set         // those of them that may be bought for one
	NeedsExotic  bool               // some of these are of exotic types
	Reach        []int              // one of offers for each set of domains
	alike        map[int]market.Set // by set of domains, the offers that its machine may be instead
	Wishes       []wish             // soft demands on machines
	FullExisting int                // machines there or on their way that are known to be too full for it
	FullPlanned  int                // the same for planned machines
	learned      bool               // one of both may be more than none
}

// Full knows of which machines classes have found that they have no room for another of their pods. What each found is noted on the class.
type Full struct{ classes []*Class } // that found some

// Demands are a signature, and which machines there or on their way meet it.
type Demands struct {
	*market.Signature
	stands market.Set // nil until asked for
}

// wish is a soft demand on the machine.
type wish struct {
	weight int
	term   world.NodeTerm
	at     int
}

// change is one thing that was done to a packing.
type change struct {
	kind    kind
	bin     *Bin
	pod     *Pod         // that joined or left, or is counted
	at      int          // where the pod or the bin was in its list
	with    []*world.Pod // that a machine took along
	room    int          // where in rooms what was free on the bin begins
	closed  bool
	node    int
	place   *fit.Place // of the bin before; nil if it stays what it was
	planned *planned   // the same of a planned bin
	bins    []*Bin     // that were planned
}

// planned is what only a planned bin has.
type planned struct {
	used    []int64
	allowed market.Set
	pinned  bool
	offer   int
}

type kind int

const (
	joined kind = iota
	left
	bought
	dropped
	turned
	moved
	givenBack
	boughtAgain
	takenAway
	putBack
	counted
	uncounted
	closed
	handedOver
)
