// Package launch turns claims into machines, by orders that survive crashes and lost answers.
//
// Claims that want the same thing are an order. The order is written to its
// claims before the cloud is called, the call carries the order as its token,
// and machines are dealt to the claims by their places. An order is never
// re-cut: what it left over gets a new attempt.
package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// largest is how many machines are ordered at once.
const largest = 100

// Order is claims that are launched by one call.
type Order struct {
	Token  string
	Size   int
	Claims []*v1.NodeClaim // by place; nil where the claim is gone
}

// Waiting reports whether a claim has no machine and wants one bought.
func Waiting(c *v1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Annotations[annotation.Adopts] == "" && c.Status.ProviderID == "" && !c.Conditions().Is(v1.ConditionLaunched)
}

// Leaving reports whether a claim is being deleted whose order may have bought a
// machine for it. It stays until that is known.
func Leaving(c *v1.NodeClaim) bool { return c.DeletionTimestamp != nil && c.Ordered() }

// Group cuts claims without an order into new ones: those that want the same
// together, in order of name. attempt is written into their tokens.
func Group(claims []*v1.NodeClaim, attempt int) []Order {
	same := map[string][]*v1.NodeClaim{}
	for _, c := range claims {
		k := wish(c)
		same[k] = append(same[k], c)
	}
	var out []Order
	for _, group := range same {
		slices.SortFunc(group, func(a, b *v1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
		for part := range slices.Chunk(group, largest) {
			out = append(out, Order{Token: token(part, attempt), Size: len(part), Claims: part})
		}
	}
	slices.SortFunc(out, func(a, b Order) int { return strings.Compare(a.Token, b.Token) })
	return out
}

// wish is all that a claim wants of its machine, and whose it will be. What its
// pods request is left out: every type of the menu can hold it.
func wish(c *v1.NodeClaim) string {
	spec := c.Spec.DeepCopy()
	spec.Resources, spec.ExpireAfter, spec.TerminationGracePeriod = v1.ResourceRequirements{}, "", nil
	text, err := json.Marshal(spec)
	if err != nil {
		return c.Name
	}
	labels, err := json.Marshal(c.Labels)
	if err != nil {
		return c.Name
	}
	return string(text) + string(labels) + c.Annotations[v1.AnnotationPriceOverlay] + "/" + c.Annotations[v1.AnnotationCapacityOverlay]
}

// token names an order by its claims and how often they were tried before.
func token(claims []*v1.NodeClaim, attempt int) string {
	uids := make([]string, len(claims))
	for i, c := range claims {
		uids[i] = string(c.UID)
	}
	slices.Sort(uids)
	sum := sha256.Sum256([]byte(strings.Join(uids, ",") + "/" + strconv.Itoa(attempt)))
	return fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:16]), attempt)
}

// Attempt is how often the claims of an order were tried before it.
func (o Order) Attempt() int {
	_, n, _ := strings.Cut(o.Token, "-")
	attempt, err := strconv.Atoi(n)
	if err != nil {
		return 0
	}
	return attempt
}

// Gather puts the claims of one token back into their places. It is false when
// the claims contradict each other or are not written yet.
func Gather(token string, claims []*v1.NodeClaim) (Order, bool) {
	o := Order{Token: token}
	for _, c := range claims {
		if c.Annotations[v1.AnnotationOrder] != token {
			continue
		}
		size, err := strconv.Atoi(c.Annotations[v1.AnnotationOrderSize])
		if err != nil || size < 1 || size > largest || o.Size != 0 && o.Size != size {
			return Order{}, false
		}
		if o.Size == 0 {
			o.Size, o.Claims = size, make([]*v1.NodeClaim, size)
		}
		place, err := strconv.Atoi(c.Annotations[v1.AnnotationOrderPlace])
		if err != nil || place < 0 || place >= size || o.Claims[place] != nil {
			return Order{}, false
		}
		o.Claims[place] = c
	}
	return o, o.Size > 0
}

// Whole reports whether every claim of the order is there, launched or not.
func (o Order) Whole() bool { return !slices.Contains(o.Claims, nil) }

// Left are the claims of the order that have no machine yet and want one.
func (o Order) Left() []*v1.NodeClaim { return o.those(Waiting) }

// Leaving are the claims of the order that go before it is known whether they
// have a machine.
func (o Order) Leaving() []*v1.NodeClaim { return o.those(Leaving) }

// Open are the claims of the order that a machine can be dealt to: first those
// that want one, then those that take theirs along.
func (o Order) Open() []*v1.NodeClaim { return append(o.Left(), o.Leaving()...) }

func (o Order) those(are func(*v1.NodeClaim) bool) []*v1.NodeClaim {
	var out []*v1.NodeClaim
	for _, c := range o.Claims {
		if c != nil && are(c) {
			out = append(out, c)
		}
	}
	return out
}

// Deal gives machines of the order, sorted by id, to its claims by place. A
// machine that a claim has already is never dealt again.
func (o Order) Deal(machines []cloud.Machine) map[string]cloud.Machine {
	held := map[string]bool{}
	for _, c := range o.Claims {
		if c != nil && c.Status.ProviderID != "" {
			held[c.Status.ProviderID] = true
		}
	}
	var free []cloud.Machine
	for _, m := range machines {
		if m.Order == o.Token && !held[m.ProviderID] && !m.Ending {
			free = append(free, m)
		}
	}
	slices.SortFunc(free, func(a, b cloud.Machine) int { return strings.Compare(string(a.ID), string(b.ID)) })
	out := map[string]cloud.Machine{}
	for _, c := range o.Open() {
		if len(free) == 0 {
			break
		}
		out[c.Name], free = free[0], free[1:]
	}
	return out
}

// Fate is what becomes of a claim that got no machine.
type Fate string

// The fates.
const (
	GiveUp      Fate = "give up" // delete it: its pods are planned again, without what is sold out
	Recut       Fate = "recut"   // order it again after a while: this order has bought all it will
	Resend      Fate = "resend"  // send the same order again: it may have bought machines we do not know of
	longestWait      = time.Minute
)

// FateOf decides about the claims that an order left over because of err.
func FateOf(o Order, err error) Fate {
	switch cloud.CodeOf(err) {
	case cloud.Capacity, cloud.NotReady:
		return GiveUp
	case cloud.Invalid, cloud.Unauthorised:
		return Recut
	}
	if len(o.Open()) < o.Size {
		return Recut
	}
	return Resend
}

// Wait is how long after an order that ended with err its claims are ordered
// again: twice as long each time, and longer from the first where a person has to
// do something before it can succeed.
func (o Order) Wait(err error) time.Duration {
	first := time.Second
	switch cloud.CodeOf(err) {
	case cloud.Invalid:
		first = 5 * time.Second
	case cloud.Unauthorised:
		first = 10 * time.Second
	}
	return min(first<<min(o.Attempt(), 10), longestWait)
}
