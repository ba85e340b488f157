// Package liveness gives up claims whose machine or node does not come, or whose node is never complete.
package liveness

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/annotation"
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

// Next returns the step that is due for a claim that has been waiting for so long. initialize is how long a
// registered node may take to be initialized; zero: for ever.
func Next(c *v1.NodeClaim, waited, initialize time.Duration) Step {
	limit, reason := LaunchTimeout, enact.LaunchTimeout
	switch {
	case c.DeletionTimestamp != nil || c.Conditions().Is(v1.ConditionInitialized):
		return Step{}
	case c.Conditions().Is(v1.ConditionRegistered) && (initialize == 0 || c.Annotations[annotation.Adopts] != ""):
		return Step{}
	case c.Conditions().Is(v1.ConditionRegistered):
		limit, reason = initialize, enact.InitializationTimeout
	case c.Annotations[annotation.Adopts] != "" && c.Conditions().Is(v1.ConditionLaunched):
		return Step{} // its node was there before it, and has pods: that it cannot be matched with its claim does not make it useless
	case c.Conditions().Is(v1.ConditionLaunched):
		limit, reason = RegistrationTimeout, enact.RegistrationTimeout
	}
	if left := limit - waited; left > 0 {
		return Step{Again: left}
	}
	return Step{GiveUp: reason}
}

// Began is when a claim began to wait for what it waits for: when its node registered, when it was
// launched, or its launch was judged last, by our own clock. It is zero for one
// that has not been judged yet: its creation was dated by another's clock, so it began
// when it was seen first.
func Began(c *v1.NodeClaim) time.Time {
	if s := c.Conditions().Get(v1.ConditionRegistered); s != nil && s.Status == metav1.ConditionTrue {
		return later(s.LastTransitionTime.Time, c.CreationTimestamp.Time)
	}
	s := c.Conditions().Get(v1.ConditionLaunched)
	if s == nil || s.Status != metav1.ConditionTrue && !s.LastTransitionTime.After(c.CreationTimestamp.Time) {
		return time.Time{}
	}
	return later(s.LastTransitionTime.Time, c.CreationTimestamp.Time)
}

// later is the date of what happened to a claim, which was not before there was
// one: it may have been written by a process whose clock was behind.
func later(date, made time.Time) time.Time {
	if date.Before(made) {
		return made
	}
	return date
}
