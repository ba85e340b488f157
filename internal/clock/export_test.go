package clock

import "time"

// At is Since by a clock that shows wall when steady has been counted.
func (a *Ages) At(object, what string, date, wall time.Time, steady time.Duration) time.Duration {
	return a.at(object, what, date, wall, steady)
}
