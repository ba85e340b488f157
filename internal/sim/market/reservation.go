package market

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Reservation is capacity that is held for the account.
type Reservation struct {
	ID            string
	Type          string
	Zone          string
	Total         int
	Available     int
	Match         string // open or targeted
	Kind          string // default or capacity-block
	State         string // active, expired, …
	Owner         string
	Tenancy       string
	Interruptible bool
	Start         time.Time
	End           time.Time // zero: until cancelled
	Tags          Tags
}

// AddReservation makes a capacity reservation; its id is made here unless given.
func (m *Market) AddReservation(r Reservation) Reservation {
	defer m.lock()()
	if r.ID == "" {
		r.ID = m.id("cr")
	}
	r.Match = cmp.Or(r.Match, "open")
	r.Kind = cmp.Or(r.Kind, "default")
	r.State = cmp.Or(r.State, "active")
	r.Owner = cmp.Or(r.Owner, m.cfg.Account)
	r.Tenancy = cmp.Or(r.Tenancy, "default")
	if r.Available == 0 {
		r.Available = r.Total
	}
	if r.Start.IsZero() {
		r.Start = m.at
	}
	m.reserve(r)
	m.version++
	return r
}

// reserve puts a reservation into the market, and its end on the agenda.
func (m *Market) reserve(r Reservation) {
	m.reserved[r.ID] = &r
	if !r.End.IsZero() {
		m.after(r.End, func(time.Time) { r.end("expired") })
	}
}

// end ends a reservation that is in force. Machines that use it live on.
func (r *Reservation) end(state string) {
	if r.State == "active" {
		r.State = state
	}
}

// CancelReservation ends a reservation. Machines that use it live on.
func (m *Market) CancelReservation(id string) error {
	defer m.lock()()
	r := m.reserved[id]
	if r == nil {
		return Errorf(InvalidReservationNotFound, "The capacity reservation '%s' does not exist.", id)
	}
	r.end("cancelled")
	m.version++
	return nil
}

// Reservations returns all capacity reservations, by id.
func (m *Market) Reservations() []Reservation {
	defer m.lock()()
	return sorted(m.reserved)
}

// useReservation takes one machine of the reservation that the launch targets, or of an open one that fits.
// It returns an empty id when no reservation is used.
func (m *Market) useReservation(l launch) (string, *Error) {
	want := l.data.Reservation
	if l.capacityType == Spot || (want.ID == "" && want.Preference == "none") {
		return "", nil
	}
	if want.ID != "" {
		r := m.reserved[want.ID]
		switch {
		case r == nil:
			return "", Errorf(InvalidReservationNotFound, "The capacity reservation '%s' does not exist.", want.ID)
		case r.Type != l.typ.Name || r.Zone != l.subnet.Zone || r.State != "active":
			return "", Errorf(InvalidParameterCombination, "The capacity reservation '%s' does not match the instance's attributes.", want.ID)
		case r.Interruptible != (l.capacityType == Interruptible && l.data.Market.Kind == Interruptible):
			return "", Errorf(InvalidParameterCombination, "The capacity reservation '%s' does not match the market type of the request.", want.ID)
		case r.Available <= 0:
			return "", Errorf(ReservationCapacityExceeded, "The requested reservation does not have sufficient compatible and available capacity for this request.")
		}
		r.Available--
		return r.ID, nil
	}
	for _, id := range slices.Sorted(maps.Keys(m.reserved)) {
		r := m.reserved[id]
		if r.Match == "open" && r.Kind == "default" && r.State == "active" && r.Type == l.typ.Name && r.Zone == l.subnet.Zone && r.Available > 0 {
			r.Available--
			return r.ID, nil
		}
	}
	if want.Preference == "capacity-reservations-only" {
		return "", Errorf(ReservationCapacityExceeded, "The requested reservation does not have sufficient compatible and available capacity for this request.")
	}
	return "", nil
}
