package begun

import "github.com/tenon-sh/tenon/engine/world"

// Patience is how long a machine that is bought may take until it is complete, in seconds: as long as Karpenter waits.
const Patience = 10 * 60

// Overdue reports whether a machine was bought for pods that run elsewhere, was launched, and is still not initialized
// after all the time that commands wait.
func Overdue(w *world.World, p *world.Place) bool {
	return p.Claim != nil && len(p.Claim.Replaces) > 0 && !p.Deleting() && p.Claim.Launched && !p.Claim.Initialized && w.At()-p.Claim.Created > Patience
}
