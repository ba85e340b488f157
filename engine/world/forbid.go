package world

// Forbids reports whether a pod says that it must not be moved at a time: for
// good, or for a while from its start. One that has not started has its whole
// while before it.
func (p *Pod) Forbids(at int64) bool {
	d := p.Disruption
	return d.Forbidden || d.ForbiddenFor > 0 && (p.Started == 0 || at < p.Started+d.ForbiddenFor)
}
