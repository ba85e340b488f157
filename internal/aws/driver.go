// Package aws is the driver for EC2: it knows what can be bought there, buys it, and gives it back.
//
// The parts stand in folders of their own, most of them arithmetic on values:
// what a class asks for (nodeclass), what types give to pods (types), images
// and user data (ami, bootstrap), requests and answers (template, fleet). Only
// this package puts them together.
package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/inventory"
	"github.com/tenon-sh/tenon/internal/aws/keylock"
	"github.com/tenon-sh/tenon/internal/aws/machine"
	"github.com/tenon-sh/tenon/internal/aws/network"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/notice"
	"github.com/tenon-sh/tenon/internal/aws/placement"
	"github.com/tenon-sh/tenon/internal/aws/profile"
	"github.com/tenon-sh/tenon/internal/aws/refusal"
	"github.com/tenon-sh/tenon/internal/aws/reserve"
	"github.com/tenon-sh/tenon/internal/aws/shift"
	"github.com/tenon-sh/tenon/internal/aws/soldout"
	"github.com/tenon-sh/tenon/internal/aws/template"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// Config is what the driver is told at the start.
type Config struct {
	Clients  *access.Clients
	Catalog  *catalog.Catalog
	Classes  Classes
	Now      clock.Now
	Said     func(Saying) // told of what is worth a line in the log, by several launches at once; nil: nobody is
	Settings Settings
}

// Settings are the installation's.
type Settings struct {
	Cluster        string
	Endpoint       string // of the API server; empty: EKS is asked
	CA             string // its certificate in base64; empty: EKS is asked
	DNS            string // address of the cluster's DNS service
	Known          Known  // of the cluster, where neither these settings nor EKS say it
	MemoryOverhead float64
	ReservedENIs   int
	Queue          string // of interruption notices; empty: none is read
	Isolated       bool   // the VPC cannot reach the Pricing service
	ZonalShift     bool   // nothing is launched where the cluster's traffic is shifted away from
	NoReserved     bool   // capacity reservations are not used
	NoDryRun       bool   // classes are not tried out by dry runs
}

// Known is what the cluster says of itself. It stands in for EKS where that cannot
// be asked, or knows no such cluster.
type Known struct {
	Endpoint    string // of the API server, as machines can reach it
	CA          string // its certificate in base64
	Kubernetes  string // minor version, such as 1.36
	ServiceCIDR string
}

// Classes finds the class that a template names. A class that is not there or
// not usable is a cloud.Error with code NotReady.
type Classes func(context.Context, cloud.ClassRef) (nodeclass.Class, error)

// Driver buys and gives back machines of EC2.
type Driver struct {
	cfg       Config
	clients   *access.Clients
	network   *network.Finder
	reserved  *reserve.Finder
	groups    *placement.Finder
	shifts    *shift.Watch
	trials    *trials
	machines  *machine.Set
	profiles  *profile.Store
	stores    *template.Store
	inventory *inventory.Inventory
	soldout   *soldout.Memory
	amis      *images
	home      *home
	orders    *orders
	catalogs  *catalogs
	lasting   *lasting

	resolving keylock.Locks

	mu        sync.Mutex
	seen      map[string]witnesses // what nodes of a type say of their memory
	written   map[string]int       // bytes of user data that were made last, by class
	collected time.Time            // when profiles were last looked through
}

