// Package fault makes a simulated AWS account misbehave on demand: rules for calls, and an HTTP interface to set them and to disturb the market.
package fault

import (
	"path"
	"slices"
	"sync"
	"time"
)

// Kind is what a rule does to a call.
type Kind string

// What can be done to a call.
const (
	Throttle Kind = "throttle" // refuse it as too frequent
	Deny     Kind = "deny"     // refuse it as not permitted
	Expire   Kind = "expire"   // refuse its credentials as expired
	Fail     Kind = "fail"     // refuse it with a code of one's own; 500 InternalError by default
	Lose     Kind = "lose"     // do it and drop the answer
	Drop     Kind = "drop"     // drop the connection without doing it
	Delay    Kind = "delay"    // do it later
)

// Rule disturbs the calls it matches.
type Rule struct {
	ID      int     `json:"id"`
	Service string  `json:"service"` // ec2, iam, …; empty or * for all
	Action  string  `json:"action"`  // CreateFleet, Describe*; empty or * for all
	Caller  string  `json:"caller"`  // the role that signs; empty for everyone
	Kind    Kind    `json:"kind"`
	Code    string  `json:"code,omitempty"`
	Message string  `json:"message,omitempty"`
	Status  int     `json:"status,omitempty"`
	Seconds float64 `json:"seconds,omitempty"` // of a delay; of any other kind: how long the rule is in force, 0: until it is removed
	Skip    int     `json:"skip,omitempty"`    // let so many calls pass first
	Times   int     `json:"times,omitempty"`   // how many calls it disturbs; 0: all until it is removed

	Until time.Time `json:"until,omitzero"` // when it ends by itself, worked out from Seconds
}

// Rules is a list of rules in force.
type Rules struct {
	Now func() time.Time // nil: rules do not end by themselves

	mu   sync.Mutex
	last int
	list []Rule
}

// Add puts a rule in force and returns it with its id.
func (r *Rules) Add(rule Rule) Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	rule.ID = r.last
	if r.Now != nil && rule.Kind != Delay && rule.Seconds > 0 {
		rule.Until = r.Now().Add(seconds(rule.Seconds))
	}
	r.list = append(r.list, rule)
	return rule
}

// Remove lifts a rule, id 0 all of them, and says whether there was one.
func (r *Rules) Remove(id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	before := len(r.list)
	r.list = slices.DeleteFunc(r.list, func(rule Rule) bool { return id == 0 || rule.ID == id })
	return len(r.list) < before
}

// List returns the rules in force, oldest first.
func (r *Rules) List() []Rule {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	return slices.Clone(r.list)
}

// expire removes the rules whose time is over.
func (r *Rules) expire() {
	if r.Now == nil {
		return
	}
	now := r.Now()
	r.list = slices.DeleteFunc(r.list, func(rule Rule) bool { return !rule.Until.IsZero() && !now.Before(rule.Until) })
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// Effect is what is to be done to one call.
type Effect struct {
	Delay  time.Duration
	Lose   bool
	Drop   bool
	Refuse *Rule // Throttle, Deny, Expire or Fail
}

// On returns what the rules do to a call, and uses them up by one.
func (r *Rules) On(service, action, caller string) Effect {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expire()
	var e Effect
	for k := range r.list {
		rule := &r.list[k]
		if !rule.matches(service, action, caller) || rule.Times < 0 {
			continue
		}
		if rule.Skip > 0 {
			rule.Skip--
			continue
		}
		e.apply(*rule)
		if rule.Times == 1 {
			rule.Times = -1
		}
		if rule.Times > 1 {
			rule.Times--
		}
	}
	r.list = slices.DeleteFunc(r.list, func(rule Rule) bool { return rule.Times < 0 })
	return e
}

func (e *Effect) apply(rule Rule) {
	switch rule.Kind {
	case Delay:
		e.Delay += seconds(rule.Seconds)
	case Lose:
		e.Lose = true
	case Drop:
		e.Drop = true
	default:
		if e.Refuse == nil {
			e.Refuse = &rule
		}
	}
}

func (rule *Rule) matches(service, action, caller string) bool {
	return glob(rule.Service, service) && glob(rule.Action, action) && glob(rule.Caller, caller)
}

// glob matches a shell pattern; an empty pattern matches everything.
func glob(pattern, text string) bool {
	if pattern == "" {
		return true
	}
	ok, err := path.Match(pattern, text)
	return err == nil && ok
}
