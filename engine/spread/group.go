package spread

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

type kind byte

const (
	topologySpread kind = iota + 1
	antiAffinity
	affinity
)

// group is what pods with equal terms share: which pods are its members, and how many lie in each domain.
type group struct {
	kind     kind
	terms    []world.PodTerm // which pods it counts; for affinity a member matches all of them
	classes  int             // classes that are members
	carriers int             // classes that carry the term and, unless that is anti-affinity, are members
	outside  int             // of topology spread: classes that carry the constraint and are no members

	delivered bool // some new machines come with members, which are pods of daemon sets

	// Of topology spread and anti-affinity.
	key    int
	counts tally // members by domain
	maybe  tally // of topology spread: members by domain on machines that may come to count
	owners tally // of anti-affinity: pods that carry the term, by domain

	// Of topology spread. Domains that hold members have machines that count.
	*eligibleNodes
	hist   []int32 // how many domains hold 1, 2, … members; the first is not used
	filled int     // how many hold any
	low    int32   // the smallest number that any of these holds

	// Of affinity. Pods that share a volume need no terms.
	volume  string
	onePod  bool    // one of them at a time has it
	claim   bool    // the volume is a resource claim
	within  []int32 // domains in which it may be made; nil is every one
	keys    []int
	byKey   []tally
	total   int
	reached int // domains of all keys that hold any
	moves   int // how often that has changed
}

// least is the smallest number of members in a domain that has machines.
func (g *group) least() int32 {
	if g.filled < g.known || g.known == 0 {
		return 0
	}
	return g.low
}

// most is how many members of a group of topology spread may come to be counted in domain d.
func (g *group) most(d int32) int32 { return g.counts.in(d) + g.maybe.in(d) }

// shift changes the members counted in domain d.
func (g *group) shift(d, by int32) {
	was := g.counts.in(d)
	g.counts.bump(d, by)
	if was > 0 {
		g.hist[was]--
		g.filled--
	}
	if now := was + by; now > 0 {
		g.hist = bump(g.hist, now, 1)
		g.filled++
		g.low = min(g.low, now)
	}
	for int(g.low) < len(g.hist)-1 && g.hist[g.low] == 0 {
		g.low++
	}
}

// The identities below are texts in which every part says how long it is, so
// that different terms never read alike.

func appendTerm(b []byte, t world.PodTerm) []byte {
	b = label.AppendText(b, t.Key)
	b = label.AppendFlags(b, t.Selector.Some, t.Within.Some)
	b = t.Selector.Set.AppendIdentity(b)
	b = t.Within.Set.AppendIdentity(b)
	b = binary.AppendUvarint(b, uint64(len(t.Namespaces)))
	for _, n := range t.Namespaces {
		b = label.AppendText(b, n)
	}
	return b
}

// appendSpreadID names the group of a constraint that counts on eligible nodes.
func appendSpreadID(b []byte, eligible int, t world.PodTerm) []byte {
	return appendTerm(binary.AppendUvarint(append(b, byte(topologySpread)), uint64(eligible)), t)
}

func appendAntiAffinityID(b []byte, t world.PodTerm) []byte {
	return appendTerm(append(b, byte(antiAffinity)), t)
}

func appendAffinityID(b []byte, terms []world.PodTerm) []byte {
	b = append(b, byte(affinity))
	for _, t := range terms {
		b = appendTerm(b, t)
	}
	return b
}
