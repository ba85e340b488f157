package market

import (
	"fmt"
	"time"
)

// Kind is what a notice is about.
type Kind string

// The notices AWS publishes about machines.
const (
	SpotInterruption        Kind = "spot-interruption"
	RebalanceRecommendation Kind = "rebalance-recommendation"
	StateChanged            Kind = "state-change"
	ScheduledChange         Kind = "scheduled-change"
	ReservationInterruption Kind = "reservation-interruption"
)

// Notice is something that happened, or is about to happen, to a machine.
type Notice struct {
	ID       string // of the event
	Kind     Kind
	At       time.Time
	Instance string
	State    State          // of StateChanged
	Event    ScheduledEvent // of ScheduledChange
}

// notify publishes a notice. The market is locked.
func (m *Market) notify(n Notice) {
	n.ID, n.At = m.uuid("event"), m.at
	m.post(func(o Observer) { o.Notice(n) })
}

// changed publishes the state of a machine.
func (m *Market) changed(i *Instance) {
	m.version++
	m.notify(Notice{Kind: StateChanged, Instance: i.ID, State: i.State})
}

// Interrupt warns of the end of a spot machine and ends it when the notice has run out.
func (m *Market) Interrupt(id string) error {
	defer m.lock()()
	i, ok := m.instances[id]
	if !ok {
		return noInstances([]string{id})
	}
	if i.CapacityType != Spot || i.State.Gone() {
		return fmt.Errorf("interrupt %q: it is %s and %s, only spot machines that live can be interrupted", id, i.CapacityType, i.State)
	}
	m.notify(Notice{Kind: SpotInterruption, Instance: id})
	m.after(m.at.Add(m.cfg.Timing.SpotNotice), func(time.Time) {
		m.stop(i, Reason{Code: "Server.SpotInstanceTermination", Message: "Server.SpotInstanceTermination: Spot instance termination"})
	})
	return nil
}

// Rebalance recommends to replace a spot machine.
func (m *Market) Rebalance(id string) error {
	return m.publish(id, func(*Instance) Notice { return Notice{Kind: RebalanceRecommendation} })
}

// InterruptReservation warns that a machine's reserved capacity is taken back, and ends it when the notice has run out.
func (m *Market) InterruptReservation(id string) error {
	return m.publish(id, func(i *Instance) Notice {
		m.after(m.at.Add(m.cfg.Timing.SpotNotice), func(time.Time) {
			m.stop(i, Reason{Code: "Server.CapacityReservationTermination", Message: "Server.CapacityReservationTermination: Capacity reservation termination"})
		})
		return Notice{Kind: ReservationInterruption}
	})
}

// Schedule puts an event in a machine's calendar and publishes it.
func (m *Market) Schedule(id string, e ScheduledEvent) error {
	return m.publish(id, func(i *Instance) Notice {
		if e.ID == "" {
			e.ID = m.id("instance-event")
		}
		i.Health.Events = append(i.Health.Events, e)
		return Notice{Kind: ScheduledChange, Event: e}
	})
}

// Impair makes the status checks of a machine fail from now on, or pass again.
func (m *Market) Impair(id string, instance, system bool) error {
	defer m.lock()()
	i, ok := m.instances[id]
	if !ok {
		return noInstances([]string{id})
	}
	i.Health.InstanceImpaired, i.Health.SystemImpaired = time.Time{}, time.Time{}
	if instance {
		i.Health.InstanceImpaired = m.at
	}
	if system {
		i.Health.SystemImpaired = m.at
	}
	return nil
}

// Kill ends a machine at once and without notice, as a failing host does.
func (m *Market) Kill(id string) error {
	defer m.lock()()
	i, ok := m.instances[id]
	if !ok {
		return noInstances([]string{id})
	}
	i.Reason = Reason{Code: "Server.InternalError", Message: "Server.InternalError: Internal error on launch"}
	if !i.State.Gone() {
		i.State = ShuttingDown
		m.changed(i)
	}
	m.end(i, m.at)
	return nil
}

func (m *Market) publish(id string, f func(*Instance) Notice) error {
	defer m.lock()()
	i, ok := m.instances[id]
	if !ok {
		return noInstances([]string{id})
	}
	n := f(i)
	n.Instance = id
	m.notify(n)
	return nil
}
