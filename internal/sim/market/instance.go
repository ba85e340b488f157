package market

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/tenon-sh/tenon/engine/money"
)

// State is where a machine is in its life.
type State string

// The states of a machine, as EC2 names them.
const (
	Pending      State = "pending"
	Running      State = "running"
	ShuttingDown State = "shutting-down"
	Terminated   State = "terminated"
	Stopping     State = "stopping"
	Stopped      State = "stopped"
)

// Code returns EC2's number for the state.
func (s State) Code() int {
	switch s {
	case Pending:
		return 0
	case Running:
		return 16
	case ShuttingDown:
		return 32
	case Terminated:
		return 48
	case Stopping:
		return 64
	default:
		return 80
	}
}

// Gone reports whether the machine is terminated or about to be.
func (s State) Gone() bool { return s == ShuttingDown || s == Terminated }

// Instance is a machine.
type Instance struct {
	ID           string
	Type         string
	Arch         string
	Platform     string // windows, or empty
	Zone         string
	ZoneID       string
	Subnet       string
	VPC          string
	Image        string
	CapacityType string
	Price        money.Micro // dollars per hour when it was launched
	State        State
	Reason       Reason
	Launched     time.Time
	Started      time.Time // when it began to run
	Ended        time.Time // when it was terminated
	Address      netip.Addr
	Address6     netip.Addr // invalid without IPv6
	PublicIP     bool
	DNS          string
	Groups       []string
	Profile      string // the instance profile's name
	Template     TemplateRef
	Fleet        string
	Token        string
	Launch       string // the reservation id all machines of one launch share
	Index        int    // within the launch
	SpotRequest  string
	Reservation  string // capacity reservation in use
	Placement    Placement
	Volumes      []Volume
	Interfaces   []Interface
	Data         TemplateData // what it was launched from, user data included
	Tags         Tags
	Health       Health

	visible time.Time
	pool    *Capacity // what gave its capacity and gets it back
	subnet  *Subnet
}

// Reason is why a machine is in its state.
type Reason struct {
	Code    string
	Message string
}

// Volume is a disk of a machine.
type Volume struct {
	ID     string
	Device string
	Tags   Tags
	Delete bool
}

// Interface is a network interface of a machine.
type Interface struct {
	ID      string
	Device  int
	Card    int
	Kind    string
	Address netip.Addr
	Groups  []string
	Tags    Tags
}

// Health is what the status checks and the calendar say of a machine.
type Health struct {
	InstanceImpaired time.Time // since when; zero: fine
	SystemImpaired   time.Time
	Events           []ScheduledEvent
}

// ScheduledEvent is something AWS plans to do to a machine.
type ScheduledEvent struct {
	ID          string
	Code        string // instance-retirement, system-reboot, …
	Description string
	NotBefore   time.Time
	NotAfter    time.Time
}

// launch is all that is known of a machine to be made.
type launch struct {
	typ          *Type
	subnet       *Subnet
	image        *Image
	capacityType string
	data         TemplateData
	template     TemplateRef
	tags         map[string]Tags // by kind of resource
	fleet        string
	token        string
	id           string
	index        int
	maxPrice     money.Micro // dollars; 0 means the on-demand price
}

// check says why a machine cannot be launched now.
func (m *Market) check(l launch) *Error {
	if !slices.Contains(l.typ.Zones, l.subnet.Zone) {
		return notOffered(l.typ.Name, l.subnet.Zone, m.zonesWith(l.typ.Name, l.subnet.Zone))
	}
	if !slices.Contains(l.typ.Archs, l.image.Arch) {
		return Errorf(InvalidParameterValue, "The architecture '%s' of the specified instance type does not match the architecture '%s' of the specified AMI. "+
			"Specify an instance type and an AMI that have matching architectures, and try again. "+
			"You can use 'describe-instance-types' or 'describe-images' to discover the architecture of the instance type or AMI.",
			strings.Join(l.typ.Archs, ","), l.image.Arch)
	}
	if err := m.checkNetwork(l); err != nil {
		return err
	}
	if err := m.checkProfile(l.data); err != nil {
		return err
	}
	if l.capacityType == Spot {
		if err := m.checkSpot(l); err != nil {
			return err
		}
	}
	if err := m.overQuota(l.typ, l.capacityType); err != nil {
		return err
	}
	if l.subnet.Free < addresses(l.data.Interfaces) {
		return Errorf(InsufficientFreeAddressesInSubnet,
			"There are not enough free addresses in subnet '%s' to satisfy the requested number of instances.", l.subnet.ID)
	}
	return nil
}

