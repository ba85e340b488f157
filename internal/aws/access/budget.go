package access

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"

	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/clock"
)

// How far apart the calls of one action are kept while AWS throttles it: the
// least and the most. A refusal doubles the gap, but the refusals of one gap count
// once: they were on their way together. Each success takes an eighth off.
const (
	leastGap = 5 * time.Millisecond
	mostGap  = 5 * time.Second
)

// budget slows calls down while AWS throttles them, so that a throttled account
// is degraded and never stops. Every action has a gap of its own, as it has a
// limit of its own at AWS. What only looks keeps besides to the widest gap of
// what makes and ends things: launches go before descriptions, never the other
// way round. A budget is one client's, and an aws.RetryerV2.
type budget struct {
	*retry.Standard
	now      clock.Now
	urgent   func(action string) bool
	throttle retry.IsErrorThrottles

	mu    sync.Mutex
	lanes map[string]*lane
}

// lane is how one action stands.
type lane struct {
	gap  time.Duration
	next time.Time // when the next call may go
	wide time.Time // when the gap was last widened
}

func newBudget(now clock.Now, urgent func(string) bool) *budget {
	return &budget{
		Standard: retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts, o.MaxBackoff, o.RateLimiter = 5, 10*time.Second, ratelimit.None
		}),
		now: now, urgent: urgent, throttle: slices.Clone(retry.DefaultThrottles), lanes: map[string]*lane{},
	}
}

// IsErrorRetryable is the SDK's. A server that does not have a call will not have
// it in a moment.
func (b *budget) IsErrorRetryable(err error) bool {
	return !refusal.Absent(err) && b.Standard.IsErrorRetryable(err)
}

// GetAttemptToken waits until the call may go.
func (b *budget) GetAttemptToken(ctx context.Context) (func(error) error, error) {
	action := awsmiddleware.GetOperationName(ctx)
	if wait := b.take(action); wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.C:
		}
	}
	return func(err error) error {
		b.learn(action, err != nil && b.throttle.IsErrorThrottle(err) == aws.TrueTernary)
		return nil
	}, nil
}

// take books the next place of an action's lane and returns how long it is until then.
func (b *budget) take(action string) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	l := b.lane(action)
	at := now
	if l.next.After(at) {
		at = l.next
	}
	l.next = at.Add(b.gap(action))
	return at.Sub(now)
}

// gap is how far apart the calls of an action are kept now.
func (b *budget) gap(action string) time.Duration {
	gap := b.lane(action).gap
	if b.urgent(action) {
		return gap
	}
	for other, l := range b.lanes {
		if b.urgent(other) {
			gap = max(gap, l.gap)
		}
	}
	return gap
}

func (b *budget) learn(action string, throttled bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	l, now := b.lane(action), b.now()
	switch {
	case throttled && now.Sub(l.wide) < l.gap:
	case throttled:
		l.gap, l.wide = min(max(2*l.gap, leastGap), mostGap), now
	case l.gap < leastGap:
		l.gap = 0
	default:
		l.gap -= l.gap / 8
	}
}

func (b *budget) lane(action string) *lane {
	l := b.lanes[action]
	if l == nil {
		l = &lane{}
		b.lanes[action] = l
	}
	return l
}

// urgent reports whether an action makes or ends something.
func urgent(action string) bool {
	return slices.ContainsFunc(Calls(), func(c Call) bool {
		return c.Action == action && slices.Contains([]Use{Create, Tag, Delete, Profile}, c.Use)
	})
}
