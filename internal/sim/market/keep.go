package market

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Kept is what of a market outlives its process: the machines, the volumes they left, the reservations, and how far its ids are used up.
// Templates, fleets and tokens are not: what made them makes them again.
type Kept struct {
	Serial       map[string]uint64 `json:"serial"`
	Instances    []Instance        `json:"instances"`
	Volumes      []Disk            `json:"volumes,omitempty"` // of machines that have gone
	Reservations []Reservation     `json:"reservations,omitempty"`
}

// Version grows with every change of what Keep returns.
func (m *Market) Version() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.version
}

// Keep returns what is to be given to Restore, and its version.
func (m *Market) Keep() (Kept, uint64) {
	defer m.lock()()
	k := Kept{Serial: maps.Clone(m.serial), Instances: make([]Instance, 0, len(m.instances)), Reservations: sorted(m.reserved)}
	for _, i := range m.instances {
		k.Instances = append(k.Instances, i.clone())
	}
	for _, d := range sorted(m.left) {
		k.Volumes = append(k.Volumes, d.clone())
	}
	slices.SortFunc(k.Instances, func(a, b Instance) int { return strings.Compare(a.ID, b.ID) })
	return k, m.version
}

// Restore puts kept machines into a market that has none, and returns those that fit no subnet of it. They go on from
// the state they were in; what was due meanwhile happens at the next tick. The observer receives nothing that it
// could have received before.
func (m *Market) Restore(k Kept) []Instance {
	defer m.lock()()
	var strangers []Instance
	for kind, n := range k.Serial {
		m.serial[kind] = max(m.serial[kind], n)
	}
	for _, r := range k.Reservations {
		m.reserve(r)
	}
	for _, kept := range k.Volumes {
		d := kept.clone()
		m.left[d.ID] = &d
	}
	for _, kept := range k.Instances {
		i := kept.clone()
		i.subnet = m.subnets[i.Subnet]
		if i.subnet == nil || m.types[i.Type] == nil {
			strangers = append(strangers, kept)
			continue
		}
		m.instances[i.ID] = &i
		m.resume(&i)
	}
	return strangers
}

// resume takes what a machine holds and puts on the agenda what is to come for it. The market is locked.
func (m *Market) resume(i *Instance) {
	if i.State == Terminated {
		m.after(i.Ended.Add(m.cfg.Timing.Forget), func(time.Time) { m.forget(i) })
		return
	}
	m.count(i, +1)
	for _, nic := range i.Interfaces {
		i.subnet.hold(nic.Address)
	}
	switch i.State {
	case Pending:
		m.after(i.Launched.Add(m.cfg.Timing.Boot), func(at time.Time) { m.start(i, at) })
	case ShuttingDown:
		m.after(m.at.Add(m.cfg.Timing.ShutDown), func(at time.Time) { m.end(i, at) })
	}
}
