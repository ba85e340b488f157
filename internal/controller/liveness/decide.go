// Package liveness gives up claims whose machine or node does not come.
package liveness

import (
	"time"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/enact"
)

// How long a claim may take.
const (
	LaunchTimeout       = 5 * time.Minute
	RegistrationTimeout = 15 * time.Minute
)

// Step is what is due for a claim: nothing before Again has passed, or to give it up.
type Step struct {
	GiveUp string // the reason, as metrics know it; empty: keep it
	Again  time.Duration
}

// Next returns the step that is due at now for a claim that was first seen at
// seen: its creation was dated by another's clock.
func Next(c *v1.NodeClaim, seen, now time.Time) Step {
	if c.DeletionTimestamp != nil || c.Conditions().Is(v1.ConditionRegistered) {
		return Step{}
	}
	if !c.Conditions().Is(v1.ConditionLaunched) {
		if left := tried(c, seen).Add(LaunchTimeout).Sub(now); left > 0 {
			return Step{Again: left}
		}
		return Step{GiveUp: enact.LaunchTimeout}
	}
	launched := c.Conditions().Get(v1.ConditionLaunched).LastTransitionTime.Time // by our own clock
	if left := launched.Add(RegistrationTimeout).Sub(now); left > 0 {
		return Step{Again: left}
	}
	return Step{GiveUp: enact.RegistrationTimeout}
}

// tried is when a launch was last judged; before that, when the claim was seen
// first. A condition as old as the claim was judged by nobody.
func tried(c *v1.NodeClaim, seen time.Time) time.Time {
	if s := c.Conditions().Get(v1.ConditionLaunched); s != nil && s.LastTransitionTime.After(c.CreationTimestamp.Time) {
		return s.LastTransitionTime.Time
	}
	return seen
}
