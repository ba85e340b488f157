// Package aws is the driver for EC2: it knows what can be bought there, buys it, and gives it back.
//
// The parts stand in folders of their own, and docs/adr/0018 draws how they depend
// on each other: selection finds what a class asks for, supply says what can be
// had, launch buys it. This package puts them together.
package aws

import (
	"context"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/drift"
	"github.com/tenon-sh/tenon/internal/aws/dryrun"
	"github.com/tenon-sh/tenon/internal/aws/ekscluster"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/aws/expression"
	"github.com/tenon-sh/tenon/internal/aws/image"
	"github.com/tenon-sh/tenon/internal/aws/inspect"
	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/launch"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodememory"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/aws/placement"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/aws/selection"
	"github.com/tenon-sh/tenon/internal/aws/shift"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/supply"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Config is what the driver is given at the start.
type Config struct {
	Clients  *access.Clients
	Catalog  *catalog.Catalog
	Classes  selection.Classes
	Now      clock.Now
	Said     say.Sink // called with what is worth a line in the log, by several launches at once; may be nil
	Settings Settings
}

// Settings are the installation's.
type Settings struct {
	Cluster        string
	Endpoint       string           // of the API server; empty: EKS is asked
	CA             string           // its certificate in base64; empty: EKS is asked
	DNS            string           // address of the cluster's DNS service
	Known          ekscluster.Known // of the cluster, where neither these settings nor EKS say it
	MemoryOverhead float64
	ReservedENIs   int
	Queue          string // of interruption notices; empty: none is read
	Isolated       bool   // the VPC cannot reach the Pricing service
	ZonalShift     bool   // nothing is launched where the cluster's traffic is shifted away from
	NoReserved     bool   // capacity reservations are not used
	NoDryRun       bool   // classes are not tried out by dry runs
	EKSVersion     bool   // the cluster's version is what EKS says, never what the API server said
	Expressions    bool   // kubelet settings of classes may have expressions

	ImagesFresh, SubnetsFresh time.Duration // how long answers about images and subnets are used; 0: a minute
	GroupsFresh               time.Duration // the same for security groups; 0: five minutes
}

// Driver buys and gives back machines of EC2.
type Driver struct {
	cfg       Config
	selection *selection.Finder
	supply    *supply.Supply
	launcher  *launch.Launcher
	machines  *machine.Set
	soldout   *soldout.Memory
	memory    *nodememory.Seen
	shifts    *shift.Watch
	inspector *inspect.Inspector
	examiner  *examine.Examiner
	leftovers *leftovers

	reservations *reserve.Finder
}

// New returns a driver. It calls nothing yet.
func New(cfg Config) *Driver {
	if cfg.Now == nil {
		cfg.Now = clock.Wall
	}
	if cfg.Said == nil {
		cfg.Said = func(say.Line) {}
	}
	c, s, now, lasting := cfg.Clients, cfg.Settings, cfg.Now, say.NewLasting(cfg.Said)
	asked := inventory.Clients{EC2: c.EC2}
	if !s.Isolated {
		asked.Pricing = c.Pricing
	}
	cluster := ekscluster.New(c.EKS, ekscluster.Settings{Name: s.Cluster, Endpoint: s.Endpoint, CA: s.CA, DNS: s.DNS, Known: s.Known, OnlyEKS: s.EKSVersion}, now)
	stock := inventory.New(asked, cfg.Catalog, c.Region, now)
	subnets, reservations := network.New(c.EC2, network.Fresh{Subnets: s.SubnetsFresh, Groups: s.GroupsFresh}, now), reserve.New(c.EC2, now)
	machines, templates := machine.New(c.EC2, s.Cluster), template.NewStore(c.EC2, s.Cluster, now)
	profiles := profile.Classes{Store: profile.NewStore(c.IAM, now), Cluster: s.Cluster, Region: c.Region}
	d := &Driver{
		cfg: cfg, machines: machines, reservations: reservations, soldout: soldout.New(now), memory: nodememory.New(cfg.Catalog, now),
		shifts: shift.New(shift.Config{Client: c.Shift, Cluster: cluster.ARN, Off: !s.ZonalShift, Lasting: lasting, Now: now}),
	}
	d.selection = &selection.Finder{
		Classes: cfg.Classes, Network: subnets, Placement: placement.New(c.EC2, now), Templates: template.NewNamed(c.EC2, now), Reservations: reservations,
		Cluster: cluster, Images: image.New(c.EC2, c.SSM, s.ImagesFresh, now), Lasting: lasting, NoReserved: s.NoReserved,
	}
	if s.Expressions {
		d.selection.Expressions = &expression.Compiler{}
	}
	d.supply = &supply.Supply{
		Inventory: stock, SoldOut: d.soldout, Shifts: d.shifts, Memory: d.memory, Lasting: lasting, Now: now, Region: c.Region,
		MemoryOverhead: s.MemoryOverhead, ReservedENIs: s.ReservedENIs,
	}
	d.launcher = &launch.Launcher{
		EC2: c.EC2, Selection: d.selection, Supply: d.supply, Inventory: stock, Shifts: d.shifts, SoldOut: d.soldout, Network: subnets,
		Reservations: reservations, Profiles: profiles, Templates: templates, Machines: machines, Said: cfg.Said, Now: now,
		Cluster: s.Cluster, Region: c.Region, NoReserved: s.NoReserved,
	}
	trials := dryrun.New(dryrun.Config{EC2: c.EC2, Launcher: d.launcher, Machines: machines, Templates: templates, Said: cfg.Said, Now: now, Off: s.NoDryRun})
	d.inspector = &inspect.Inspector{
		Selection: d.selection, Reservations: reservations, Profiles: profiles, Shifts: d.shifts, Trials: trials, Now: now, NoReserved: s.NoReserved,
		Failing: d.supply.Failing,
	}
	d.examiner = &examine.Examiner{
		Clients: c, Selection: d.selection, Profiles: profiles, Machines: machines, Launcher: d.launcher, Trials: trials,
		Cluster: s.Cluster, Endpoint: s.Endpoint, Queue: s.Queue, Isolated: s.Isolated,
	}
	d.leftovers = &leftovers{templates: templates, profiles: profiles, machines: machines, said: cfg.Said, now: now}
	return d
}

// Catalog returns what machines of the template can be: every type that the
// class and its images allow, in the zones of its subnets, and what is sold out now.
func (d *Driver) Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error) {
	s, err := d.selection.Of(ctx, t)
	if err != nil {
		return world.Catalog{}, err
	}
	return d.supply.Of(ctx, t, s)
}

