package launch

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/internal/aws/fleet"
	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

const (
	// maxShowDelay is how long EC2 may take to show a machine that it has made.
	maxShowDelay = 30 * time.Second
	// An order is remembered so long after it was last asked for, once there are so many.
	orderKept = time.Hour
	orderMany = 2_000
)

// past is what this process knows of one order: what it has sent and what came of it.
type past struct {
	token    string
	last     time.Time // when it was last asked for
	recalled bool      // what an earlier process bought is among machines
	machines []cloud.Machine
	unsaid   []cloud.MachineID // bought by this process, and not announced yet
	settled  bool              // whose machines they are is settled
	round    int               // requests that were answered or whose token is spent
	sent     *fleet.Request    // sent, and no answer came
	clashed  time.Time         // when its token was first found to be used
	ended    bool              // the order buys no more
	err      error             // why it ended with fewer machines than it wanted
}

// add takes down machines of the order, and returns those it did not have.
func (p *past) add(found ...cloud.Machine) []cloud.MachineID {
	var added []cloud.MachineID
	for _, m := range found {
		if !m.Ending && !slices.ContainsFunc(p.machines, func(k cloud.Machine) bool { return k.ID == m.ID }) {
			p.machines = append(p.machines, m)
			added = append(added, m.ID)
		}
	}
	slices.SortFunc(p.machines, func(a, b cloud.Machine) int { return cmp.Compare(a.ID, b.ID) })
	return added
}

// unless is the outcome of an order that cannot go on. While it has machines,
// or may have, it must not be concluded that it has none.
func (p *past) unless(err error) cloud.Outcome {
	if len(p.machines) == 0 && p.sent == nil {
		return cloud.Outcome{Err: err}
	}
	return cloud.Outcome{Err: cloud.Errorf(cloud.Unknown, "LaunchFailed", "order %s has machines already: %w", p.token, err)}
}

// orders remembers the orders of this process, so that one that is asked for
// again, or twice at once, buys nothing twice.
type orders struct {
	locks keylock.Locks

	mu  sync.Mutex
	all map[string]*past
}

// open returns an order's past for one caller; others wait until done is called.
func (o *orders) open(ctx context.Context, token string, now clock.Now) (p *past, done func(), err error) {
	if done, err = o.locks.Lock(ctx, token); err != nil {
		return nil, nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.all) >= orderMany {
		maps.DeleteFunc(o.all, func(_ string, p *past) bool { return now.Since(p.last) > orderKept })
	}
	if p = o.all[token]; p == nil {
		if o.all == nil {
			o.all = map[string]*past{}
		}
		p = &past{token: token}
		o.all[token] = p
	}
	p.last = now()
	return p, done, nil
}
