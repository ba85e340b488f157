// Package cluster keeps the live state of one cluster: it owns a world.Builder, feeds it from watches, and gives Worlds.
//
// Objects become values at the door and are not kept. What we write ourselves
// is in the cluster state at once and stays there until the watches show it, so that
// no decision is made twice because an answer is under way.
package cluster

import (
	"cmp"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/written"
)

// Kind says what a Change is about.
type Kind string

// The kinds of change.
const (
	Pod     Kind = "pod"
	Node    Kind = "node"
	Claim   Kind = "claim"
	Pool    Kind = "pool"
	Catalog Kind = "catalog"
	Overlay Kind = "overlay"
	Backoff Kind = "back-off"
	Buffer  Kind = "capacity buffer"
	Other   Kind = "other"
)

// Change is what listeners are called with after the cluster state has changed.
type Change struct {
	Kind Kind
	Name string
	// Was and Is are set for pods; nil where there was or is none.
	Was, Is *world.Pod
	// Misread says what cannot be read of what a pod says about being moved.
	Misread error
	// Limits are what a pod that is bound may use at most, which no World has; nil
	// where the change is not the pod's own but of its volumes or its Job.
	Limits amount.List
}

// Cluster is the live state. Its methods may be called from several goroutines.
type Cluster struct {
	// Panics reports bugs that an object, or a listener, meets. It is set before
	// the first source starts, if at all.
	Panics panics.Teller

	now clock.Now

	mu        sync.Mutex
	builder   *world.Builder
	dirty     bool         // changed since last
	last      *world.World // the last snapshot
	lastAt    time.Time
	sources   []string        // that feed it
	waits     map[string]bool // sources that have not delivered their first list
	unsynced  time.Time       // since when there are any
	listeners []func(Change)
	refused   map[string]string // items that the Builder refused, and why

	pods       map[world.Key]podState // of pods with volumes, and of those we wrote to
	byPVC      map[world.Key]map[world.Key]bool
	pvcs       map[world.Key]observe.VolumeClaim
	pvs        map[string]observe.PersistentVolume
	class      map[string]observe.StorageClass
	csi        map[string][]world.DriverLimit
	unattached map[string]bool // CSI drivers whose volumes nodes reach without attaching them
	nodes      map[string]world.Node
	pools      map[world.PoolID]world.Pool
	barred     map[world.TemplateID]string // why their pools buy nothing now
	unread     map[string]world.PoolID     // claims that cannot be read: their pools buy nothing now
	claims     written.Log[int64]          // and when we made each, by our own clock; 0 if it was there before us
	layers     layers

	buffers map[world.Key][]world.Key // the virtual pods of each CapacityBuffer

	purchases purchases
	daemons   observe.Daemons
	devices   devices
	jobs      jobs
	spreads   spreads

	planned map[world.Key]string // where the last plan has pods that wait

	readPod   func(*corev1.Pod) podSeen
	readClaim func(*v1.NodeClaim) world.Claim
}

// podState is what is needed to resolve the volumes of a pod again.
type podState struct {
	pod    world.Pod
	mounts []observe.Mount
}

// New returns an empty state that waits for the named sources before it is synced.
func New(now clock.Now, sources ...string) *Cluster {
	c := &Cluster{
		now: now, builder: world.NewBuilder(), dirty: true, sources: sources, waits: map[string]bool{}, unsynced: now(), refused: map[string]string{},
		pods: map[world.Key]podState{}, byPVC: map[world.Key]map[world.Key]bool{},
		pvcs: map[world.Key]observe.VolumeClaim{}, pvs: map[string]observe.PersistentVolume{}, class: map[string]observe.StorageClass{},
		csi: map[string][]world.DriverLimit{}, unattached: map[string]bool{}, nodes: map[string]world.Node{},
		pools: map[world.PoolID]world.Pool{}, barred: map[world.TemplateID]string{}, unread: map[string]world.PoolID{}, layers: newLayers(),
		buffers:   map[world.Key][]world.Key{},
		purchases: newPurchases(), daemons: observe.NewDaemons(), jobs: newJobs(), spreads: newSpreads(), readPod: readPod, readClaim: observe.Claim,
	}
	for _, s := range sources {
		c.waits[s] = true
	}
	return c
}

// Listen has f called after each change, in order for each object, outside the
// lock. It must be called before the first source starts.
func (c *Cluster) Listen(f func(Change)) { c.listeners = append(c.listeners, f) }

