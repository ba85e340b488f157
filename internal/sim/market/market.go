// Package market models what one AWS account sees of EC2 in one region: types, prices, capacity, networks, images, templates, machines.
//
// It knows no wire format and no Kubernetes. Time is a function the caller
// gives: with a virtual clock the caller steps the market by Tick and Next,
// with the real one a single goroutine does so in Run. Everything that happens
// follows from the configuration, the calls and the clock, so the same calls at
// the same times give the same market, ids and prices included.
package market

import (
	"context"
	"sync"
	"time"
)

// Timing says how long things take in this market.
type Timing struct {
	Boot         time.Duration // pending → running
	ShutDown     time.Duration // shutting-down → terminated
	Forget       time.Duration // terminated → no longer described
	Hidden       time.Duration // how long describe calls miss a fresh instance
	SpotNotice   time.Duration // from the warning to the end of a spot instance
	PricePeriod  time.Duration // how often spot prices are redrawn
	SpotVariance float64       // how far one redraw may move, as a standard deviation of the logarithm
}

// Usual returns the durations one meets in a real region.
func Usual() Timing {
	return Timing{
		Boot:         8 * time.Second,
		ShutDown:     20 * time.Second,
		Forget:       time.Hour,
		SpotNotice:   2 * time.Minute,
		PricePeriod:  time.Hour,
		SpotVariance: 0.04,
	}
}

// Config is what a market starts with.
type Config struct {
	Region    string
	Account   string // twelve digits
	Seed      uint64
	Zones     []Zone
	Types     []Type
	Timing    Timing // the zero value means Usual
	Limits    map[string]Limit
	Quotas    map[Bucket]int // vCPUs per bucket; a missing bucket is not limited
	Now       func() time.Time
	KeepCalls int // how many recorded calls are kept; 0 means 20,000
}

// Market is one account in one region. Its methods may be called from any goroutine.
type Market struct {
	cfg   Config
	now   func() time.Time
	wake  chan struct{}
	watch Observer

	mu        sync.Mutex
	at        time.Time // the moment that is being acted in; set when the market is locked
	version   uint64    // see Version
	serial    map[string]uint64
	due       agenda
	outbox    []func(Observer)
	types     map[string]*Type
	typeNames []string
	zones     []Zone
	subnets   map[string]*Subnet
	groups    map[string]*SecurityGroup
	images    map[string]*Image
	params    map[string]Parameter
	templates map[string]*Template
	instances map[string]*Instance
	placement map[string]*PlacementGroup
	left      map[string]*Disk // volumes that outlived their machines
	reserved  map[string]*Reservation
	fleets    map[string]fleetRecord
	tokens    map[string]digest // of requests, by kind and token
	rules     []*Capacity
	prices    []PriceRule
	noRole    bool // the service-linked role for spot is missing
	roles     map[string]*Role
	policies  map[string]*Policy
	profiles  map[string]*Profile
	queues    map[string]*Queue
	clusters  map[string]*Cluster
	shifted   map[string]time.Time
	bucket    map[string]*leaky
	quotas    map[Bucket]int
	vcpus     map[Bucket]int // running, by bucket
	calls     callLog
}

