package repair

import "github.com/tenon-sh/tenon/engine/packing"

// TrySingly places pods one by one, all others being bound.
func (k *Repairer) TrySingly(pods []*packing.Pod) { k.trySingly(pods) }
