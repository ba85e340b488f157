package disrupt

import "github.com/tenon-sh/tenon/engine/world"

// maxUnseenSeconds is for how many seconds a machine that was asked for may have no instance yet.
const maxUnseenSeconds = 60

// Settled reports whether what was decided last about pods and machines can be
// seen, so that it makes sense to look which machines could go: pods have just
// begun to wait, or machines have just been asked for, are reasons to wait.
func Settled(w *world.World) bool {
	for _, p := range w.Waiting() {
		fresh := w.At()-p.Created < Calm
		if p.Waiting && p.Moves() && !p.Gated && (fresh || p.Planned != "") {
			return false
		}
	}
	for _, p := range w.Places() {
		if p.Claim != nil && !p.Deleting() && p.Claim.ProviderID == "" && w.At()-p.Claim.Created < maxUnseenSeconds {
			return false
		}
	}
	return true
}
