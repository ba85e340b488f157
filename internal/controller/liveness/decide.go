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

// Next returns the step that is due for a claim at now.
func Next(c *v1.NodeClaim, now time.Time) Step {
	if c.DeletionTimestamp != nil || c.Conditions().Is(v1.ConditionRegistered) {
		return Step{}
	}
	if !c.Conditions().Is(v1.ConditionLaunched) {
		if left := since(c, v1.ConditionLaunched).Add(LaunchTimeout).Sub(now); left > 0 {
			return Step{Again: left}
		}
		return Step{GiveUp: enact.LaunchTimeout}
	}
	if left := since(c, v1.ConditionRegistered).Add(RegistrationTimeout).Sub(now); left > 0 {
		return Step{Again: left}
	}
	return Step{GiveUp: enact.RegistrationTimeout}
}

// since is when a condition last changed; before anyone has judged it, when the claim was made.
func since(c *v1.NodeClaim, kind string) time.Time {
	if s := c.Conditions().Get(kind); s != nil && !s.LastTransitionTime.IsZero() {
		return s.LastTransitionTime.Time
	}
	return c.CreationTimestamp.Time
}
