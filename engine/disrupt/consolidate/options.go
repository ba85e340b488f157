// Package consolidate finds machines that could be given back although pods run on them, because these pods fit elsewhere or on something cheaper.
//
// It changes nothing. What it finds is a part of what package disrupt decides,
// and what acts on one of its commands asks again first.
package consolidate

import (
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/pack"
)

// Defaults of Options.
const (
	DefaultMoveShare               = 30     // percent
	DefaultMoveCost    money.Micro = 10_000 // an hour
	DefaultLeastSaving money.Micro = 10_000 // an hour
	DefaultLeastShare              = 3      // percent
	DefaultGroup                   = 16
	DefaultSteps                   = 20_000 // counted work of the search for what to buy for one group
)

// Options are what a caller may choose. The zero value works.
type Options struct {
	Pack        pack.Options `json:"pack,omitzero"`
	Planned     []string     `json:"planned,omitempty"`     // machines, by the names of their places, that pods are on their way to
	Level       string       `json:"level,omitempty"`       // how much has to be saved for a move, for pools that do not say it themselves
	MoveShare   int          `json:"moveShare,omitempty"`   // what moving an average pod has to save an hour, in percent of what such a pod costs; 0 is the level's, below 0 is nothing
	MoveCost    money.Micro  `json:"moveCost,omitempty"`    // what moving one pod has to save an hour at most; 0 is the level's, below 0 is nothing
	LeastSaving money.Micro  `json:"leastSaving,omitempty"` // what a command has to save an hour; 0 is the default, below 0 is anything
	LeastShare  int          `json:"leastShare,omitempty"`  // percent of what it gives back that a command which buys has to save; 0 is the default, below 0 is anything
	Group       int          `json:"group,omitempty"`       // most machines that are replaced together; 0 is the default
	SpotToSpot  bool         `json:"spotToSpot,omitempty"`  // spot machines may be replaced by cheaper spot machines
	Explain     []string     `json:"explain,omitempty"`     // machines, by the names of their places, whose reasons are given in full
	Unbudgeted  bool         `json:"unbudgeted,omitempty"`  // look at no disruption budget: what could go in the end, not now
	JustMoved   []string     `json:"justMoved,omitempty"`   // claims of machines that pods have just been moved to or from: moving theirs has to save as much as at the level cautious
}

func (o Options) leastSaving() money.Micro { return max(choice(o.LeastSaving, DefaultLeastSaving), 1) }
func (o Options) leastShare() int64        { return choice(int64(o.LeastShare), DefaultLeastShare) }
func (o Options) group() int               { return int(max(choice(int64(o.Group), DefaultGroup), 1)) }

// choice is v, or the usual if v is 0; below 0 it is nothing.
func choice[T ~int64](v, usual T) T {
	switch {
	case v == 0:
		return usual
	case v < 0:
		return 0
	}
	return v
}
