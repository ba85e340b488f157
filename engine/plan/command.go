package plan

import (
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// The reasons for giving a machine back, as budgets and conditions name them.
const (
	Empty         = "Empty"         // nothing runs there
	Expired       = "Expired"       // it has reached its pool's age
	Underutilized = "Underutilized" // its pods have places elsewhere, or on something cheaper
	Drifted       = "Drifted"       // it is no longer what its pool asks for
)

// ScaledDown is why a machine of a static pool goes that has more of them than replicas. No budget names it.
const ScaledDown = "ScaledDown"

// Verdict is what is to be done about machines that are to go.
type Verdict string

// The verdicts on a command.
const (
	Begin    Verdict = "begin"     // its machines are marked, and what their pods need is bought
	CarryOn  Verdict = "carry-on"  // all is there that was waited for: its machines end
	Wait     Verdict = "wait"      // nothing is to be done now
	TakeBack Verdict = "take-back" // its machines stay after all
)

// Command is machines that go together, and where their pods go. No command
// needs another one.
type Command struct {
	Reason  string      `json:"reason,omitempty"`  // empty: a mark that nothing accounts for
	Verdict Verdict     `json:"verdict,omitempty"` // what is to be done now
	Begun   bool        `json:"begun,omitempty"`   // its machines are marked, or meant to be
	Back    []Give      `json:"back"`              // machines that go, by claim
	New     []Ask       `json:"new,omitempty"`     // machines to be bought before that
	Bought  []string    `json:"bought,omitempty"`  // claims of machines that were bought for it
	Moves   []Fill      `json:"moves,omitempty"`   // machines that stay, and the pods they receive
	Pods    int         `json:"pods,omitempty"`    // that move
	Saving  money.Micro `json:"saving,omitempty"`  // millionths an hour
	Charge  money.Micro `json:"charge,omitempty"`  // what it saves of the charges for nodes besides, where pools have their own
	Effort  money.Micro `json:"effort,omitempty"`  // what the moves cost, millionths an hour
	Scores  []Score     `json:"scores,omitempty"`  // how it weighs for each balanced pool that machines of it belong to
	Why     *reason.Why `json:"why,omitempty"`     // why it waits or is taken back; nil: it waits for what was bought, or for the mark to be known everywhere
	Again   int64       `json:"again,omitempty"`   // milliseconds after which it may stand otherwise although nothing changes; 0: never
}

// Whole is all of a pool, in the millionths in which scores are counted.
const Whole = 1_000_000

// LeastScore is what a command has to come to for a balanced pool, in millionths.
const LeastScore = Whole / 2

// Score is what a command saves and disrupts of a balanced pool, in millionths of the pool's cost and of all that its
// machines and their pods weigh.
type Score struct {
	Pool  world.PoolID `json:"pool"`
	Saved int64        `json:"saved,omitempty"`
	Moved int64        `json:"moved,omitempty"`
}

// Value is the score in millionths, for people and metrics: the share that is saved, over the share that is disrupted.
func (s Score) Value() int64 { return s.Saved * Whole / max(s.Moved, 1) }

// Acts reports whether anything is to be done about the command now.
func (c Command) Acts() bool { return c.Verdict != Wait }

// Claims are those of the machines that go.
func (c Command) Claims() []string {
	out := make([]string, len(c.Back))
	for i, g := range c.Back {
		out[i] = g.Claim
	}
	return out
}

// Nodes are those of the machines that go.
func (c Command) Nodes() []string {
	out := make([]string, len(c.Back))
	for i, g := range c.Back {
		out[i] = g.Node
	}
	return out
}

// Idle reports whether the machines of the command go as they are: they are empty, too old, or more than their
// pool is to have, and nothing is bought for their pods before they are drained.
func (c Command) Idle() bool {
	return c.Reason == Empty || c.Reason == ScaledDown || c.Reason == Expired && !c.Begun && c.Verdict == CarryOn
}

// Give is one machine to be given back.
type Give struct {
	Claim        string       `json:"claim,omitempty"`
	Node         string       `json:"node,omitempty"`
	Pool         world.PoolID `json:"pool,omitzero"`
	Shape        string       `json:"shape,omitempty"`
	Zone         string       `json:"zone,omitempty"`
	CapacityType string       `json:"capacityType,omitempty"`
	Reason       string       `json:"reason,omitempty"`
	Price        money.Micro  `json:"price,omitempty"` // what it costs an hour
}

// GiveOf is a machine that is to be given back for a reason.
func GiveOf(w *world.World, p *world.Place, reason string) Give {
	l := p.Labels()
	g := Give{
		Claim: p.Claim.Name, Pool: p.Pool(), Shape: l[instanceType], Zone: l[zone], CapacityType: l[capacityType],
		Reason: reason, Price: PriceOf(w, p),
	}
	if p.Node != nil {
		g.Node = p.Node.Name
	}
	return g
}

// Spare is a machine that was bought for pods of machines which stay after all.
type Spare struct {
	Claim string `json:"claim"`
	Used  bool   `json:"used,omitempty"` // pods run there or are on their way, or it came late: it is a machine like others now
}

// Kept is a machine that stays, and why it is not given back for a reason.
type Kept struct {
	Claim  string       `json:"claim,omitempty"`
	Node   string       `json:"node,omitempty"`
	Pool   world.PoolID `json:"pool,omitzero"`
	Reason string       `json:"reason,omitempty"` // for which it is not
	Price  money.Micro  `json:"price,omitempty"`  // millionths an hour
	Why    *reason.Why  `json:"why"`
}
