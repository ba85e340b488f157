package world

// Forbids reports whether a pod says that it must not be moved at a time. It is
// not evicted then, for whatever reason its machine goes, and its machine is not
// given back by choice.
func (p *Pod) Forbids(at int64) bool {
	until, forbids := p.ForbidsUntil()
	return forbids && (until == 0 || at < until)
}

// ForbidsUntil reports whether a pod says that it must not be moved, now or once,
// and until when; 0 if no time ends that: it is for good, or for a while from its
// start, and the pod has not started and has its whole while before it.
func (p *Pod) ForbidsUntil() (until int64, forbids bool) {
	d := p.Disruption
	switch {
	case d.Forbidden, d.ForbiddenFor > 0 && p.Started == 0:
		return 0, true
	case d.ForbiddenFor > 0:
		return p.Started + d.ForbiddenFor, true
	}
	return 0, false
}
