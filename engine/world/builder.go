package world

import (
	"cmp"
	"reflect"
	"strings"
)

// Builder collects items, in any order, and gives Worlds. It has one owner.
//
// The law it keeps: any order of Set and Delete that ends in the same items
// gives the same World, digest included, as building it from nothing.
//
// An item handed to the Builder, and all it points to, belongs to the Builder:
// the caller does not write to it again.
type Builder struct {
	digest sum

	pods       kind[Key, Pod]
	nodes      kind[string, Node]
	claims     kind[string, Claim]
	pools      kind[PoolID, Pool]
	catalogs   kind[TemplateID, Catalog]
	daemonSets kind[Key, DaemonSet]
	namespaces kind[string, Namespace]
	guards     kind[Key, Guard]
	backoffs   kind[BackoffID, Backoff]

	waiting   table[Key, Pod]     // pods without a node, not done
	loads     table[string, load] // pods on each node, whether the node is known or not
	shifts    map[string][]shift  // what came to and went from loads since the last snapshot
	labelling labelling
	links     links
	places    table[placeKey, Place]
}

// kind is the items of one kind and how they are hashed.
type kind[K comparable, V any] struct {
	table[K, V]
	hash *hasher
}

func newKind[K comparable, V any](tag byte, key func(*V) K, compare func(a, b K) int) kind[K, V] {
	return kind[K, V]{table: newTable(key, compare), hash: newHasher(tag, reflect.TypeFor[V]())}
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{
		pods:       newKind('p', func(p *Pod) Key { return p.Key }, compareKey),
		nodes:      newKind('n', func(n *Node) string { return n.Name }, strings.Compare),
		claims:     newKind('c', func(c *Claim) string { return c.Name }, strings.Compare),
		pools:      newKind('o', func(p *Pool) PoolID { return p.ID }, ComparePool),
		catalogs:   newKind('t', func(c *Catalog) TemplateID { return c.Template }, cmp.Compare[TemplateID]),
		daemonSets: newKind('d', func(d *DaemonSet) Key { return d.Key }, compareKey),
		namespaces: newKind('s', func(n *Namespace) string { return n.Name }, strings.Compare),
		guards:     newKind('g', func(g *Guard) Key { return g.Key }, compareKey),
		backoffs:   newKind('b', func(x *Backoff) BackoffID { return x.BackoffID }, compareBackoff),
		waiting:    newTable(func(p *Pod) Key { return p.Key }, compareKey),
		loads:      newTable(func(l *load) string { return l.node }, strings.Compare),
		links:      newLinks(),
		places:     newTable(keyOfPlace, comparePlaceKey),
	}
}

// set puts item v under key k, or deletes the key if v is nil, and keeps the digest.
// It returns the item that stood there before, and false if nothing changed.
func set[K comparable, V any](b *Builder, t *kind[K, V], k K, v *V) (old *V, changed bool) {
	old = t.find(k)
	if old == nil && v == nil {
		return nil, false
	}
	var was, is sum
	if old != nil {
		was = t.hash.sum(old)
	}
	if v != nil {
		is = t.hash.sumShared(v)
	}
	if old != nil && v != nil && was == is {
		return old, false
	}
	b.digest = b.digest.minus(was).plus(is)
	t.put(k, v)
	return old, true
}

// SetPod adds or replaces a pod.
func (b *Builder) SetPod(p Pod) error {
	if err := checkPod(p); err != nil {
		return err
	}
	b.putPod(p.Key, &p)
	return nil
}

// Pod returns the pod of key k as it stands now, nothing snapshot yet included; nil if there is none.
func (b *Builder) Pod(k Key) *Pod { return b.pods.find(k) }

// DeletePod takes a pod out, if it is there.
func (b *Builder) DeletePod(k Key) { b.putPod(k, nil) }

func (b *Builder) putPod(k Key, p *Pod) {
	old, changed := set(b, &b.pods, k, p)
	if !changed {
		return
	}
	if old != nil {
		b.unplace(old)
	}
	switch {
	case p == nil || p.Done:
	case p.Node == "":
		b.waiting.put(k, p)
	default:
		b.shift(p.Node, shift{k, p})
	}
}