// addresses is how many addresses a machine takes: one an interface, but none for those that carry no IP.
func addresses(specs []InterfaceSpec) int {
	n := 0
	for _, s := range specs {
		if s.Kind != noIP {
			n++
		}
	}
	return max(n, 1)
}

// noIP is the kind of interface that carries only the fabric's own traffic.
const noIP = "efa-only"

func (m *Market) checkNetwork(l launch) *Error {
	for _, id := range l.data.networkGroups() {
		g, ok := m.groups[id]
		if !ok {
			return Errorf(InvalidGroupNotFound, "The security group '%s' does not exist in VPC '%s'", id, l.subnet.VPC)
		}
		if g.VPC != l.subnet.VPC {
			return Errorf("InvalidParameter", "Security group %s and subnet %s belong to different networks.", id, l.subnet.ID)
		}
	}
	if p := l.data.Placement; p.GroupID != "" || p.GroupName != "" {
		g := m.group(p)
		switch {
		case g == nil:
			return Errorf(InvalidPlacementGroupUnknown, "The Placement Group '%s' is unknown.", cmp.Or(p.GroupID, p.GroupName))
		case !slices.Contains(l.typ.Placement, g.Strategy):
			return Errorf(InvalidParameterCombination, "The instance type '%s' is not supported in a placement group with the strategy '%s'.", l.typ.Name, g.Strategy)
		case p.Partition > g.Partitions:
			return Errorf(InvalidParameterValue, "Value (%d) for parameter partitionNumber is invalid.", p.Partition)
		}
	}
	return nil
}

// group is the placement group that is meant; nil if there is none.
func (m *Market) group(p Placement) *PlacementGroup {
	for _, g := range m.placement {
		if g.ID == p.GroupID || p.GroupName != "" && g.Name == p.GroupName {
			return g
		}
	}
	return nil
}

// placed is where a machine comes to stand: EC2 chooses among the partitions of a
// group if none was named, the emptiest first.
func (m *Market) placed(p Placement) Placement {
	g := m.group(p)
	if g == nil {
		return p
	}
	p.GroupID, p.GroupName = g.ID, g.Name
	if p.Partition > 0 || g.Partitions == 0 {
		return p
	}
	in := make([]int, g.Partitions)
	for _, i := range m.instances {
		if i.Placement.GroupID == g.ID && !i.State.Gone() {
			in[i.Placement.Partition-1]++
		}
	}
	p.Partition = 1 + slices.Index(in, slices.Min(in))
	return p
}

func (m *Market) checkProfile(d TemplateData) *Error {
	name := d.ProfileName
	if name == "" && d.ProfileARN != "" {
		name = d.ProfileARN[strings.LastIndex(d.ProfileARN, "/")+1:]
	}
	if name == "" {
		return nil
	}
	p, ok := m.profiles[name]
	if !ok || p.Created.Add(m.cfg.Timing.Hidden).After(m.at) { // EC2 learns of a new profile as late as others do
		if d.ProfileARN != "" {
			return Errorf(InvalidParameterValue, "Value (%s) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN", d.ProfileARN)
		}
		return Errorf(InvalidParameterValue, "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", name)
	}
	return nil
}

func (m *Market) checkSpot(l launch) *Error {
	if m.noRole {
		return Errorf(ServiceLinkedRoleMissing, "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances.")
	}
	price := m.spotPrice(l.typ.Name, l.subnet.Zone)
	if price == 0 {
		return noSpot()
	}
	if l.maxPrice > 0 && price > l.maxPrice {
		return Errorf(SpotMaxPriceTooLow, "Your Spot request price of %s is lower than the minimum required Spot request fulfillment price of %s.",
			l.maxPrice.Decimal(), price.Decimal())
	}
	return nil
}

// make launches one machine, or says why not. The market is locked.
func (m *Market) make(l launch) (*Instance, *Error) {
	if err := m.check(l); err != nil {
		return nil, err
	}
	reservation, err := m.useReservation(l)
	if err != nil {
		return nil, err
	}
	pool := m.rule(l.subnet.Zone, l.typ.Name, l.capacityType)
	if reservation != "" {
		pool = nil
	}
	if pool != nil && pool.Left <= 0 {
		return nil, m.refusal(pool, l)
	}
	if pool != nil {
		pool.Left--
	}
	i := m.place(l)
	i.pool, i.Reservation = pool, reservation
	m.instances[i.ID] = i
	m.count(i, +1)
	m.changed(i)
	m.after(i.Launched.Add(m.cfg.Timing.Boot), func(at time.Time) { m.start(i, at) })
	return i, nil
}

