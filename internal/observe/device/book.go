package device

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// Book holds what the objects say. Its methods are not called side by side.
type Book struct {
	claims  map[world.Key]Claim
	classes map[string]Class
	slices  map[string]Slice
	pods    map[world.Key]Wishes
	pools   map[world.PoolID][]Template

	stale   bool
	joined  Joined
	known   map[string]*selection        // those that were compiled for the last answer
	answers map[string]map[string]answer // by selection and kind
}

// Joined is what the Book holds, put together.
type Joined struct {
	Pods  map[world.Key][]world.DeviceClaim
	Nodes map[string]Node
	Pools map[world.PoolID][]world.DeviceTemplate
}

// NewBook returns an empty Book.
func NewBook() *Book {
	return &Book{
		claims: map[world.Key]Claim{}, classes: map[string]Class{}, slices: map[string]Slice{}, pods: map[world.Key]Wishes{}, pools: map[world.PoolID][]Template{},
		answers: map[string]map[string]answer{},
	}
}

// put sets or, without a value, takes out an item; it reports whether that changes anything.
func put[K comparable, V any](b *Book, in map[K]V, k K, v *V) bool {
	was, known := in[k]
	switch {
	case v == nil && !known, v != nil && known && reflect.DeepEqual(was, *v):
		return false
	case v == nil:
		delete(in, k)
	default:
		in[k] = *v
	}
	b.stale = true
	return true
}

// SetClaim puts a ResourceClaim in, or takes it out if c is nil. It reports whether that changes anything, and so do the others.
func (b *Book) SetClaim(k world.Key, c *Claim) bool { return put(b, b.claims, k, c) }

// SetClass puts a DeviceClass in, or takes it out.
func (b *Book) SetClass(name string, c *Class) bool { return put(b, b.classes, name, c) }

// SetSlice puts a ResourceSlice in, or takes it out.
func (b *Book) SetSlice(name string, s *Slice) bool { return put(b, b.slices, name, s) }

// SetPod puts what a pod names in, or takes it out. Of a pod that names nothing nothing is kept.
func (b *Book) SetPod(k world.Key, w *Wishes) bool {
	if w != nil && len(w.Claims) == 0 {
		w = nil
	}
	return put(b, b.pods, k, w)
}

// SetPool puts the devices that a pool states in, or takes them out.
func (b *Book) SetPool(id world.PoolID, t []Template) bool {
	if len(t) == 0 {
		return put[world.PoolID, []Template](b, b.pools, id, nil)
	}
	return put(b, b.pools, id, &t)
}

// Wish notes which resource claims a pod names, whose value has been read, and that they are planned for. One that is done asks for nothing.
func (b *Book) Wish(pod *world.Pod, p *corev1.Pod) bool {
	pod.Claims = false
	wishes := wishesOf(p)
	if pod.Done {
		wishes.Claims = nil
	}
	return b.SetPod(pod.Key, &wishes)
}

// GivePod has a pod ask for what its claims do.
func (j Joined) GivePod(p *world.Pod) { p.Devices = j.Pods[p.Key] }

// GiveNode has a node have its devices.
func (j Joined) GiveNode(n *world.Node) {
	known := j.Nodes[n.Name]
	n.Devices, n.DevicesLost = known.Devices, known.Lost
}

// GivePool has a pool state its devices.
func (j Joined) GivePool(p *world.Pool) { p.Devices = j.Pools[p.ID] }

// Users are the pods that name a claim, in order.
func (b *Book) Users(claim world.Key) []world.Key {
	var out []world.Key
	for k, w := range b.pods {
		if k.Namespace == claim.Namespace && slices.ContainsFunc(w.Claims, func(x Wish) bool { return x.Claim == claim.Name }) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, world.Key.Compare)
	return out
}

// Join puts what the Book holds together. It reports whether that may be another answer than the last.
func (b *Book) Join() (j Joined, changed bool) {
	if !b.stale && b.joined.Pods != nil {
		return b.joined, false
	}
	w := b.work()
	j = Joined{Pods: map[world.Key][]world.DeviceClaim{}, Nodes: map[string]Node{}, Pools: map[world.PoolID][]world.DeviceTemplate{}}
	w.nodes(j.Nodes)
	for _, id := range slices.SortedFunc(maps.Keys(b.pools), world.ComparePool) {
		for _, t := range b.pools[id] {
			j.Pools[id] = append(j.Pools[id], world.DeviceTemplate{Requirements: t.requirements, Devices: w.devices("", t.devices)})
		}
	}
	for k, wishes := range b.pods {
		j.Pods[k] = w.claimsOf(k, wishes)
	}
	b.stale, b.joined, b.known, b.answers = false, j, w.selections, w.answers
	return j, true
}

// work is one putting together.
type work struct {
	*Book
	selections map[string]*selection
	order      []*selection // by their IDs
	compared   []string     // attributes that constraints compare, in order
	taken      map[id]bool  // devices that claims have
	answers    map[string]map[string]answer
}

