package statemetrics

import (
	"sync"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/metric"
)

// Unpriced counts nodes of pools whose price is not known, each once. The zero
// Unpriced has met none.
type Unpriced struct {
	mu  sync.Mutex
	met map[string]bool // by name
}

// Look counts those that were not met before.
func (u *Unpriced) Look(m *metric.Set, w *world.World) {
	u.mu.Lock()
	defer u.mu.Unlock()
	met := map[string]bool{}
	for _, p := range w.Places() {
		if p.Node == nil || p.Pool() == (world.PoolID{}) {
			continue
		}
		if _, priced := plan.OfferOf(w, p); priced {
			continue
		}
		met[p.Node.Name] = true
		if !u.met[p.Node.Name] {
			m.Add(metric.PoolsCostErrors, 1, p.Pool().Name)
		}
	}
	u.met = met
}
