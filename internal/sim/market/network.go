package market

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Tags are the labels of an AWS resource.
type Tags map[string]string

// Zone is an availability zone: its name in this account and the id all accounts share.
type Zone struct {
	Name string
	ID   string
}

// Subnet is a range of addresses in one zone.
type Subnet struct {
	ID     string
	VPC    string
	Zone   string
	ZoneID string
	Range  netip.Prefix
	Range6 netip.Prefix // invalid when the subnet has no IPv6
	Public bool
	Free   int // addresses left
	Tags   Tags

	held map[netip.Addr]bool
	last netip.Addr
}

// reservedAddresses is how many addresses AWS keeps for itself at the ends of every subnet.
const reservedAddresses = 5

// SecurityGroup is a firewall, of which only identity matters here.
type SecurityGroup struct {
	ID          string
	VPC         string
	Name        string
	Description string
	Tags        Tags
}

// PlacementGroup keeps machines close together or apart.
type PlacementGroup struct {
	ID         string
	Name       string
	Strategy   string // cluster, spread or partition
	Partitions int
	State      string
	Tags       Tags
}

// AddSubnet makes a subnet; its id is made here unless given.
func (m *Market) AddSubnet(s Subnet) Subnet {
	defer m.lock()()
	if s.ID == "" {
		s.ID = m.id("subnet")
	}
	for _, z := range m.zones {
		if z.Name == s.Zone {
			s.ZoneID = z.ID
		}
	}
	s.held = map[netip.Addr]bool{}
	s.last = s.Range.Addr().Next().Next().Next()
	s.Free = 1<<(s.Range.Addr().BitLen()-s.Range.Bits()) - reservedAddresses
	s.Tags = maps.Clone(s.Tags)
	m.subnets[s.ID] = &s
	return s
}

// SetFreeAddresses makes a subnet as full as asked for.
func (m *Market) SetFreeAddresses(id string, free int) error {
	defer m.lock()()
	s, ok := m.subnets[id]
	if !ok {
		return noSubnet(id)
	}
	s.Free = free
	return nil
}

// AddSecurityGroup makes a security group; its id is made here unless given.
func (m *Market) AddSecurityGroup(g SecurityGroup) SecurityGroup {
	defer m.lock()()
	if g.ID == "" {
		g.ID = m.id("sg")
	}
	g.Tags = maps.Clone(g.Tags)
	m.groups[g.ID] = &g
	return g
}

// AddPlacementGroup makes a placement group; its id is made here unless given.
func (m *Market) AddPlacementGroup(g PlacementGroup) PlacementGroup {
	defer m.lock()()
	if g.ID == "" {
		g.ID = m.id("pg")
	}
	g.State = cmp.Or(g.State, "available")
	m.placement[g.ID] = &g
	return g
}

// Zones returns the zones of the region, by name.
func (m *Market) Zones() []Zone {
	return slices.SortedFunc(slices.Values(m.zones), func(a, b Zone) int { return strings.Compare(a.Name, b.Name) })
}

// Subnets returns all subnets, by id.
func (m *Market) Subnets() []Subnet {
	defer m.lock()()
	out := sorted(m.subnets)
	for i := range out {
		out[i].Tags = maps.Clone(out[i].Tags)
	}
	return out
}

// SecurityGroups returns all security groups, by id.
func (m *Market) SecurityGroups() []SecurityGroup {
	defer m.lock()()
	out := sorted(m.groups)
	for i := range out {
		out[i].Tags = maps.Clone(out[i].Tags)
	}
	return out
}

// PlacementGroups returns all placement groups, by id.
func (m *Market) PlacementGroups() []PlacementGroup {
	defer m.lock()()
	return sorted(m.placement)
}

// sorted returns the values of a map in the order of their keys.
func sorted[T any](in map[string]*T) []T {
	out := make([]T, 0, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		out = append(out, *in[k])
	}
	return out
}

func noSubnet(id string) *Error {
	return Errorf(InvalidSubnetIDNotFound, "The subnet ID '%s' does not exist", id)
}

// take gives one free address of the subnet. The caller has made sure that there is one.
func (s *Subnet) take() netip.Addr {
	a := s.last
	for {
		a = a.Next()
		if !s.Range.Contains(a) || !s.Range.Contains(a.Next()) {
			a = s.Range.Addr().Next().Next().Next().Next()
		}
		if !s.held[a] {
			break
		}
	}
	s.held[a], s.last = true, a
	s.Free--
	return a
}

// address6 gives a machine the IPv6 address that goes with its IPv4 address, if it asks for one and the subnet has any.
func (s *Subnet) address6(a netip.Addr, spec InterfaceSpec) netip.Addr {
	if !s.Range6.IsValid() || (value(spec.IPv6Count) == 0 && !value(spec.PrimaryIPv6)) {
		return netip.Addr{}
	}
	six, four := s.Range6.Masked().Addr().As16(), a.As4()
	copy(six[12:], four[:])
	return netip.AddrFrom16(six)
}

// hold takes an address that a machine has had before.
func (s *Subnet) hold(a netip.Addr) {
	if a.IsValid() && !s.held[a] {
		s.held[a] = true
		s.Free--
	}
}

func (s *Subnet) release(a netip.Addr) {
	if s.held[a] {
		delete(s.held, a)
		s.Free++
	}
}

// PrivateDNS returns the name AWS gives a private address in a region.
func PrivateDNS(region string, a netip.Addr) string {
	suffix := "." + region + ".compute.internal"
	if region == "us-east-1" {
		suffix = ".ec2.internal"
	}
	return "ip-" + strings.ReplaceAll(a.String(), ".", "-") + suffix
}
