package world

import (
	"slices"
	"strings"
)

// World is a snapshot of a cluster at one moment. It never changes, and nothing
// in it may be written to: Worlds share what did not change between them.
type World struct {
	at     int64
	digest sum
	base   Builder // with nothing pending: what Edit starts from

	pods       []*Pod
	waiting    []*Pod
	places     []*Place
	pools      []*Pool
	catalogs   []*Catalog
	daemonSets []*DaemonSet
	namespaces []*Namespace
	guards     []*Guard
	backoffs   []*Backoff
}

// Snapshot returns the World of all items set so far, as of at (seconds since
// 1970). It costs what changed since the last one, plus a copy of pointers.
func (b *Builder) Snapshot(at int64) *World {
	w := &World{at: at, digest: b.digest}
	w.pods, _ = b.pods.settle()
	w.waiting, _ = b.waiting.settle()
	w.pools, _ = b.pools.settle()
	w.catalogs, _ = b.catalogs.settle()
	w.daemonSets, _ = b.daemonSets.settle()
	w.namespaces, _ = b.namespaces.settle()
	w.guards, _ = b.guards.settle()
	w.backoffs, _ = b.backoffs.settle()
	b.settlePlaces()
	w.places = b.places.settled
	w.base = *b
	return w
}

// Edit returns a Builder that starts from the World's items and leaves the World as it is.
func (w *World) Edit() *Builder {
	b := NewBuilder()
	b.digest = w.digest
	b.pods.table = b.pods.over(w.base.pods.settled)
	b.nodes.table = b.nodes.over(w.base.nodes.settled)
	b.claims.table = b.claims.over(w.base.claims.settled)
	b.pools.table = b.pools.over(w.base.pools.settled)
	b.catalogs.table = b.catalogs.over(w.base.catalogs.settled)
	b.daemonSets.table = b.daemonSets.over(w.base.daemonSets.settled)
	b.namespaces.table = b.namespaces.over(w.base.namespaces.settled)
	b.guards.table = b.guards.over(w.base.guards.settled)
	b.backoffs.table = b.backoffs.over(w.base.backoffs.settled)
	b.waiting = b.waiting.over(w.base.waiting.settled)
	b.loads = b.loads.over(w.base.loads.settled)
	b.links = b.links.over(w.base.links)
	b.places = b.places.over(w.base.places.settled)
	return b
}

// At is the World's time, in seconds since 1970.
func (w *World) At() int64 { return w.at }

// Digest names the World by its items and its time.
func (w *World) Digest() string { return w.digest.text(w.at) }

// Pods returns every pod, by key.
func (w *World) Pods() []*Pod { return w.pods }

// Waiting returns the pods without a node that are not done, by key: gated and nominated ones too.
func (w *World) Waiting() []*Pod { return w.waiting }

// Ends reports whether a pod is about to be deleted, with its namespace or for its Job.
func (w *World) Ends(p *Pod) bool {
	n := w.Namespace(p.Namespace)
	return p.Ending || n != nil && n.Going
}

// Places returns the machines, by name.
func (w *World) Places() []*Place { return w.places }

// Pools returns the pools, by name and kind.
func (w *World) Pools() []*Pool { return w.pools }

// Catalogs returns every template's catalogue, by template.
func (w *World) Catalogs() []*Catalog { return w.catalogs }

// DaemonSets returns the DaemonSets, by key.
func (w *World) DaemonSets() []*DaemonSet { return w.daemonSets }

// Guards returns the pod disruption budgets, by key.
func (w *World) Guards() []*Guard { return w.guards }

// Namespaces returns the namespaces, by name.
func (w *World) Namespaces() []*Namespace { return w.namespaces }

// Backoffs returns the back-offs, by pod, pool and template.
func (w *World) Backoffs() []*Backoff { return w.backoffs }

// Pod returns the pod of key k; nil if there is none.
func (w *World) Pod(k Key) *Pod { return w.base.pods.find(k) }

// Place returns the machine of that name; nil if there is none.
func (w *World) Place(name string) *Place {
	i, ok := slices.BinarySearchFunc(w.places, name, comparePlace)
	if !ok {
		return nil
	}
	return w.places[i]
}

// Pool returns the pool of that id; nil if there is none.
func (w *World) Pool(id PoolID) *Pool { return w.base.pools.find(id) }

// Catalog returns what the template's machines can be; nil if nothing is known.
func (w *World) Catalog(t TemplateID) *Catalog { return w.base.catalogs.find(t) }

// CatalogFor returns what the template's machines can be as the pool sees them; nil if nothing is known.
func (w *World) CatalogFor(p PoolID, t TemplateID) *Catalog {
	if own := w.Catalog(t.For(p)); own != nil {
		return own
	}
	return w.Catalog(t)
}

// Blind reports whether nothing is known yet of the machines of a pool that may
// buy. A program that has just started knows no catalogue: pods would be given
// machines of a lighter pool, or be refused, only because of that.
func (w *World) Blind() bool {
	return slices.ContainsFunc(w.Pools(), func(p *Pool) bool {
		return p.NotReady == "" && !p.Deleting && w.CatalogFor(p.ID, p.Template) == nil
	})
}

// Namespace returns the namespace of that name; nil if it is not known.
func (w *World) Namespace(name string) *Namespace { return w.base.namespaces.find(name) }

// Currencies returns the currencies of all catalogues, in order. More than one
// means that prices cannot be compared, and nothing can be decided by them.
func (w *World) Currencies() []string {
	var out []string
	for _, c := range w.catalogs {
		out = append(out, c.Currency)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// GuardsOf returns the pod disruption budgets that count for a pod.
func (w *World) GuardsOf(p *Pod) []*Guard {
	from, _ := slices.BinarySearchFunc(w.guards, p.Namespace, func(g *Guard, namespace string) int { return strings.Compare(g.Namespace, namespace) })
	var out []*Guard
	for _, g := range w.guards[from:] {
		if g.Namespace != p.Namespace {
			break
		}
		if g.Selector.Match(p.Labels) && !(g.UnhealthyLeave && !p.ReadyToServe) {
			out = append(out, g)
		}
	}
	return out
}

// PoolBackoff returns the back-off of a pool, whatever the pod; nil if there is none.
func (w *World) PoolBackoff(p *Pool) *Backoff {
	return w.base.backoffs.find(BackoffID{Pool: p.ID, Template: p.Template})
}