// New returns a market of the given types and zones, with nothing in it.
func New(cfg Config) *Market {
	if cfg.Timing == (Timing{}) {
		cfg.Timing = Usual()
	}
	if cfg.KeepCalls == 0 {
		cfg.KeepCalls = 20_000
	}
	m := &Market{
		cfg:       cfg,
		now:       cfg.Now,
		wake:      make(chan struct{}, 1),
		serial:    map[string]uint64{},
		types:     map[string]*Type{},
		zones:     cfg.Zones,
		subnets:   map[string]*Subnet{},
		groups:    map[string]*SecurityGroup{},
		images:    map[string]*Image{},
		params:    map[string]Parameter{},
		templates: map[string]*Template{},
		instances: map[string]*Instance{},
		placement: map[string]*PlacementGroup{},
		left:      map[string]*Disk{},
		reserved:  map[string]*Reservation{},
		fleets:    map[string]fleetRecord{},
		tokens:    map[string]digest{},
		roles:     map[string]*Role{},
		policies:  map[string]*Policy{},
		profiles:  map[string]*Profile{},
		queues:    map[string]*Queue{},
		clusters:  map[string]*Cluster{},
		shifted:   map[string]time.Time{},
		bucket:    map[string]*leaky{},
		quotas:    map[Bucket]int{},
		vcpus:     map[Bucket]int{},
		calls:     callLog{keep: cfg.KeepCalls, counts: map[string]int{}},
	}
	for i := range cfg.Types {
		m.types[cfg.Types[i].Name] = &cfg.Types[i]
		m.typeNames = append(m.typeNames, cfg.Types[i].Name)
	}
	for b, n := range cfg.Quotas {
		m.quotas[b] = n
	}
	return m
}

// Region returns the region's name.
func (m *Market) Region() string { return m.cfg.Region }

// Account returns the account's number.
func (m *Market) Account() string { return m.cfg.Account }

// Now returns the market's time.
func (m *Market) Now() time.Time { return m.now() }

// Observe registers an observer of what happens. It must be called before the first machine is launched.
func (m *Market) Observe(o Observer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watch = o
}

// Tick lets everything happen that is due by now and reports it to the observer.
// One goroutine at a time may call it: Run's, or the driver of virtual time.
func (m *Market) Tick() {
	for {
		m.mu.Lock()
		m.settle()
		outbox, watch := m.outbox, m.watch
		m.outbox = nil
		m.mu.Unlock()
		if len(outbox) == 0 {
			return
		}
		for _, f := range outbox {
			f(watch)
		}
	}
}

// Next returns when the next thing is due, for a driver of virtual time.
func (m *Market) Next() (time.Time, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.outbox) > 0 {
		return m.now(), true
	}
	return m.due.next()
}

// Run ticks the market as time passes, until ctx ends.
func (m *Market) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-timer.C:
		}
		m.Tick()
		if at, ok := m.Next(); ok {
			timer.Reset(max(at.Sub(m.now()), 0))
		}
	}
}

// lock takes the market for one call and brings it up to date.
func (m *Market) lock() func() {
	m.mu.Lock()
	m.settle()
	return m.mu.Unlock
}

// settle does what is due, each thing at its own time. The market is locked.
func (m *Market) settle() {
	now := m.now()
	for {
		act, ok := m.due.pop(now)
		if !ok {
			m.at = now
			return
		}
		m.at = act.at
		act.do(act.at)
	}
}

// after puts something on the agenda. The market is locked.
func (m *Market) after(at time.Time, do func(time.Time)) {
	m.due.add(at, do)
	m.poke()
}

// post keeps a message for the observer until the next tick. The market is locked.
func (m *Market) post(f func(Observer)) {
	m.outbox = append(m.outbox, func(o Observer) {
		if o != nil {
			f(o)
		}
	})
	m.poke()
}

func (m *Market) poke() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Observer is called with what happens to machines, in order, outside the market's lock.
type Observer interface {
	// Running is called when a machine has started to run.
	Running(Instance)
	// Terminated is called when a machine has stopped for good.
	Terminated(Instance)
	// Notice is called for what AWS would publish as an event.
	Notice(Notice)
}

// Observers is an Observer made of functions; those left out are not called.
type Observers struct {
	OnRunning    func(Instance)
	OnTerminated func(Instance)
	OnNotice     func(Notice)
}

// Running implements Observer.
func (o Observers) Running(i Instance) {
	if o.OnRunning != nil {
		o.OnRunning(i)
	}
}

// Terminated implements Observer.
func (o Observers) Terminated(i Instance) {
	if o.OnTerminated != nil {
		o.OnTerminated(i)
	}
}

// Notice implements Observer.
func (o Observers) Notice(n Notice) {
	if o.OnNotice != nil {
		o.OnNotice(n)
	}
}
