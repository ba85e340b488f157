package pool

import (
	"slices"
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// remembered is how many ends of launches count; as many failures as half of them are too many.
const remembered = 4

// Health is how the last machines of a pool came up.
type Health struct {
	Failed          []bool // the newest last
	Reason, Message string // of the last failure
}

// With returns the health after one more machine has come up or failed to.
func (h Health) With(o Outcome) Health {
	h.Failed = append(slices.Clone(h.Failed), o.Failed)
	if len(h.Failed) > remembered {
		h.Failed = h.Failed[1:]
	}
	if o.Failed {
		h.Reason, h.Message = o.Reason, o.Message
	}
	return h
}

// Verdict reports whether machines of the pool come up, and whether anything is known of it.
func (h Health) Verdict() (healthy, known bool) {
	failures := 0
	for _, f := range h.Failed {
		if f {
			failures++
		}
	}
	return failures < remembered/2, len(h.Failed) > 0
}

// HealthOf is what a condition that an earlier process wrote remembers.
func HealthOf(p *v1.NodePool) Health {
	c := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy)
	switch {
	case c == nil || c.ObservedGeneration != p.Generation:
		return Health{}
	case c.Status == "True":
		return Health{Failed: []bool{false}}
	case c.Status == "False":
		return Health{Failed: []bool{true, true}, Reason: c.Reason, Message: c.Message}
	}
	return Health{}
}

// Outcome is how one machine came up.
type Outcome struct {
	Failed          bool
	Reason, Message string
}

// The time a claim has to be launched and registered before it is given up.
const (
	launchTimeout       = 5 * time.Minute
	registrationTimeout = 15 * time.Minute
)

// OutcomeOf reads from a claim whether its machine came up after since, or was
// given up by now, when it is first seen to leave: times that the API server
// writes are by another clock. It is false for one that has not got so far, or
// goes for another reason.
func OutcomeOf(c *v1.NodeClaim, since, now time.Time) (Outcome, bool) {
	registered, launched := c.Conditions().Get(v1.ConditionRegistered), c.Conditions().Get(v1.ConditionLaunched)
	if registered != nil && registered.Status == "True" {
		return Outcome{}, !registered.LastTransitionTime.Time.Before(since)
	}
	if c.DeletionTimestamp == nil || launched == nil {
		return Outcome{}, false
	}
	waited := now.Sub(launched.LastTransitionTime.Time)
	if launched.Status != "True" {
		return Outcome{Failed: true, Reason: launched.Reason, Message: launched.Message}, waited >= launchTimeout
	}
	return Outcome{Failed: true, Reason: v1.ReasonRegistrationFailed, Message: "a machine was launched and did not register as a node"}, waited >= registrationTimeout
}