func (b *Builder) unplace(p *Pod) {
	switch {
	case p.Done:
	case p.Node == "":
		b.waiting.put(p.Key, nil)
	default:
		b.shift(p.Node, shift{p.Key, nil})
	}
}

// SetNode adds or replaces a node.
func (b *Builder) SetNode(n Node) error {
	if err := checkNode(n); err != nil {
		return err
	}
	b.putNode(n.Name, &n)
	return nil
}

// DeleteNode takes a node out, if it is there. Its pods stay until they are deleted.
func (b *Builder) DeleteNode(name string) { b.putNode(name, nil) }

func (b *Builder) putNode(name string, n *Node) {
	if old, changed := set(b, &b.nodes, name, n); changed {
		b.links.node(old, n)
	}
}

// SetClaim adds or replaces a claim.
func (b *Builder) SetClaim(c Claim) error {
	if err := checkClaim(c); err != nil {
		return err
	}
	b.putClaim(c.Name, &c)
	return nil
}

// DeleteClaim takes a claim out, if it is there.
func (b *Builder) DeleteClaim(name string) { b.putClaim(name, nil) }

func (b *Builder) putClaim(name string, c *Claim) {
	if old, changed := set(b, &b.claims, name, c); changed {
		b.links.claim(old, c)
	}
}

// SetPool adds or replaces a pool.
func (b *Builder) SetPool(p Pool) error {
	if err := checkPool(p); err != nil {
		return err
	}
	set(b, &b.pools, p.ID, &p)
	return nil
}

// DeletePool takes a pool out, if it is there.
func (b *Builder) DeletePool(id PoolID) { set(b, &b.pools, id, nil) }

// SetCatalog adds or replaces what a template's machines can be. What has no price is left out: it would be taken to cost nothing.
func (b *Builder) SetCatalog(c Catalog) error {
	c = c.Priced()
	if err := checkCatalog(c); err != nil {
		return err
	}
	set(b, &b.catalogs, c.Template, &c)
	return nil
}

// DeleteCatalog takes a template's catalogue out, if it is there.
func (b *Builder) DeleteCatalog(t TemplateID) { set(b, &b.catalogs, t, nil) }

// SetDaemonSet adds or replaces a DaemonSet.
func (b *Builder) SetDaemonSet(d DaemonSet) error {
	if err := checkDaemonSet(d); err != nil {
		return err
	}
	set(b, &b.daemonSets, d.Key, &d)
	return nil
}

// DeleteDaemonSet takes a DaemonSet out, if it is there.
func (b *Builder) DeleteDaemonSet(k Key) { set(b, &b.daemonSets, k, nil) }

// SetNamespace adds or replaces a namespace.
func (b *Builder) SetNamespace(n Namespace) error {
	if n.Name == "" {
		return refuse("namespace", "name", "is empty")
	}
	set(b, &b.namespaces, n.Name, &n)
	return nil
}

// DeleteNamespace takes a namespace out, if it is there.
func (b *Builder) DeleteNamespace(name string) { set(b, &b.namespaces, name, nil) }

// SetGuard adds or replaces a pod disruption budget.
func (b *Builder) SetGuard(g Guard) error {
	if g.Name == "" {
		return refuse("guard", "name", "is empty")
	}
	set(b, &b.guards, g.Key, &g)
	return nil
}

// DeleteGuard takes a pod disruption budget out, if it is there.
func (b *Builder) DeleteGuard(k Key) { set(b, &b.guards, k, nil) }

// SetBackoff adds or replaces a back-off.
func (b *Builder) SetBackoff(x Backoff) error {
	if err := checkBackoff(x); err != nil {
		return err
	}
	set(b, &b.backoffs, x.BackoffID, &x)
	return nil
}

// DeleteBackoff takes a back-off out, if it is there.
func (b *Builder) DeleteBackoff(id BackoffID) { set(b, &b.backoffs, id, nil) }

// Backoff returns a back-off as it stands now, nothing snapshot yet included; nil if there is none.
func (b *Builder) Backoff(id BackoffID) *Backoff { return b.backoffs.find(id) }

// shift notes a shift of a node's load.
func (b *Builder) shift(node string, s shift) {
	if b.shifts == nil {
		b.shifts = map[string][]shift{}
	}
	b.shifts[node] = append(b.shifts[node], s)
}
