package cluster

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/world"
)

// purchases are the claims whose outcome is not known yet, and what is known
// of those that came to nothing. The rules are those of docs/adr/0014: what is
// counted is a fact of the World, what follows from it is the engine's.
type purchases struct {
	open   map[string]*purchase             // by claim
	done   map[string]string                // claims whose outcome is known, and their UIDs
	served map[world.BackoffID]int64        // when a machine of a pool and template last took a pod, or joined a static pool
	held   map[world.BackoffID]world.PoolID // the back-offs there are, and the pool of the last purchase that each counts
}

func newPurchases() purchases {
	return purchases{open: map[string]*purchase{}, done: map[string]string{}, served: map[world.BackoffID]int64{}, held: map[world.BackoffID]world.PoolID{}}
}

// purchase is one claim until it is known what it came to.
type purchase struct {
	claim   world.Claim // as it was seen last
	seen    int64       // when it was first seen, by our clock
	old     bool        // its machine was ready already when it was first seen
	soldOut bool        // the cloud had none: its offers are marked, and the next purchase is another one
	why     string      // what the launch said when it failed
	served  bool
	judged  bool // it is known which of its pods it took
	counted bool // against its pool
}

// blameForSeconds is how long after a machine is ready its pool is held responsible for
// the pods that do not run there.
const blameForSeconds = 60

// rememberFailuresSeconds is how long a run of failures is remembered after its wait is over.
const rememberFailuresSeconds = 60 * 60

// bought notes a claim as a purchase. What was adopted was not bought.
func (c *Cluster) bought(item world.Claim, now int64) {
	p, known := c.purchases.open[item.Name]
	if known && p.claim.UID == item.UID {
		p.claim = item
		return
	}
	if uid, done := c.purchases.done[item.Name]; item.Deleting || item.Pool.Name == "" || done && uid == item.UID {
		return
	}
	c.purchases.open[item.Name] = &purchase{claim: item, seen: now, old: item.Initialized}
}

// Ended says why a claim is about to be given up: what its launch said, and
// whether that was because the cloud has none of the machines it may be. Such
// offers are known to be sold out, so the next purchase need not wait.
func (c *Cluster) Ended(claim, why string, soldOut bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.purchases.open[claim]; p != nil {
		p.why, p.soldOut = why, soldOut
	}
}

// Mended says that a class has changed, named by group, kind and name: what was learnt of
// purchases from it says nothing about the next one.
func (c *Cluster) Mended(class string) {
	c.update(func() []Change {
		c.release(func(p world.Pool) bool {
			id, _, _ := strings.Cut(string(p.Template), "#") // the kubelet settings of a Provisioner
			return id == class
		})
		return []Change{{Kind: Catalog, Name: class}}
	})
}

// remembered takes over what an earlier process wrote to a pool's status. The lock is held.
func (c *Cluster) remembered(p world.Pool, b *world.Backoff) {
	if b == nil {
		return
	}
	b.Pool, b.Template = p.ID, p.Template
	c.put("back-off "+p.ID.Name, c.builder.SetBackoff(*b))
	c.purchases.held[b.BackoffID] = p.ID
}

// edited says that a pool has changed. The lock is held.
func (c *Cluster) edited(id world.PoolID) {
	c.release(func(p world.Pool) bool { return p.ID == id })
}

// release ends the waits of purchases whose last was from one of some pools.
func (c *Cluster) release(from func(world.Pool) bool) {
	for _, b := range c.backoffs() {
		if from(c.pools[c.purchases.held[b.BackoffID]]) {
			c.unhold(b.BackoffID)
		}
	}
}

// backoffs are the back-offs as they stand.
func (c *Cluster) backoffs() []*world.Backoff {
	var out []*world.Backoff
	for _, id := range slices.SortedFunc(maps.Keys(c.purchases.held), compareBackoff) {
		if b := c.builder.Backoff(id); b != nil {
			out = append(out, b)
		}
	}
	return out
}

func compareBackoff(a, b world.BackoffID) int {
	return cmp.Or(compareKey(a.Pod, b.Pod), world.ComparePool(a.Pool, b.Pool), cmp.Compare(a.Template, b.Template))
}

func (c *Cluster) unhold(id world.BackoffID) {
	delete(c.purchases.held, id)
	c.builder.DeleteBackoff(id)
	c.dirty = true
}

// weigh finds out what became of purchases, as a World shows it. It reports
// whether that changed the cluster state. The lock is held.
func (c *Cluster) weigh(w *world.World) bool {
	before := c.dirty
	c.dirty = false
	if len(c.purchases.open) > 0 {
		places := make(map[string]*world.Place, len(c.purchases.open))
		for _, m := range w.Places() {
			if m.Claim != nil && c.purchases.open[m.Claim.Name] != nil {
				places[m.Claim.Name] = m
			}
		}
		for _, name := range slices.Sorted(maps.Keys(c.purchases.open)) {
			p := c.purchases.open[name]
			if c.judge(w, p, places[name]) {
				delete(c.purchases.open, name)
				if places[name] != nil {
					c.purchases.done[name] = p.claim.UID
				}
			}
		}
	}
	for _, b := range c.backoffs() {
		if b.Last > w.At()+skewed { // the clock was set back since: the wait begins now, rather than then
			again := *b
			again.Last = w.At()
			c.put("back-off "+b.Pod.String()+" "+b.Pool.Name, c.builder.SetBackoff(again))
			continue
		}
		switch p := w.Pod(b.Pod); {
		case w.At() > b.Until()+rememberFailuresSeconds, b.Pod != (world.Key{}) && (p == nil || p.Done || p.Node != "" && !leaving(w, p)):
			c.unhold(b.BackoffID)
		}
	}
	changed := c.dirty
	c.dirty = before || changed
	return changed
}

