package cloud

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/panics"
)

// Config is what a Cloud is made of. Only Driver is needed.
type Config struct {
	Driver   Driver
	Provider string                         // the driver's name, for metrics
	Publish  func(world.Catalog)            // is given every catalogue that is new
	Withdraw func(world.TemplateID, string) // called with every template that sells nothing, and why
	Now      clock.Now
	Metrics  *metric.Set
	Panics   panics.Teller // reports catalogues that break what makes them
	Trouble  func(Trouble) // called for calls that fail for long although they are tried again, and when that ends
	// Fresh is how old a catalogue may grow before it is asked for again; 0 means five minutes.
	Fresh time.Duration
	// Attempts is how often a throttled or unclear call is made in all; 0 means 4.
	Attempts int
	// Wait is how long the first retry waits; each further one twice as long. 0 means 250 ms.
	Wait time.Duration
	// Rate and Burst bound the calls a second of each method; 0 means 20 and 100.
	Rate  float64
	Burst int
}

// Cloud is a Driver with what every caller needs around it: calls within a
// budget, retries, metrics, catalogues that are kept fresh and a list of
// machines that many callers share. Its methods may be called from several goroutines.
type Cloud struct {
	*shared
	caller string // for metrics
}

type shared struct {
	cfg     Config
	budgets map[string]*rate.Limiter
	wake    chan struct{} // a catalogue is wanted at once

	refusals refusals
	troubles troubles

	publishing sync.Mutex // catalogues are published one after another, and none that was dropped

	mu        sync.Mutex
	templates map[world.TemplateID]*entry

	lists     lists
	questions questions
}

// entry is one template and how its catalogue stands.
type entry struct {
	template Template
	version  string
	why      string    // it sells nothing, as Withdraw was given
	next     time.Time // when it is due; zero: now
	soldOut  time.Time // when an offer of it was last refused as sold out; zero: never
	begun    int       // renewals
	settled  int       // the latest of them that has ended
	borrowed time.Time // when it was last asked for, if no pool wants it; zero: one does
	err      error
}

// The methods of a driver, as metrics name them.
const (
	methodCatalog   = "GetInstanceTypes"
	methodLaunch    = "Create"
	methodTerminate = "Delete"
	methodList      = "List"
	methodFind      = "Get"
	methodDrift     = "IsDrifted"
)

// New returns a Cloud over a driver. It asks for nothing before it is asked to.
func New(cfg Config) *Cloud {
	if cfg.Now == nil {
		cfg.Now = clock.Wall
	}
	if cfg.Publish == nil {
		cfg.Publish = func(world.Catalog) {}
	}
	if cfg.Withdraw == nil {
		cfg.Withdraw = func(world.TemplateID, string) {}
	}
	if cfg.Trouble == nil {
		cfg.Trouble = func(Trouble) {}
	}
	if cfg.Fresh == 0 {
		cfg.Fresh = 5 * time.Minute
	}
	if cfg.Attempts == 0 {
		cfg.Attempts = 4
	}
	if cfg.Wait == 0 {
		cfg.Wait = 250 * time.Millisecond
	}
	if cfg.Rate == 0 {
		cfg.Rate, cfg.Burst = 20, 100
	}
	s := &shared{cfg: cfg, budgets: map[string]*rate.Limiter{}, wake: make(chan struct{}, 1), templates: map[world.TemplateID]*entry{}, refusals: refusals{asks: map[Offer]asks{}}}
	s.lists.turn, s.questions.turn = make(chan struct{}, 1), make(chan struct{}, 1)
	for _, method := range []string{methodCatalog, methodLaunch, methodTerminate, methodList, methodFind, methodDrift} {
		s.budgets[method] = rate.NewLimiter(rate.Limit(cfg.Rate), cfg.Burst)
	}
	return &Cloud{shared: s}
}

// For returns the same Cloud with its calls counted as those of a controller.
func (c *Cloud) For(controller string) *Cloud { return &Cloud{shared: c.shared, caller: controller} }