// New returns a driver. It calls nothing yet.
func New(cfg Config) *Driver {
	c := cfg.Clients
	if cfg.Now == nil {
		cfg.Now = clock.Wall
	}
	if cfg.Said == nil {
		cfg.Said = func(Saying) {}
	}
	clients := inventory.Clients{EC2: c.EC2}
	if !cfg.Settings.Isolated {
		clients.Pricing = c.Pricing
	}
	return &Driver{
		cfg: cfg, clients: c,
		network: network.New(c.EC2, cfg.Now), reserved: reserve.New(c.EC2, cfg.Now), groups: placement.New(c.EC2, cfg.Now),
		shifts: shift.New(c.Shift, cfg.Now), trials: &trials{now: cfg.Now, done: map[string]trial{}}, machines: machine.New(c.EC2, cfg.Settings.Cluster),
		profiles: profile.NewStore(c.IAM, cfg.Now), stores: template.NewStore(c.EC2, cfg.Settings.Cluster, cfg.Now),
		inventory: inventory.New(clients, cfg.Catalog, c.Region, cfg.Now), soldout: soldout.New(cfg.Now),
		amis: newImages(c, cfg.Now), home: &home{eks: c.EKS, settings: cfg.Settings, now: cfg.Now},
		orders: &orders{now: cfg.Now, all: map[string]*past{}}, catalogs: &catalogs{now: cfg.Now, last: map[world.TemplateID]kept[world.Catalog]{}},
		lasting: &lasting{said: cfg.Said, wrong: map[string]bool{}},
		seen:    map[string]witnesses{},
	}
}

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

// Tag names a machine for people, and for whoever lists it after a crash.
func (d *Driver) Tag(ctx context.Context, id cloud.MachineID, claim, node string) error {
	tags := map[string]string{machine.TagClaim: claim, machine.TagCluster: d.cfg.Settings.Cluster}
	if node != "" {
		tags[machine.TagName] = node
	}
	return d.machines.Tag(ctx, id, tags)
}

// Notices returns the queue of interruption notices; nil if none is configured.
func (d *Driver) Notices() *notice.Queue {
	if d.cfg.Settings.Queue == "" {
		return nil
	}
	return notice.NewQueue(d.clients.SQS, d.cfg.Settings.Queue, 20)
}

// Checks returns what can be asked about the health of machines.
func (d *Driver) Checks() *notice.Checks { return notice.NewChecks(d.clients.EC2, d.cfg.Now) }

// Interrupted notes that a spot machine was taken back, so that the next is another.
func (d *Driver) Interrupted(shape, zone string) {
	d.soldout.Mark("spot was interrupted there", soldout.Offer{Type: shape, Zone: zone, CapacityType: "spot"})
}

// Start learns which launch templates an earlier process left, so that Sweep ends them too.
func (d *Driver) Start(ctx context.Context) error { return d.stores.Hydrate(ctx) }

// collectEvery is how often profiles that nothing needs are looked for.
const collectEvery = 30 * time.Minute

// Sweep deletes launch templates that nothing has started from for a while and,
// now and then, instance profiles that no class and no machine uses.
func (d *Driver) Sweep(ctx context.Context) error {
	d.catalogs.sweep()
	gone, err := d.stores.Sweep(ctx)
	err = errors.Join(err, d.collect(ctx))
	for _, t := range gone {
		d.cfg.Said(Saying{
			Debug: true, Message: fmt.Sprintf("Deleted launch template %s (%s)", t.Name, t.ID),
			Fields: map[string]string{"launch-template": t.Name},
		})
	}
	return err
}

// collect ends instance profiles that were left behind. The first time comes when
// every class has been looked at often.
func (d *Driver) collect(ctx context.Context) error {
	d.mu.Lock()
	now := d.cfg.Now()
	if d.collected.IsZero() {
		d.collected = now
	}
	due := now.Sub(d.collected) >= collectEvery
	if due {
		d.collected = now
	}
	d.mu.Unlock()
	if !due {
		return nil
	}
	used, err := d.machines.Profiles(ctx)
	if err != nil {
		return err
	}
	err = d.profiles.Collect(ctx, d.clients.Region, d.cfg.Settings.Cluster, func(name string) bool { return used[name] })
	if refusal.Absent(err) {
		return nil
	}
	return err
}