// update changes the cluster state under the lock and then notifies the listeners. What
// panics while the cluster state changes is the caller's to catch: the cluster state stays in use.
func (c *Cluster) update(do func() []Change) {
	for _, change := range c.change(do) {
		c.notify(change)
	}
}

// change changes the cluster state under the lock.
func (c *Cluster) change(do func() []Change) []Change {
	c.mu.Lock()
	defer c.mu.Unlock()
	whole := false
	defer func() { c.dirty = c.dirty || !whole }() // whatever of it was done is in the next World
	changes := do()
	whole = true
	return changes
}

// notify calls every listener. One that breaks misses this change, and only that;
// the others hear of it.
func (c *Cluster) notify(change Change) {
	for _, f := range c.listeners {
		c.Panics.Do("listener", func() { f(change) }, "kind", change.Kind, "object", change.Name)
	}
}

// put notes what the Builder said of an item. What it refuses keeps its old value.
func (c *Cluster) put(item string, err error) {
	c.dirty = true
	if err != nil {
		c.refused[item] = err.Error()
		return
	}
	delete(c.refused, item)
}

// Delivered says that a source has delivered its first list.
func (c *Cluster) Delivered(source string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waits, source)
}

// Synced reports whether every source has delivered, and otherwise since when not.
func (c *Cluster) Synced() (ok bool, since time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.waits) == 0, c.unsynced
}

// Missing names the sources that have not delivered.
func (c *Cluster) Missing() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.waits))
	for s := range c.waits {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}

// Refused is what objects say that cannot be part of a World, and why, in order.
func (c *Cluster) Refused() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]string, 0, len(c.refused))
	for _, why := range c.refused {
		out = append(out, why)
	}
	slices.Sort(out)
	return out
}

// World returns the cluster state as it is now.
func (c *Cluster) World() *world.World {
	w, learnt := c.freeze(func() bool { return false })
	c.notifyLearnt(learnt)
	return w
}

// Recent returns a cluster state that is not older than age: cheap for callers that look often.
func (c *Cluster) Recent(age time.Duration) *world.World {
	w, learnt := c.freeze(func() bool { return c.last != nil && (!c.dirty || c.now.Since(c.lastAt) <= age) })
	c.notifyLearnt(learnt)
	return w
}

// freeze is snapshot under the lock, or the last one if that will do.
func (c *Cluster) freeze(lastDoes func() bool) (w *world.World, learnt bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lastDoes() {
		return c.last, false
	}
	return c.snapshot()
}

// snapshot freezes the cluster state, with what it shows of purchases. It reports whether that is news.
func (c *Cluster) snapshot() (w *world.World, learnt bool) {
	now := c.now()
	c.forget(now)
	c.settleDevices()
	if c.dirty || c.last == nil || c.last.At() != now.Unix() {
		c.last = c.builder.Snapshot(now.Unix())
		c.dirty = false
		if len(c.waits) == 0 && c.weigh(c.last) {
			learnt = true
			c.last = c.builder.Snapshot(now.Unix())
			c.dirty = false
		}
	}
	c.lastAt = now
	return c.last, learnt
}

// notifyLearnt notifies the listeners that something was learnt of purchases.
func (c *Cluster) notifyLearnt(learnt bool) {
	if learnt {
		c.notify(Change{Kind: Backoff})
	}
}

// Publish puts a template's catalogue into the cluster state.
func (c *Cluster) Publish(catalog world.Catalog) {
	c.update(func() []Change {
		c.bar(catalog.Template, "")
		c.put("catalog "+string(catalog.Template), c.builder.SetCatalog(catalog))
		c.layers.catalogs[catalog.Template] = catalog
		return append(c.lay(), Change{Kind: Catalog, Name: string(catalog.Template)})
	})
}

// Withdraw takes a template's catalogue out of the cluster state. Its pools are not ready, if there is a reason why.
func (c *Cluster) Withdraw(t world.TemplateID, why string) {
	c.update(func() []Change {
		c.bar(t, why)
		c.builder.DeleteCatalog(t)
		c.dirty = true
		delete(c.layers.catalogs, t)
		return append(c.lay(), Change{Kind: Catalog, Name: string(t)})
	})
}

// bar notes why the pools of a template buy nothing now; nothing if they may. The lock is held.
func (c *Cluster) bar(t world.TemplateID, why string) {
	if c.barred[t] == why {
		return
	}
	if c.barred[t] = why; why == "" {
		delete(c.barred, t)
	}
	for _, p := range c.pools {
		if p.Template == t {
			c.putPool(p)
		}
	}
}

func compareKey(a, b world.Key) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