// Drop forgets what was kept for a template that nothing uses any more.
func (d *Driver) Drop(id world.TemplateID) { d.supply.Drop(id) }

// Launch carries out orders, several at once. Each ends with as many machines
// as EC2 would give, and an error if that is fewer than asked for.
func (d *Driver) Launch(ctx context.Context, orders []cloud.Order) []cloud.Outcome {
	return d.launcher.Launch(ctx, orders)
}

// Complete returns machines that were found with what their claims are to show.
func (d *Driver) Complete(ctx context.Context, t cloud.Template, machines []cloud.Machine) ([]cloud.Machine, error) {
	return d.launcher.Complete(ctx, t, machines)
}

// UserData is how many bytes of user data machines of each class got last.
func (d *Driver) UserData() map[string]int { return d.launcher.UserData() }

// Freed has what is left of reservations read again: a machine of one has ended.
func (d *Driver) Freed() { d.reservations.Freed() }

// Terminate ends machines; one that EC2 does not know is gone already.
func (d *Driver) Terminate(ctx context.Context, ids []cloud.MachineID) []error {
	return d.machines.Terminate(ctx, ids)
}

// List returns every machine of the cluster that is not gone.
func (d *Driver) List(ctx context.Context) ([]cloud.Machine, error) { return d.machines.List(ctx) }

// Find returns the machines of these provider ids that EC2 knows, whatever their tags say.
func (d *Driver) Find(ctx context.Context, providerIDs []string) ([]cloud.Machine, error) {
	return d.machines.Find(ctx, providerIDs)
}

// Tag names a machine for people, and for lists after a crash.
func (d *Driver) Tag(ctx context.Context, id cloud.MachineID, claim, node string) error {
	tags := map[string]string{machine.TagClaim: claim, machine.TagCluster: d.cfg.Settings.Cluster}
	if node != "" {
		tags[machine.TagName] = node
	}
	return d.machines.Tag(ctx, id, tags)
}

// Drift says why a machine is no longer what its template asks for.
func (d *Driver) Drift(ctx context.Context, m cloud.Machine, t cloud.Template) (cloud.Drifted, error) {
	s, err := d.selection.Of(ctx, t)
	if err != nil {
		return cloud.Drifted{}, err
	}
	return drift.Of(m, s), nil
}

// Notices returns the queue of interruption notices; nil if none is configured.
func (d *Driver) Notices() *notice.Queue {
	if d.cfg.Settings.Queue == "" {
		return nil
	}
	return notice.NewQueue(d.cfg.Clients.SQS, d.cfg.Settings.Queue, 20)
}

// Checks returns what can be asked about the health of machines.
func (d *Driver) Checks() *notice.Checks { return notice.NewChecks(d.cfg.Clients.EC2, d.cfg.Now) }

// Interrupted notes that a spot machine was taken back, so that the next is another.
func (d *Driver) Interrupted(shape, zone string) {
	d.soldout.Mark("spot was interrupted there", soldout.Offer{Type: shape, Zone: zone, CapacityType: "spot"})
}

// Observe has a function called for every request to AWS that ends from now on, and for each attempt of it.
func (d *Driver) Observe(to func(access.Done)) { d.cfg.Clients.Observe(to) }

// Learn notes how much memory a node of a type turned out to have.
func (d *Driver) Learn(node, shape string, memory int64) { d.memory.Learn(node, shape, memory) }

// Inspect finds what a class selects, each part for itself.
func (d *Driver) Inspect(ctx context.Context, ref cloud.ClassRef) (inspect.Inspection, error) {
	return d.inspector.Inspect(ctx, ref)
}

// ExamineAccount finds what the controller's credentials lack, and whether the queue is there.
func (d *Driver) ExamineAccount(ctx context.Context) []examine.Finding {
	return d.examiner.Account(ctx)
}

// ExamineClass finds what would keep machines of a class from being launched.
func (d *Driver) ExamineClass(ctx context.Context, ref cloud.ClassRef) []examine.Finding {
	return d.examiner.Class(ctx, ref)
}

// Start learns which launch templates an earlier process left, so that Sweep ends them too.
func (d *Driver) Start(ctx context.Context) error { return d.leftovers.templates.Hydrate(ctx) }

// Sweep deletes launch templates that nothing has started from for a while and,
// now and then, instance profiles that no class and no machine uses.
func (d *Driver) Sweep(ctx context.Context) error {
	d.supply.Sweep()
	return d.leftovers.sweep(ctx)
}

// Retire ends what was made for a class that is being deleted: its launch templates and profiles.
func (d *Driver) Retire(ctx context.Context, ref cloud.ClassRef) error {
	c, err := d.cfg.Classes(ctx, ref)
	if err != nil {
		return err
	}
	return d.leftovers.retire(ctx, c)
}
