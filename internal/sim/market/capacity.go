package market

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The ways a machine is bought.
const (
	OnDemand      = "on-demand"
	Spot          = "spot"
	CapacityBlock = "capacity-block"
	Interruptible = "interruptible-capacity-reservation"
)

// Capacity says how many more machines can be had of the pools it matches. Empty fields match everything;
// of several rules that match a pool the one set last counts. A pool without a rule never runs out.
type Capacity struct {
	Zone         string
	Type         string
	CapacityType string
	Left         int
	Code         string // what EC2 answers when nothing is left; empty: the usual refusal
	Message      string
}

func (c *Capacity) matches(zone, typ, capacityType string) bool {
	return (c.Zone == "" || c.Zone == zone) && (c.Type == "" || c.Type == typ) && (c.CapacityType == "" || c.CapacityType == capacityType)
}

// SetCapacity adds a rule, or replaces the one of the same pools.
func (m *Market) SetCapacity(c Capacity) {
	defer m.lock()()
	m.rules = slices.DeleteFunc(m.rules, sameCapacity(c))
	m.rules = append(m.rules, &c)
}

// ClearCapacity removes the rule of exactly these pools; a zero rule removes all rules.
func (m *Market) ClearCapacity(c Capacity) {
	defer m.lock()()
	if c.Zone == "" && c.Type == "" && c.CapacityType == "" {
		m.rules = nil
		return
	}
	m.rules = slices.DeleteFunc(m.rules, sameCapacity(c))
}

func sameCapacity(c Capacity) func(*Capacity) bool {
	return func(o *Capacity) bool {
		return o.Zone == c.Zone && o.Type == c.Type && o.CapacityType == c.CapacityType
	}
}

// Rules returns the rules in force, oldest first.
func (m *Market) Rules() []Capacity {
	defer m.lock()()
	out := make([]Capacity, 0, len(m.rules))
	for _, r := range m.rules {
		out = append(out, *r)
	}
	return out
}

// rule returns the rule that counts for a pool; nil if it is endless.
func (m *Market) rule(zone, typ, capacityType string) *Capacity {
	for _, r := range slices.Backward(m.rules) {
		if r.matches(zone, typ, capacityType) {
			return r
		}
	}
	return nil
}

// room returns how many machines a pool has left.
func (m *Market) room(zone, typ, capacityType string) int {
	if r := m.rule(zone, typ, capacityType); r != nil {
		return r.Left
	}
	return endless
}

const endless = 1 << 30

// depth guesses how deep a spot pool is, as AWS's allocation strategies do; it moves with the hour.
func (m *Market) depth(zone, typ string) int {
	if left := m.room(zone, typ, Spot); left < endless {
		return left
	}
	hour := m.at.Truncate(6 * time.Hour).Unix()
	return 20 + int(480*chance(fmt.Sprintf("%d/depth/%s/%s/%d", m.cfg.Seed, zone, typ, hour)))
}

// zonesWith returns the zones where a type can be had on demand, but for one.
func (m *Market) zonesWith(typ, but string) []string {
	t := m.types[typ]
	if t == nil {
		return nil
	}
	var out []string
	for _, z := range t.Zones {
		if z != but && m.room(z, typ, OnDemand) > 0 {
			out = append(out, z)
		}
	}
	slices.Sort(out)
	return out
}

// SetQuota limits the vCPUs that may run in a bucket; a negative number lifts the limit.
func (m *Market) SetQuota(b Bucket, vcpus int) {
	defer m.lock()()
	if vcpus < 0 {
		delete(m.quotas, b)
		return
	}
	m.quotas[b] = vcpus
}

// overQuota says whether one more machine of a type would break a quota.
func (m *Market) overQuota(t *Type, capacityType string) *Error {
	b := t.Bucket()
	if capacityType == Spot {
		b = b.Spot()
	}
	quota, limited := m.quotas[b]
	if !limited {
		return nil
	}
	if m.vcpus[b]+t.VCPUs <= quota {
		return nil
	}
	if capacityType == Spot {
		return Errorf(MaxSpotInstanceCountExceeded, "Max spot instance count exceeded")
	}
	return Errorf(VcpuLimitExceeded, "You have requested more vCPU capacity than your current vCPU limit of %d allows for the instance bucket "+
		"that the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.", quota)
}

// count books a machine's vCPUs, or gives them back.
func (m *Market) count(i *Instance, sign int) {
	t := m.types[i.Type]
	if t == nil {
		return
	}
	b := t.Bucket()
	if i.CapacityType == Spot {
		b = b.Spot()
	}
	m.vcpus[b] += sign * t.VCPUs
}

// ForbidSpotRole says whether the service-linked role for spot is missing and may not be made.
func (m *Market) ForbidSpotRole(missing bool) {
	defer m.lock()()
	m.noRole = missing
}

// ShiftZone moves traffic, and launches of those who ask, away from a zone until a time; a zero time ends it.
func (m *Market) ShiftZone(zone string, until time.Time) {
	defer m.lock()()
	if until.IsZero() {
		delete(m.shifted, zone)
		return
	}
	m.shifted[zone] = until
}

// Shifted returns the zones shifted away from, and until when.
func (m *Market) Shifted() map[string]time.Time {
	defer m.lock()()
	out := map[string]time.Time{}
	for z, until := range m.shifted {
		if until.After(m.at) {
			out[z] = until
		}
	}
	return out
}

// zoneName returns the zone that text names, by name or id.
func (m *Market) zoneName(text string) string {
	for _, z := range m.zones {
		if z.ID == text || z.Name == text {
			return z.Name
		}
	}
	return strings.TrimSpace(text)
}