func (m *Market) refusal(c *Capacity, l launch) *Error {
	switch {
	case c.Code == UnfulfillableCapacity && c.Message == "":
		return unfulfillable()
	case c.Code != "":
		return &Error{Code: c.Code, Message: c.Message}
	case l.capacityType == Spot:
		return noSpot()
	default:
		return noCapacity(l.typ.Name, l.subnet.Zone, m.zonesWith(l.typ.Name, l.subnet.Zone))
	}
}

// place makes the machine's record with its address, disks and tags.
func (m *Market) place(l launch) *Instance {
	now := m.at
	i := &Instance{
		ID: m.id("i"), Type: l.typ.Name, Arch: l.image.Arch, Platform: l.image.Platform, Zone: l.subnet.Zone, ZoneID: l.subnet.ZoneID,
		Subnet: l.subnet.ID, VPC: l.subnet.VPC, Image: l.image.ID, CapacityType: l.capacityType, State: Pending,
		Launched: now, Groups: slices.Clone(l.data.networkGroups()), Template: l.template, Fleet: l.fleet, Token: l.token,
		Launch: l.id, Index: l.index, Data: l.data, Tags: Tags{}, Placement: m.placed(l.data.Placement),
		visible: now.Add(m.cfg.Timing.Hidden), subnet: l.subnet,
	}
	i.Price = m.onDemandPrice(i.Type)
	if l.capacityType == Spot {
		i.Price = m.spotPrice(i.Type, i.Zone)
		i.SpotRequest = m.id("sir")
	}
	i.Profile = cmp.Or(l.data.ProfileName, l.data.ProfileARN[strings.LastIndex(l.data.ProfileARN, "/")+1:])
	i.Placement.Zone = i.Zone
	m.wire(i, l)
	maps.Copy(i.Tags, tagsFor(l.data.Tags, "instance"))
	maps.Copy(i.Tags, l.tags["instance"])
	if l.template.ID != "" {
		i.Tags["aws:ec2launchtemplate:id"] = l.template.ID
		i.Tags["aws:ec2launchtemplate:version"] = l.template.Version
	}
	if l.fleet != "" {
		i.Tags["aws:ec2:fleet-id"] = l.fleet
	}
	return i
}

// wire gives the machine its network interfaces and disks.
func (m *Market) wire(i *Instance, l launch) {
	specs := l.data.Interfaces
	if len(specs) == 0 {
		specs = []InterfaceSpec{{}}
	}
	nicTags := tagsFor(l.data.Tags, "network-interface")
	maps.Copy(nicTags, l.tags["network-interface"])
	for n, s := range specs {
		nic := Interface{ID: m.id("eni"), Device: value(s.Device), Card: value(s.Card), Kind: cmp.Or(s.Kind, "interface"), Tags: maps.Clone(nicTags)}
		nic.Groups = s.Groups
		if len(nic.Groups) == 0 {
			nic.Groups = i.Groups
		}
		if nic.Kind != noIP || n == 0 {
			nic.Address = l.subnet.take()
		}
		if n == 0 {
			i.Address, i.DNS = nic.Address, PrivateDNS(m.cfg.Region, nic.Address)
			i.Address6 = l.subnet.address6(nic.Address, s)
			if l.data.DNS != nil && l.data.DNS.HostnameType == "resource-name" {
				i.DNS = i.ID + "." + m.cfg.Region + ".compute.internal"
			}
			i.PublicIP = l.subnet.Public
			if s.PublicIP != nil {
				i.PublicIP = *s.PublicIP
			}
		}
		i.Interfaces = append(i.Interfaces, nic)
	}
	diskTags := tagsFor(l.data.Tags, "volume")
	maps.Copy(diskTags, l.tags["volume"])
	devices := l.data.Devices
	if !slices.ContainsFunc(devices, func(d Device) bool { return d.Name == l.image.RootDevice }) {
		devices = append([]Device{{Name: l.image.RootDevice}}, devices...)
	}
	for _, d := range devices {
		if d.Virtual != "" || d.Suppressed {
			continue
		}
		i.Volumes = append(i.Volumes, Volume{ID: m.id("vol"), Device: d.Name, Tags: maps.Clone(diskTags), Delete: d.Delete == nil || *d.Delete})
	}
}

// start lets a pending machine run.
func (m *Market) start(i *Instance, at time.Time) {
	if i.State != Pending {
		return
	}
	i.State, i.Started = Running, at
	m.changed(i)
	seen := i.clone()
	m.post(func(o Observer) { o.Running(seen) })
}

