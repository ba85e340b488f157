package terms

import (
	"encoding/binary"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/spread/domain"
	"github.com/tenon-sh/tenon/engine/world"
)

// Kind is which terms of pods a group is made of.
type Kind byte

// The kinds of groups.
const (
	TopologySpread Kind = iota + 1
	AntiAffinity
	Affinity
)

// Group is what pods with equal terms share: which pods are its members, and how many lie in each domain.
type Group struct {
	Kind     Kind
	Terms    []world.PodTerm // which pods it counts; for affinity a member matches all of them
	Classes  int             // classes that are members
	Carriers int             // classes that carry the term and, unless that is anti-affinity, are members
	Outside  int             // of topology spread: classes that carry the constraint and are no members

	Delivered bool // some new machines come with members, which are pods of daemon sets

	// Of topology spread and anti-affinity.
	Key    int
	Counts domain.Tally // members by domain
	Maybe  domain.Tally // of topology spread: members by domain on machines that may come to count
	Owners domain.Tally // of anti-affinity: pods that carry the term, by domain

	// Of topology spread. Domains that hold members have machines that count.
	*EligibleNodes
	hist   []int32 // how many domains hold 1, 2, … members; the first is not used
	filled int     // how many hold any
	low    int32   // the smallest number that any of these holds

	// Of affinity. Pods that share a volume need no terms.
	Volume  string
	OnePod  bool    // one of them at a time has it
	Claim   bool    // the volume is a resource claim
	Within  []int32 // domains in which it may be made; nil is every one
	Keys    []int
	ByKey   []domain.Tally
	Total   int
	Reached int // domains of all keys that hold any
	Moves   int // how often that has changed
}

// Least is the smallest number of members in a domain that has machines.
func (g *Group) Least() int32 {
	if g.filled < g.Known || g.Known == 0 {
		return 0
	}
	return g.low
}

// Most is how many members of a group of topology spread may come to be counted in domain d.
func (g *Group) Most(d int32) int32 { return g.Counts.In(d) + g.Maybe.In(d) }

// Shift changes the members counted in domain d.
func (g *Group) Shift(d, by int32) {
	was := g.Counts.In(d)
	g.Counts.Bump(d, by)
	if was > 0 {
		g.hist[was]--
		g.filled--
	}
	if now := was + by; now > 0 {
		g.hist = domain.Bump(g.hist, now, 1)
		g.filled++
		g.low = min(g.low, now)
	}
	for int(g.low) < len(g.hist)-1 && g.hist[g.low] == 0 {
		g.low++
	}
}

// Mixed reports whether not every pod that counts carries the constraint, or not every pod that carries it counts: a job
// with the labels of a Deployment, a canary without its constraints, a selector that means others. Where a pod that carries it
// may go then depends on where others are put that may go anywhere, unless these are put with care. Of those that keep apart
// it makes no difference, and all pods that share a volume carry it.
func (g *Group) Mixed() bool {
	return g.Kind != AntiAffinity && !g.Delivered && (g.Carriers > 0 && g.Classes > g.Carriers || g.Outside > 0)
}

// Overlooks reports whether the group does not count a pod that runs, since it
// ends. Spread does not; and a volume for one node comes free when such a pod is
// gone, or its node has been dead for a while, so that the next may be planned for
// elsewhere. One for one pod is that pod's until it is gone.
func (g *Group) Overlooks(p *world.Pod) bool {
	return p.Terminating && (g.Kind == TopologySpread || g.Volume != "" && !g.OnePod)
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
	return appendTerm(binary.AppendUvarint(append(b, byte(TopologySpread)), uint64(eligible)), t)
}

func appendAntiAffinityID(b []byte, t world.PodTerm) []byte {
	return appendTerm(append(b, byte(AntiAffinity)), t)
}

func appendAffinityID(b []byte, terms []world.PodTerm) []byte {
	b = append(b, byte(Affinity))
	for _, t := range terms {
		b = appendTerm(b, t)
	}
	return b
}
