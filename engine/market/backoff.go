package market

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Backoffs are the purchases that have to wait because those before them came
// to nothing.
type Backoffs struct {
	at    int64
	pools map[world.PoolID]*world.Backoff
	pods  map[world.Key][]*world.Backoff
}

// tries reports whether a pool whose nodes come to nothing has one on its way
// since its last failure. Until it is known what becomes of that it asks for no more.
func tries(w *world.World, x *world.Backoff) bool {
	if x.Pod != (world.Key{}) || x.Until() == x.Last {
		return false
	}
	return slices.ContainsFunc(w.Places(), func(m *world.Place) bool {
		return m.Claim != nil && m.Claim.Pool == x.Pool && m.Claim.Template == x.Template && m.Claim.Created >= x.Last && !m.Deleting() && !m.Serves()
	})
}

// NewBackoffs finds the purchases that have to wait now. A pod whose machine
// has only just become ready has to wait as well: kube-scheduler may not have
// got round to placing it there.
func NewBackoffs(w *world.World) Backoffs {
	b := Backoffs{at: w.At(), pools: map[world.PoolID]*world.Backoff{}, pods: map[world.Key][]*world.Backoff{}}
	for _, x := range w.Backoffs() {
		switch {
		case !x.Holds(w.At()) && !tries(w, x):
		case x.Pod != world.Key{}:
			b.pods[x.Pod] = append(b.pods[x.Pod], x)
		default:
			if p := w.Pool(x.Pool); p != nil && p.Template == x.Template {
				b.pools[x.Pool] = x
			}
		}
	}
	for _, m := range w.Places() {
		if m.Node == nil || m.Claim == nil || !m.Claim.Initialized || m.Deleting() || m.Claim.InitializedAt+world.Settling <= w.At() || !m.Reserved() {
			continue
		}
		for _, key := range m.Claim.Pods {
			if p := w.Pod(key); p != nil && p.Wants() {
				b.pods[key] = append(b.pods[key], &world.Backoff{BackoffID: world.BackoffID{Pod: key}, Times: 1, Last: m.Claim.InitializedAt, Why: m.Refusing()})
			}
		}
	}
	return b
}

// Of is what keeps a pool from buying for a pod longest; nil if nothing does.
func (b Backoffs) Of(pod world.Key, p *world.Pool) *world.Backoff {
	out := b.pools[p.ID]
	for _, x := range b.pods[pod] {
		if x.Pool != (world.PoolID{}) && (x.Pool != p.ID || x.Template != p.Template) {
			continue
		}
		if out == nil || x.Until() > out.Until() {
			out = x
		}
	}
	return out
}

// Next is when the first of the purchases may be made; 0 if none has to wait.
func (b Backoffs) Next() int64 {
	at := int64(0)
	earlier := func(x *world.Backoff) {
		if until := x.Until(); until > b.at && (at == 0 || until < at) {
			at = until
		}
	}
	for _, x := range b.pools {
		earlier(x)
	}
	for _, all := range b.pods {
		for _, x := range all {
			earlier(x)
		}
	}
	return at
}

// AppendIdentity adds what tells a pod whose purchases have to wait from others.
func (b Backoffs) AppendIdentity(text []byte, pod world.Key) []byte {
	for _, x := range b.pods[pod] {
		text = append(append(append(text, 'b'), x.Pool.Kind...), '/')
		text = append(append(append(text, x.Pool.Name...), '/'), x.Template...)
		text = binary.AppendVarint(binary.AppendVarint(text, x.Last), int64(x.Times))
	}
	return text
}

// BackoffWhy says that a purchase has to wait at a time, and until when.
func BackoffWhy(x *world.Backoff, at int64) *reason.Why {
	until := "after " + time.Unix(x.Until(), 0).UTC().Format(time.TimeOnly) + " UTC"
	if !x.Holds(at) {
		until = "when it is known what becomes of the one that is on its way"
	}
	why := &reason.Why{Code: reason.BackOff}
	switch {
	case x.Pod == world.Key{}:
		why.Detail = fmt.Sprintf("the last %d nodes it asked for came to nothing, the last: %s; the next is asked for %s", x.Times, x.Why, until)
		why.Hint = "remove the cause; editing the pool or its class ends the wait"
	case x.Times == 1:
		why.Detail = fmt.Sprintf("the last node asked for the pod came to nothing: %s; the next is asked for %s", x.Why, until)
		why.Hint = "see what keeps the pod off that node"
	default:
		why.Detail = fmt.Sprintf("the last %d nodes asked for the pod came to nothing, the last: %s; the next is asked for %s", x.Times, x.Why, until)
		why.Hint = "remove the cause; recreating the pod or editing its pool ends the wait"
	}
	return why
}