// stop begins the end of a machine. The market is locked.
func (m *Market) stop(i *Instance, why Reason) {
	if i.State.Gone() {
		return
	}
	i.State, i.Reason = ShuttingDown, why
	m.changed(i)
	m.after(m.at.Add(m.cfg.Timing.ShutDown), func(at time.Time) { m.end(i, at) })
}

// end makes a machine terminated and gives back what it held.
func (m *Market) end(i *Instance, at time.Time) {
	if i.State == Terminated {
		return
	}
	i.State, i.Ended = Terminated, at
	m.count(i, -1)
	m.leave(i)
	for _, nic := range i.Interfaces {
		i.subnet.release(nic.Address)
	}
	if i.pool != nil {
		i.pool.Left++
	}
	if r := m.reserved[i.Reservation]; r != nil {
		r.Available++
	}
	m.changed(i)
	seen := i.clone()
	m.post(func(o Observer) { o.Terminated(seen) })
	m.after(at.Add(m.cfg.Timing.Forget), func(time.Time) { m.forget(i) })
}

// forget makes describe calls no longer know a machine.
func (m *Market) forget(i *Instance) {
	delete(m.instances, i.ID)
	m.version++
}

// Instances returns all machines that a describe call may see, by id; recently terminated ones are among them.
func (m *Market) Instances() []Instance {
	return slices.DeleteFunc(m.Everything(), func(i Instance) bool { return i.visible.After(m.now()) })
}

// Everything returns the machines that a describe call may see and those it does not show yet, by id.
func (m *Market) Everything() []Instance {
	defer m.lock()()
	out := make([]Instance, 0, len(m.instances))
	for _, i := range m.instances {
		out = append(out, i.clone())
	}
	slices.SortFunc(out, func(a, b Instance) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// Find returns the named machines in the order of their names.
func (m *Market) Find(ids []string) ([]Instance, error) {
	defer m.lock()()
	found, err := m.find(ids)
	if err != nil {
		return nil, err
	}
	out := make([]Instance, 0, len(found))
	for _, i := range found {
		out = append(out, i.clone())
	}
	return out, nil
}

func (m *Market) find(ids []string) ([]*Instance, error) {
	var out []*Instance
	var missing []string
	for _, id := range ids {
		if !strings.HasPrefix(id, "i-") {
			return nil, Errorf(InvalidInstanceIDMalformed, `Invalid id: "%s"`, id)
		}
		i, ok := m.instances[id]
		if !ok || i.visible.After(m.at) {
			missing = append(missing, id)
			continue
		}
		out = append(out, i)
	}
	if len(missing) > 0 {
		return nil, noInstances(missing)
	}
	return out, nil
}

// StateChange is what a call did to a machine.
type StateChange struct {
	ID       string
	Previous State
	Current  State
}

// Terminate ends machines. If one of the ids is unknown, nothing is done.
func (m *Market) Terminate(ids []string) ([]StateChange, error) {
	defer m.lock()()
	found, err := m.findHidden(ids)
	if err != nil {
		return nil, err
	}
	for _, i := range found {
		if value(i.Data.Protected) {
			return nil, Errorf("OperationNotPermitted", "The instance '%s' may not be terminated. "+
				"Modify its 'disableApiTermination' instance attribute and try again.", i.ID)
		}
	}
	out := make([]StateChange, 0, len(found))
	for _, i := range found {
		before := i.State
		m.stop(i, Reason{Code: "Client.UserInitiatedShutdown", Message: "Client.UserInitiatedShutdown: User initiated shutdown"})
		out = append(out, StateChange{ID: i.ID, Previous: before, Current: i.State})
	}
	return out, nil
}

// findHidden is find for calls that change: EC2 knows a machine before describe calls show it.
func (m *Market) findHidden(ids []string) ([]*Instance, error) {
	var out []*Instance
	var missing []string
	for _, id := range ids {
		if i, ok := m.instances[id]; ok {
			out = append(out, i)
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		return nil, noInstances(missing)
	}
	return out, nil
}

func (i *Instance) clone() Instance {
	out := *i
	out.Tags = maps.Clone(i.Tags)
	out.Groups = slices.Clone(i.Groups)
	out.Volumes = slices.Clone(i.Volumes)
	out.Interfaces = slices.Clone(i.Interfaces)
	out.Health.Events = slices.Clone(i.Health.Events)
	out.pool, out.subnet = nil, nil
	return out
}

// value returns what a pointer points to; the zero value for nil.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