// judge finds out what became of one purchase. It reports whether all of it is known.
func (c *Cluster) judge(w *world.World, p *purchase, m *world.Place) bool {
	static := len(p.claim.Pods) == 0
	if m == nil || m.Deleting() {
		c.fell(w, p, static)
		return true
	}
	if !p.served && (m.Serves() || static && p.claim.Initialized) {
		p.served = true
		at := w.At()
		if p.old {
			at = p.claim.InitializedAt
		}
		c.purchases.served[poolOf(p)] = max(at, c.purchases.served[poolOf(p)])
		if b := c.builder.Backoff(poolOf(p)); b != nil && at >= b.Last {
			c.unhold(b.BackoffID)
		}
	}
	if p.claim.Initialized && !p.judged && w.At() >= p.claim.InitializedAt+world.Settling {
		p.judged = true
		if m.Node != nil && m.Reserved() {
			c.hold(p, waiting(w, p, false), world.Backoff{Last: p.claim.InitializedAt, Why: m.Refusing()})
		}
	}
	if p.claim.Initialized && !p.served && !p.counted && w.At() >= p.claim.InitializedAt+blameForSeconds && len(waiting(w, p, false)) > 0 {
		p.counted = true
		c.count(p, world.Backoff{BackoffID: poolOf(p), Last: w.At(), Why: m.Refusing()})
	}
	return p.served && p.judged
}

// fell counts a purchase that has ended, if it was of no use to anyone and
// what it was for is still wanted.
func (c *Cluster) fell(w *world.World, p *purchase, static bool) {
	wanted := waiting(w, p, true)
	if p.served || p.soldOut || !static && len(p.claim.Replaces) == 0 && len(wanted) == 0 {
		return
	}
	why, id := cmp.Or(p.why, "its machine could not be launched"), poolOf(p)
	switch {
	case p.claim.Initialized:
		why, id = "node "+cmp.Or(p.claim.Node, p.claim.Name)+" was given back unused", world.BackoffID{} // it is the pod's matter, whatever the pool
	case p.claim.Registered:
		why = "its node did not become complete"
	case p.claim.Launched:
		why = "its machine did not join as a node"
	}
	if !p.judged {
		c.hold(p, wanted, world.Backoff{BackoffID: id, Last: w.At(), Why: why})
	}
	if !p.counted {
		c.count(p, world.Backoff{BackoffID: poolOf(p), Last: w.At(), Why: why})
	}
}

// hold counts a purchase that came to nothing for each of some pods.
func (c *Cluster) hold(p *purchase, pods []world.Key, b world.Backoff) {
	for _, key := range pods {
		b.Pod = key
		c.more(p, b)
	}
}

// count counts a purchase that came to nothing against its pool, unless others
// of the pool were of use meanwhile.
func (c *Cluster) count(p *purchase, b world.Backoff) {
	if at, ok := c.purchases.served[b.BackoffID]; ok && at >= p.seen {
		return
	}
	c.more(p, b)
}

// more makes a run of failures longer by one. Purchases that were made before
// the last failure was known are of the same try.
func (c *Cluster) more(p *purchase, b world.Backoff) {
	b.Times = 1
	if was := c.builder.Backoff(b.BackoffID); was != nil {
		if p.seen < was.Last {
			return
		}
		b.Times, b.Last = was.Times+1, max(b.Last, was.Last)
	}
	c.put("back-off "+b.Pod.String()+" "+b.Pool.Name, c.builder.SetBackoff(b))
	c.purchases.held[b.BackoffID] = p.claim.Pool
}

func poolOf(p *purchase) world.BackoffID {
	return world.BackoffID{Pool: p.claim.Pool, Template: p.claim.Template}
}

// waiting are the pods of a purchase that still wait for a place, with those
// that have yet to leave a machine that is going if wanted.
func waiting(w *world.World, p *purchase, withLeaving bool) []world.Key {
	var out []world.Key
	for _, key := range p.claim.Pods {
		if pod := w.Pod(key); pod != nil && (pod.Wants() || withLeaving && leaving(w, pod)) {
			out = append(out, key)
		}
	}
	return out
}

// leaving reports whether a pod runs on a machine that is going.
func leaving(w *world.World, p *world.Pod) bool {
	m := w.Place(p.Node)
	return p.Node != "" && m != nil && m.Deleting() && p.Moves()
}