// Forget ends what was made for a class: its launch templates and profiles.
func (d *Driver) Forget(ctx context.Context, c nodeclass.Class) error {
	tag := machine.TagClass
	if c.Legacy {
		tag = "karpenter.k8s.aws/nodetemplate"
	}
	if _, err := d.stores.DeleteOf(ctx, tag, c.Ref.Name); err != nil {
		return err
	}
	if c.Role == "" {
		return nil
	}
	return d.profiles.Delete(ctx, d.owner(c).Path(), nil)
}

func (d *Driver) owner(c nodeclass.Class) profile.Owner {
	return profile.Owner{
		Cluster: d.cfg.Settings.Cluster, Region: d.clients.Region, Class: c.Ref.Name, UID: c.UID, Role: c.Role, Tags: c.Tags,
	}
}

// Drift says why a machine is no longer what its template asks for: the class
// has changed, or the image, the subnet or the groups would be others today. After
// a colon it says what differs; of a class only a hash is kept, so not which field.
func (d *Driver) Drift(ctx context.Context, m cloud.Machine, t cloud.Template) (string, error) {
	r, err := d.resolve(ctx, t)
	if err != nil {
		return "", err
	}
	if was := m.Annotations[HashAnnotation(r.class)]; was != "" && m.Annotations[HashAnnotation(r.class)+"-version"] == r.class.HashVersion && was != r.class.Hash {
		return drifted("NodeClassDrift", "the spec of %s %s has changed since the machine was bought (of what it was only a hash is kept)", r.class.Ref.Kind, r.class.Ref.Name), nil
	}
	if r.class.LaunchTemplate != "" {
		return "", nil
	}
	if m.Image != "" && !slices.ContainsFunc(r.images, func(i image) bool { return i.ID == m.Image }) {
		return differs("AMIDrift", "image "+m.Image, len(r.images), func(i int) string { return r.images[i].ID }), nil
	}
	if m.Subnet != "" && !slices.ContainsFunc(r.subnets, func(s network.Subnet) bool { return s.ID == m.Subnet }) {
		return differs("SubnetDrift", "subnet "+m.Subnet, len(r.subnets), func(i int) string { return r.subnets[i].ID }), nil
	}
	if len(m.Groups) > 0 && !slices.Equal(m.Groups, r.groupIDs()) && m.Annotations[bornWith] != strings.Join(m.Groups, ",") {
		groups := r.groupIDs()
		return differs("SecurityGroupDrift", "security groups "+strings.Join(m.Groups, ","), len(groups), func(i int) string { return groups[i] }), nil
	}
	if m.Placement != r.placement.ID {
		return drifted("PlacementGroupDrift", "placement group %s, and the class has %s", cmp.Or(m.Placement, "none"), cmp.Or(r.placement.ID, "none")), nil
	}
	if m.Reservation != "" && !slices.ContainsFunc(r.reservations, func(c reserve.Reservation) bool { return c.ID == m.Reservation }) && !r.unread {
		return drifted("CapacityReservationDrift", "capacity reservation %s is none of those that the class selects", m.Reservation), nil
	}
	return "", nil
}

// drifted writes why a machine has drifted, and what differs.
func drifted(reason, format string, args ...any) string {
	return reason + ": " + fmt.Sprintf(format, args...)
}

// differs writes why a machine has drifted: what it has, and what its class selects today.
func differs(reason, has string, n int, id func(int) string) string {
	const named = 4
	var ids []string
	for i := range min(n, named) {
		ids = append(ids, id(i))
	}
	text := fmt.Sprintf("%s: %s, and the class selects %s", reason, has, cmp.Or(strings.Join(ids, ","), "none"))
	if more := n - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// HashAnnotation is the annotation of a claim that keeps its class' hash.
func HashAnnotation(c nodeclass.Class) string {
	if c.Legacy {
		return "karpenter.k8s.aws/nodetemplate-hash"
	}
	return "karpenter.k8s.aws/ec2nodeclass-hash"
}