// call makes one call within the budget, again while err says that it may
// succeed later, and counts it.
func (c *Cloud) call(ctx context.Context, method string, do func() error) error {
	wait := c.cfg.Wait
	for attempt := 1; ; attempt++ {
		if err := c.budgets[method].Wait(ctx); err != nil {
			return err
		}
		start := c.cfg.Now()
		err := do()
		c.cfg.Metrics.Observe(metric.CloudDuration, c.cfg.Now.Since(start).Seconds(), c.caller, method, c.cfg.Provider)
		c.report(ctx, method, start, err)
		if err == nil {
			return nil
		}
		c.cfg.Metrics.Add(metric.CloudErrors, 1, c.caller, method, c.cfg.Provider, errorLabel(err))
		if !again(err) || attempt >= c.cfg.Attempts || method == methodLaunch && CodeOf(err) == Throttled || !pause(ctx, wait) {
			return err
		}
		wait *= 2
	}
}

// report logs calls that fail for long. One that was called off says nothing of the cloud.
func (c *Cloud) report(ctx context.Context, method string, began time.Time, err error) {
	if err != nil && ctx.Err() != nil {
		return
	}
	if t, ok := c.troubles.note(method, began, c.cfg.Now(), err); ok {
		c.cfg.Trouble(t)
	}
}

// again reports whether a call that ended so may succeed when it is repeated.
func again(err error) bool {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	return CodeOf(err) == Throttled || CodeOf(err) == Unknown
}

// pause waits for d; false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

// errorLabel is the name by which dashboards know a kind of error.
func errorLabel(err error) string {
	switch code := CodeOf(err); code {
	case Gone:
		return "NodeClaimNotFoundError"
	case Capacity:
		return "InsufficientCapacityError"
	case NotReady:
		return "NodeClassNotReadyError"
	default:
		return string(code)
	}
}

// Launch carries out orders. What is unclear is sent again under the same token,
// which buys nothing twice. What is throttled, though the driver has waited and
// tried again, is the caller's to say and to send later. Where offers turned out to be sold
// out, the catalogue is asked for again before Launch returns its capacity error.
func (c *Cloud) Launch(ctx context.Context, orders []Order) []Outcome {
	out := make([]Outcome, len(orders))
	left := make([]int, len(orders))
	for i := range orders {
		left[i] = i
	}
	err := c.call(ctx, methodLaunch, func() error {
		send := make([]Order, len(left))
		for k, i := range left {
			send[k] = orders[i]
		}
		var retry []int
		var last error
		for k, o := range c.cfg.Driver.Launch(ctx, send) {
			slices.SortFunc(o.Machines, byID)
			out[left[k]] = o
			c.failed(o)
			switch {
			case o.Err == nil:
			case again(o.Err):
				retry, last = append(retry, left[k]), o.Err
			case last == nil:
				last = o.Err
			}
		}
		if len(retry) > 0 {
			left = retry
			return lastOf(out, retry)
		}
		return last
	})
	for i := range orders {
		if len(out[i].Machines) == 0 && out[i].Err == nil {
			out[i].Err = cmp.Or(ctx.Err(), err) // never sent
		}
		c.refusals.note(c.cfg.Now(), out[i])
		c.cfg.Metrics.Observe(metric.BatchSize, float64(orders[i].Count), "create_fleet")
	}
	c.soldOut(ctx, orders, out)
	c.drawn(ctx, orders, out)
	return out
}

// failed counts what gave no machine: every offer that the provider named, or else the request as a whole.
func (c *Cloud) failed(o Outcome) {
	for _, f := range o.Failed {
		c.cfg.Metrics.Add(metric.LaunchFailures, 1, f.Zone, f.ZoneID, f.CapacityType, f.Reason)
	}
	if o.Err != nil && len(o.Failed) == 0 {
		reason := "LaunchFailed"
		if e, ok := errors.AsType[*Error](o.Err); ok {
			reason = cmp.Or(e.Reason, reason)
		}
		c.cfg.Metrics.Add(metric.LaunchFailures, 1, "", "", "", reason)
	}
}

func lastOf(out []Outcome, of []int) error { return out[of[len(of)-1]].Err }

