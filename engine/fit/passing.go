package fit

import (
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

const (
	// maxFormingOutageSeconds is how many seconds a machine that is still forming may be out of
	// reach before it is no longer counted on. Kubernetes lets pods stay as long on a node that is.
	maxFormingOutageSeconds = 300

	// maxBlinkSeconds is how many seconds a complete machine may be out of reach before
	// pods that were meant for it are planned for again, and how long its node may be
	// seen later than its claim.
	maxBlinkSeconds = 60
)

// taintsOf are the taints that pods have to tolerate. A machine of a pool that
// is still forming sheds its startup taints and those that Kubernetes puts on
// what has just joined, so they do not count.
func taintsOf(m *world.Place, now int64) []world.Taint {
	switch {
	case m.Node == nil:
		return m.Claim.Taints
	case !forming(m, now):
		return m.Node.Taints
	}
	var startup []world.Taint
	if m.Claim != nil {
		startup = m.Claim.StartupTaints
	}
	lost := m.Node.Unready > 0 && now-m.Node.Unready > maxFormingOutageSeconds
	return slices.DeleteFunc(slices.Clone(m.Node.Taints), func(t world.Taint) bool {
		switch t.Key {
		case unregistered:
			return t.Effect == world.NoExecute && m.Claim != nil // without a claim nothing takes it away
		case unreachable:
			return !lost
		}
		return passing(t) || slices.ContainsFunc(startup, func(s world.Taint) bool { return s.Key == t.Key && s.Effect == t.Effect })
	})
}

// forming reports whether the machine belongs to a pool and has not been seen
// complete yet. Its node shows it before its claim: one whose claim has only
// just become complete, and which does not say so, is seen as it was some time ago.
func forming(m *world.Place, now int64) bool {
	if m.Claim != nil && (!m.Claim.Initialized || now-m.Claim.InitializedAt > maxBlinkSeconds) {
		return !m.Claim.Initialized
	}
	return m.Node.Pool.Name != "" && m.Node.Labels[label.Initialized] != "true"
}

const (
	unregistered = "karpenter.sh/unregistered" // until a node has been matched with its claim
	notReady     = "node.kubernetes.io/not-ready"
	unreachable  = "node.kubernetes.io/unreachable"
)

// passing reports whether the taint goes away by itself while a node joins.
func passing(t world.Taint) bool {
	switch t.Key {
	case notReady:
		return t.Effect == world.NoSchedule || t.Effect == world.NoExecute
	case "node.cloudprovider.kubernetes.io/uninitialized":
		return t.Effect == world.NoSchedule
	}
	return strings.HasPrefix(t.Key, "readiness.k8s.io/")
}

// Blinks reports whether a complete machine of a pool has stopped being ready
// only just now, as busy ones do for a while. What it is like once it is back is
// returned too: pods meant for it may wait for that, others find it as it is.
func Blinks(m *world.Place, at *Place, now int64) (back *Place, blinks bool) {
	if m.Node == nil || m.Node.Ready || m.Pool().Name == "" || forming(m, now) || m.Node.Unready == 0 || now-m.Node.Unready > maxBlinkSeconds {
		return nil, false
	}
	back = at.Copy()
	back.Taints = slices.DeleteFunc(slices.Clone(at.Taints), func(t world.Taint) bool { return t.Key == notReady || t.Key == unreachable })
	return back, len(back.Taints) < len(at.Taints)
}
