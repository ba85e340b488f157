package day

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Config says what day it is. All but Seed and Catalog have defaults.
type Config struct {
	Seed    uint64
	Catalog *catalog.Region
	Hours   int   // 24
	Apps    int   // 60: workloads that grow and shrink
	Most    int   // 40: replicas of the largest
	Breaks  int   // how many machines break
	Takes   int   // how many spot machines the cloud takes back
	SoldOut int   // how often a type is sold out for an hour
	Nothing int64 // seconds, from the second hour on, in which nothing at all is to be had
	Expire  int64 // seconds after which machines are given back; 0: never
	Move    bool  // pods are moved to make the cluster cheaper
	Fixed   int   // 5: machines of the pool of a fixed number, at most
	Often   int64 // 60: seconds between two looks which pods could run cheaper elsewhere

	Life Life // what happens in weeks, day after day
}

// Report is what the day came to.
type Report struct {
	Steps               int // events
	Decisions           int
	Pods, Bought, Given int
	Failed              int // machines that were asked for and not to be had
	Broken, Evicted     int
	Taken, SoldOut      int
	Moved, Kept         int // pods asked to leave that did, and that their budgets kept
	Consolidated        int // machines whose pods were moved to make the cluster cheaper
	TakenBack           int // and those that were to go and stayed
	PeakNodes, PeakPods int
	Spent               money.Micro
	LongestWait         int64 // seconds a pod waited for its place
	Expired, Drifted    int   // machines that were replaced because they were too old, or no longer as their pool says
	Rollouts, Edits     int
	Storms, Lame        int
	Deaths, MidWrite    int // ends of the process, and those of them between two writes of one deed
	Faults, Lost        int // calls of the cloud that failed, and those of them that were carried out
	Writes, Calls       int // of the process, to the API server and to the cloud
	Problems            []string
}

// The lengths of things, in seconds.
const (
	batch = 1  // after the last pod that came
	join  = 20 // from running to a ready node
	quiet = 60 // how long an empty machine is kept
)

const template world.TemplateID = "day"

// day is one day on its way.
type day struct {
	cfg    Config
	rng    *rand.Rand
	now    int64 // seconds since 1970
	agenda agenda
	report Report

	builder *world.Builder
	market  *market.Market
	driver  cloud.Driver
	life    life
	version string // of the catalogue in the World

	there []market.Instance // as of seen of the market
	seen  uint64

	apps    map[string]*app
	pods    map[world.Key]world.Pod
	nodes   map[string]world.Node
	claims  map[string]world.Claim
	serial  int
	planned bool // a decision is on the agenda
	binding bool // so is a round of the scheduler
	giving  int64
	keeping bool // a look at the fixed pool is on the agenda

	objects  map[world.PoolID]world.Pool
	menus    map[string][]string // of claims
	leaving  map[string]int64    // claims that are to go, and since when
	replicas int                 // of the fixed pool
	taken    map[string]bool     // machines whose end was announced
}

// Run lives through a day.
func Run(cfg Config) (Report, error) {
	cfg.Hours, cfg.Apps, cfg.Most = cmp.Or(cfg.Hours, 24), cmp.Or(cfg.Apps, 60), cmp.Or(cfg.Most, 40)
	cfg.Fixed, cfg.Often = cmp.Or(cfg.Fixed, 5), cmp.Or(cfg.Often, 60)
	d := &day{
		objects: map[world.PoolID]world.Pool{}, menus: map[string][]string{}, leaving: map[string]int64{},
		cfg: cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 7)), now: 1_800_000_000, builder: world.NewBuilder(),
		apps: map[string]*app{}, pods: map[world.Key]world.Pod{}, nodes: map[string]world.Node{}, claims: map[string]world.Claim{}, taken: map[string]bool{},
	}
	d.open()
	if err := d.pools(); err != nil {
		return d.report, err
	}
	evening := d.now + int64(cfg.Hours)*3600
	d.life.evening = evening
	for i := range cfg.Apps {
		a := d.app(i)
		d.apps[a.name] = a
		d.at(d.now+d.rng.Int64N(600), func() { d.grow(a, evening) })
	}
	d.resize(evening)
	d.trouble()
	if cfg.Move {
		d.by(d.now+cfg.Often, d.consolidate)
	}
	if cfg.Life.Kind() {
		d.rounds()
		d.morning()
	}
	for d.step() {
		if d.now > evening+dayLong {
			if len(d.pods)+len(d.claims) > 0 { // else only looks are left that were due some day
				d.problem("something is still done a day after the evening")
			}
			break
		}
		if len(d.report.Problems) > 20 {
			break
		}
	}
	d.night()
	return d.report, nil
}