// soldOut has the catalogues of orders that met sold-out offers rebuilt.
func (c *Cloud) soldOut(ctx context.Context, orders []Order, out []Outcome) {
	seen := map[world.TemplateID]bool{}
	for i, o := range out {
		id := orders[i].Template.ID
		if CodeOf(o.Err) == Capacity && !seen[id] {
			seen[id] = true
			c.mark(id)
			c.renew(ctx, id)
		}
	}
}

// Unlisted is how long after it was bought a machine may be missing in a list
// although it is there.
const Unlisted = time.Minute

// drawn has the catalogues of orders that drew from a reservation made again,
// before their claims are said to be launched: until then each counts as one
// that will draw, and what is left must count it from then on. Other templates
// may sell from the same reservation, and theirs follow.
func (c *Cloud) drawn(ctx context.Context, orders []Order, out []Outcome) {
	seen := map[world.TemplateID]bool{}
	for i, o := range out {
		id := orders[i].Template.ID
		if seen[id] || !slices.ContainsFunc(o.Machines, func(m Machine) bool { return m.Reservation != "" }) {
			continue
		}
		seen[id] = true
		c.renew(ctx, id)
	}
	if len(seen) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, e := range c.templates {
		if !seen[id] {
			e.next = time.Time{}
		}
	}
	c.poke()
}

// standsBefore is a driver that hands calls on to another.
type standsBefore interface{ Behind() Driver }

// able returns the first of a driver and those behind it that can do what not every one can.
func able[T any](d Driver) (T, bool) {
	for {
		if x, ok := d.(T); ok {
			return x, true
		}
		before, ok := d.(standsBefore)
		if !ok {
			var none T
			return none, false
		}
		d = before.Behind()
	}
}

// counter is a driver that knows what is left of reservations for a while, and can be informed that it is more now.
type counter interface{ Freed() }

// Freed has all catalogues made again at once, because a machine of a reservation has ended: what it gives back is paid for.
func (c *Cloud) Freed() {
	if d, ok := able[counter](c.cfg.Driver); ok {
		d.Freed()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.templates {
		e.next = time.Time{}
	}
	c.poke()
}

// Terminate ends machines; nil means gone or going.
func (c *Cloud) Terminate(ctx context.Context, ids ...MachineID) []error {
	errs, sent := make([]error, len(ids)), false
	c.cfg.Metrics.Observe(metric.BatchSize, float64(len(ids)), "terminate_instances")
	err := c.call(ctx, methodTerminate, func() error {
		var last error
		sent = true
		for i, err := range c.cfg.Driver.Terminate(ctx, ids) {
			if CodeOf(err) == Gone {
				err = nil
			}
			errs[i] = err
			if err != nil {
				last = err
			}
		}
		return last
	})
	for i := range errs {
		switch {
		case err != nil && !sent: // as when the deadline comes before its turn
			errs[i] = err
		case err != nil && ctx.Err() != nil:
			errs[i] = errors.Join(errs[i], ctx.Err())
		}
	}
	known, _, _ := c.lists.recent(time.Time{}) // any list would do: machines do not move
	for i, err := range errs {
		if err == nil {
			continue
		}
		zone, id := "", ""
		if k := slices.IndexFunc(known, func(m Machine) bool { return m.ID == ids[i] }); k >= 0 {
			zone, id = known[k].Zone, known[k].ZoneID
		}
		c.cfg.Metrics.Add(metric.TerminationFailures, 1, zone, id)
	}
	return errs
}

// Drift says why a machine is no longer what its template asks for.
func (c *Cloud) Drift(ctx context.Context, m Machine, t Template) (why Drifted, err error) {
	err = c.call(ctx, methodDrift, func() error {
		why, err = c.cfg.Driver.Drift(ctx, m, t)
		return err
	})
	return why, err
}

// Complete fills in what the claims of machines that were found are to show, as
// Launch does for those that were bought.
func (c *Cloud) Complete(ctx context.Context, t Template, machines []Machine) (out []Machine, err error) {
	err = c.call(ctx, methodCatalog, func() error {
		out, err = c.cfg.Driver.Complete(ctx, t, machines)
		return err
	})
	return out, err
}

func byID(a, b Machine) int {
	switch {
	case a.ID < b.ID:
		return -1
	case a.ID > b.ID:
		return 1
	}
	return 0
}
