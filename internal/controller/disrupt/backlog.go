package disrupt

import (
	"time"

	"github.com/tenon-sh/tenon/engine/world"
)

// manyPending is how many pending pods are many.
const manyPending = 100

// backlog is how far many pods that wait for their places have come. While ever
// fewer wait no others are moved: each would be one more to be bound, what room
// they leave changes with every look, and looks and evictions would take time and
// requests from those that wait. Where they do not come down, or always some
// others come, nothing would ever be moved, so that patience is renewed only as
// long as a tenth of them has gone, or twice as many have come as there ever
// were: it ends after so many renewals, however many wait.
type backlog struct {
	least, most int       // of the pods that have waited at a time
	since       time.Time // when patience was last renewed
}

// holds notes how many pods wait for their places, and reports whether others are to stay until these have been bound.
func (b *backlog) holds(waiting int, now time.Time) bool {
	if waiting < manyPending {
		*b = backlog{}
		return false
	}
	if waiting <= b.least-b.least/10 || waiting >= 2*b.most { // as at the first look, before which there were none
		b.least, b.since = waiting, now
	}
	b.most = max(b.most, waiting)
	return now.Sub(b.since) < restless
}

// backlogged counts the pods that wait for their places: those of which the last
// plan says where they go, and those that may be too young for it. What has
// waited for longer and is not planned is refused, and waits for no node.
func backlogged(w *world.World) (n int) {
	for _, p := range w.Waiting() {
		young := w.At()-p.Created < int64(restless/time.Second)
		if p.Waiting && p.Moves() && !p.Gated && (young || p.Planned != "") {
			n++
		}
	}
	return n
}