// open makes the market: general machines of a few families in three zones.
func (d *day) open() {
	var types []market.Type
	for _, t := range market.TypesOf(d.cfg.Catalog) {
		switch t.Family {
		case "m5", "c5", "r5", "m6i", "c6i":
			if t.VCPUs <= 32 {
				types = append(types, t)
			}
		}
	}
	d.market = market.New(market.Config{
		Region: d.cfg.Catalog.Name, Account: "123456789012", Zones: market.ZonesOf(d.cfg.Catalog)[:3], Types: types, Seed: d.cfg.Seed,
		Now:    func() time.Time { return time.Unix(d.now, 0) },
		Timing: market.Timing{Boot: 8 * time.Second, ShutDown: 5 * time.Second, Forget: time.Hour, SpotNotice: 2 * time.Minute, PricePeriod: time.Hour},
	})
	for i, z := range d.market.Zones() {
		d.market.AddSubnet(market.Subnet{VPC: "vpc-day", Zone: z.Name, Range: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))})
	}
	d.connect()
	d.market.Observe(market.Observers{
		OnRunning:    d.running,
		OnTerminated: func(i market.Instance) { d.ended(i) },
		OnNotice:     d.noticed,
	})
}

// share is how many of a pool's machines may go at a time by choice, in percent.
const share = 20

// pools sets four pools, one of them bounded, one of a fixed number and one a Provisioner, and what runs on every node.
func (d *day) pools() error {
	after := int64(quiet)
	pool := world.Pool{
		ID: world.PoolID{Kind: world.NodePool, Name: "general"}, Template: template,
		Requirements: label.SetOf(label.Is(label.CapacityType, label.OnDemand, label.Spot)),
		Disruption:   world.PoolDisruption{EmptyAfter: &after, Budgets: []world.Budget{{Nodes: strconv.Itoa(share) + "%"}}},
	}
	if d.cfg.Move {
		pool.Disruption.MoveAfter = &after
	}
	bounded := pool
	bounded.ID.Name, bounded.Weight = "first", 10
	bounded.Limits = amount.Of(amount.Entry{Name: amount.CPU, Value: 64 * amount.Unit}, amount.Entry{Name: amount.Nodes, Value: 12 * amount.Unit})
	old := pool
	old.ID = world.PoolID{Kind: world.Provisioner, Name: "old"}
	old.Requirements = label.SetOf(label.Is(label.CapacityType, label.Spot))
	if d.cfg.Expire > 0 {
		pool.Disruption.ExpireAfter, bounded.Disruption.ExpireAfter = &d.cfg.Expire, &d.cfg.Expire
	}
	agent := world.Pod{
		Key: world.Key{Namespace: "kube-system", Name: "agent"}, DaemonSet: "agent", Tolerations: []world.Toleration{{Exists: true}},
		Requests: amount.Of(amount.Entry{Name: amount.CPU, Value: 125}, amount.Entry{Name: amount.Pods, Value: amount.Unit}),
	}
	d.life.daemon = world.DaemonSet{Key: agent.Key, Pod: agent}
	for _, p := range []world.Pool{pool, bounded, old, d.fixed()} {
		d.objects[p.ID] = p
		if err := d.builder.SetPool(p); err != nil {
			return err
		}
	}
	return d.builder.SetDaemonSet(d.life.daemon)
}

// step lets the next thing happen; false when nothing is left to happen.
func (d *day) step() bool {
	next, ok := d.agenda.next()
	if due, busy := d.market.Next(); busy && (!ok || due.Unix() <= next) {
		d.now = max(d.now, due.Unix())
		d.market.Tick()
		if !ok && len(d.claims) == 0 {
			return false // only prices move
		}
		d.report.Steps++
		return true
	}
	if !ok {
		return false
	}
	d.now = max(d.now, next)
	d.market.Tick()
	d.survive(d.agenda.take())
	d.report.Steps++
	d.check()
	return true
}

func (d *day) at(when int64, do func()) { d.agenda.add(when, do) }

func (d *day) problem(format string, args ...any) {
	when := time.Unix(d.now, 0).UTC().Format(time.TimeOnly)
	if d.cfg.Hours > 24 {
		when = time.Unix(d.now, 0).UTC().Format(time.DateTime)
	}
	d.report.Problems = append(d.report.Problems, when+": "+fmt.Sprintf(format, args...))
}

// stock puts the market's catalogue into the World, if it has changed.
func (d *day) stock() {
	c, err := d.driver.Catalog(context.Background(), cloud.Template{ID: template})
	if errors.Is(err, errFault) {
		return // what was known before has to do
	}
	if err != nil {
		d.problem("catalogue: %v", err)
		return
	}
	if c.Version != d.version {
		d.version, d.life.catalog = c.Version, c
		d.must(d.builder.SetCatalog(c))
	}
}

func (d *day) must(err error) {
	if err != nil {
		d.problem("the World refuses: %v", err)
	}
}
