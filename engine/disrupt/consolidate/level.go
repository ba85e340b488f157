package consolidate

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// The levels of consolidation: how much has to be saved for a move.
const (
	Cautious = "cautious"
	Normal   = "normal"
	Eager    = "eager"
)

// level is what moving a pod has to save an hour: the least of three things.
type level struct {
	share int64 // percent of what an average pod of the cluster costs
	most  int64 // percent of what the pod itself costs
	cost  money.Micro
}

// levels: as long as a pod has to save less than it costs, machines go however small their pods are, once these fit
// elsewhere. Where it has to save twice as much, only machines go that are used for less than half.
var levels = map[string]level{
	Cautious: {200, 250, 20 * DefaultMoveCost},
	Normal:   {DefaultMoveShare, 90, DefaultMoveCost},
	Eager:    {8, 90, DefaultMoveCost / 3},
}

// Levels returns the names of all levels.
func Levels() []string { return []string{Cautious, Normal, Eager} }

// IsLevel reports whether there is a level of that name. No name is none that is chosen.
func IsLevel(name string) bool { return name == "" || slices.Contains(Levels(), name) }

// AnyLevel lists the levels for messages.
func AnyLevel() string {
	return strings.Join(Levels()[:len(Levels())-1], ", ") + " or " + Levels()[len(Levels())-1]
}

// level is what moving pods of a pool has to save: what is chosen for the pool, or for all, or the default. A share
// or a cost that is given holds for every pool.
func (o Options) level(p *world.Pool) level {
	l := levels[Normal]
	if all, ok := levels[o.Level]; ok {
		l = all
	}
	if p != nil {
		if own, ok := levels[p.Disruption.Level]; ok {
			l = own
		}
	}
	l.share, l.cost = choice(int64(o.MoveShare), l.share), choice(o.MoveCost, l.cost)
	return l
}

// atLeast is what moving a pod has to save at either level.
func (l level) atLeast(o level) level {
	return level{max(l.share, o.share), max(l.most, o.most), max(l.cost, o.cost)}
}