// work finds the selections and constraints of all claims that pods name, and the devices that claims have.
func (b *Book) work() *work {
	w := &work{Book: b, selections: map[string]*selection{}, taken: map[id]bool{}, answers: map[string]map[string]answer{}}
	for _, c := range b.claims {
		for _, d := range c.has {
			w.taken[d] = true
		}
	}
	compared := map[string]bool{}
	for k, wishes := range b.pods {
		for _, x := range wishes.Claims {
			c, there := b.claims[world.Key{Namespace: k.Namespace, Name: x.Claim}]
			if !there {
				continue
			}
			for i := range c.requests {
				w.note(&c.requests[i])
			}
			for _, k := range c.constraints {
				if k.MatchAttribute != nil {
					compared[string(*k.MatchAttribute)] = true
				}
			}
		}
	}
	w.order = slices.SortedFunc(maps.Values(w.selections), func(a, b *selection) int { return cmp.Compare(a.id, b.id) })
	w.compared = slices.Sorted(maps.Keys(compared))
	return w
}

// note notes the selections of a request.
func (w *work) note(r *resourcev1.DeviceRequest) {
	for _, o := range optionsOf(r) {
		if c, there := w.classes[o.DeviceClassName]; there && unsupported(o) == "" {
			w.selection(o, c)
		}
	}
}

// selection is what of devices a request accepts, compiled.
func (w *work) selection(o *resourcev1.ExactDeviceRequest, c Class) *selection {
	selectors := append(slices.Clip(c.selectors), o.Selectors...)
	name := selectionID(o.DeviceClassName, selectors, o.Tolerations)
	if s := w.selections[name]; s != nil {
		return s
	}
	s := &selection{id: name, class: o.DeviceClassName, selectors: selectors, tolerations: o.Tolerations}
	if known := w.known[name]; known != nil {
		s.compiled, s.wrong = known.compiled, known.wrong
	} else if slices.ContainsFunc(selectors, func(x resourcev1.DeviceSelector) bool { return x.CEL == nil }) {
		s.wrong = "class " + o.DeviceClassName + " or the request has a selector that is not in CEL"
	} else {
		s.compile()
	}
	w.selections[name] = s
	return s
}

// ask is what a selection says of a kind of device, which is asked once.
func (w *work) ask(s *selection, k *kind) answer {
	if w.answers[s.id] == nil {
		w.answers[s.id] = map[string]answer{}
	}
	a, known := w.answers[s.id][k.key]
	if !known {
		if a, known = w.Book.answers[s.id][k.key]; !known {
			a = s.ask(k)
		}
		w.answers[s.id][k.key] = a
	}
	return a
}

// nodes puts together the devices of every node.
func (w *work) nodes(out map[string]Node) {
	pools := map[id][]Slice{}
	for _, name := range slices.Sorted(maps.Keys(w.slices)) {
		s := w.slices[name]
		k := id{driver: s.driver, pool: s.pool}
		switch was := pools[k]; {
		case len(was) == 0 || s.generation > was[0].generation:
			pools[k] = []Slice{s}
		case s.generation == was[0].generation:
			pools[k] = append(was, s)
		}
	}
	for _, k := range slices.SortedFunc(maps.Keys(pools), func(a, b id) int { return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.pool, b.pool)) }) {
		of := map[string][]Slice{}
		for _, s := range pools[k] {
			of[s.node] = append(of[s.node], s)
		}
		for _, s := range of[""] {
			w.elsewhere(s)
		}
		delete(of, "")
		for name, mine := range of {
			n := out[name]
			if lost := lostPool(k, mine, len(pools[k])); lost != nil {
				n.Lost = append(n.Lost, *lost)
			} else {
				for _, s := range mine {
					n.Devices = append(n.Devices, w.devices(s.pool, s.devices)...)
				}
			}
			out[name] = n
		}
	}
}

// lostPool says why no device of the pool can be had on a node that has some of its slices; nil if they can.
func lostPool(k id, mine []Slice, all int) *world.DevicePool {
	if n := int64(all); n != mine[0].count {
		return &world.DevicePool{Driver: k.driver, Name: k.pool, Code: reason.PoolIncomplete, Detail: slicesText(n, mine[0].count)}
	}
	seen := map[string]bool{}
	for _, s := range mine {
		for _, d := range s.devices {
			if seen[d.name] {
				return &world.DevicePool{Driver: k.driver, Name: k.pool, Code: reason.PoolInvalid, Detail: "device " + d.name + " is there twice"}
			}
			seen[d.name] = true
		}
	}
	return nil
}

// elsewhere notes which selections accept devices of a slice that is of no single node.
func (w *work) elsewhere(s Slice) {
	for _, x := range w.order {
		for _, d := range s.devices {
			x.elsewhere = x.elsewhere || x.wrong == "" && w.ask(x, d.kind).accepts
		}
	}
}

// devices are the devices as the engine sees them.
func (w *work) devices(pool string, in []device) []world.Device {
	out := make([]world.Device, 0, len(in))
	for _, d := range in {
		x := world.Device{Driver: d.kind.driver, Pool: pool, Name: d.name, Attributes: w.attributes(d.kind)}
		x.Taken = pool != "" && w.taken[id{x.Driver, pool, d.name}]
		for _, s := range w.order {
			if s.wrong != "" {
				continue
			}
			a := w.ask(s, d.kind)
			switch {
			case a.failed != "":
				s.fails(a.failed, x.Taken)
			case !a.accepts:
			case d.kind.odd || !s.tolerates(d.kind.taints):
				x.Withheld = append(x.Withheld, s.id)
			default:
				x.Meets = append(x.Meets, s.id)
			}
		}
		out = append(out, x)
	}
	return out
}
