// Package scrub gives Worlds in which what may not be read has other names.
//
// What is renamed is renamed alike everywhere, so that the same pods still fit
// the same places, spread with the same others and are kept apart from the
// same: the engine decides of the new World as of the old one, but for ties
// that it breaks by name.
package scrub

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// nameLabel is the label that every namespace has, with its own name.
const nameLabel = "kubernetes.io/metadata.name"

// leftOut stands for a text that may name anything.
const leftOut = "left out"

// Names are the names that things have instead of their own. The zero value renames what is in any namespace.
type Names struct {
	// Shown says in which namespaces things keep their names; nil: in none.
	Shown func(namespace string) bool
	// Machines renames nodes and claims as well. Names of pools and classes, and labels and taints of nodes stay in any case.
	Machines bool

	known map[string]bool   // label keys and values that every user who may read something knows anyway
	given map[string]string // by kind and name
	count map[string]int    // by kind

	claims map[string]bool // of the World that is renamed
}

func (n *Names) shown(namespace string) bool {
	return namespace == "" || n.Shown != nil && n.Shown(namespace)
}

// of is the other name of something.
func (n *Names) of(kind, name string) string {
	if name == "" {
		return ""
	}
	key := kind + "/" + name
	if got, ok := n.given[key]; ok {
		return got
	}
	if n.given == nil {
		n.given, n.count = map[string]string{}, map[string]int{}
	}
	for {
		n.count[kind]++
		got := fmt.Sprintf("%s_%d", kind, n.count[kind]) // no object can have such a name, but a label can
		if !n.known[got] {
			n.given[key] = got
			return got
		}
	}
}

// namespace is how a namespace is called.
func (n *Names) namespace(name string) string {
	if n.shown(name) {
		return name
	}
	return n.of("hidden", name)
}

// key is how something in a namespace is called.
func (n *Names) key(kind string, k world.Key) world.Key {
	if n.shown(k.Namespace) {
		return k
	}
	name, number, virtual := strings.Cut(k.Name, "#")
	out := world.Key{Namespace: n.namespace(k.Namespace), Name: n.of(kind, k.Namespace+"/"+name)}
	if virtual { // as world.VirtualKey has it: the engine takes it apart
		out.Name += "#" + number
	}
	return out
}

func (n *Names) keys(in []world.Key) []world.Key {
	out := slices.Clone(in)
	for i, k := range out {
		out[i] = n.key("pod", k)
	}
	return out
}

// World returns the World with other names for what is in namespaces that are not shown: the namespaces, their pods,
// DaemonSets, budgets, buffers and volumes, their labels, and the selectors that pick them. What those pods ask for,
// and of which nodes, stays, and so do nodes, claims, pools and what is sold.
func (n *Names) World(w *world.World) (*world.World, error) {
	n.know(w)
	n.claims = map[string]bool{}
	for _, p := range w.Places() {
		if p.Claim != nil {
			n.claims[p.Claim.Name] = true
		}
	}
	b := w.Edit()
	var err error
	keep := func(e error) {
		if err == nil {
			err = e
		}
	}
	n.pods(w, b, keep)
	n.namespaces(w, b, keep)
	n.places(w, b, keep)
	if err != nil {
		return nil, fmt.Errorf("rename what may not be read: %w", err)
	}
	return b.Snapshot(w.At()), nil
}

// pods renames pods, and the DaemonSets, budgets and back-offs that are about pods.
func (n *Names) pods(w *world.World, b *world.Builder, keep func(error)) {
	for _, p := range w.Pods() {
		switch {
		case !n.shown(p.Namespace):
			b.DeletePod(p.Key)
			keep(b.SetPod(n.placed(n.pod(*p))))
		case len(p.PodTerms) > 0 || n.Machines: // they may name other namespaces
			own := *p
			own.PodTerms = n.terms(p.PodTerms)
			keep(b.SetPod(n.placed(own)))
		}
	}
	for _, d := range w.DaemonSets() {
		if !n.shown(d.Namespace) {
			b.DeleteDaemonSet(d.Key)
			key := n.key("daemonset", d.Key)
			pod := n.placed(n.pod(d.Pod))
			pod.Key = key
			keep(b.SetDaemonSet(world.DaemonSet{Key: key, Pod: pod}))
		}
	}
	for _, g := range w.Guards() {
		if !n.shown(g.Namespace) {
			b.DeleteGuard(g.Key)
			own := *g
			own.Key, own.Selector = n.key("budget", g.Key), n.selector(g.Selector)
			keep(b.SetGuard(own))
		}
	}
	for _, x := range w.Backoffs() {
		if x.Pod != (world.Key{}) && !n.shown(x.Pod.Namespace) {
			b.DeleteBackoff(x.BackoffID)
			own := *x
			own.Pod, own.Why = n.key("pod", x.Pod), leftOut
			keep(b.SetBackoff(own))
		}
	}
}

func (n *Names) namespaces(w *world.World, b *world.Builder, keep func(error)) {
	for _, s := range w.Namespaces() {
		if !n.shown(s.Name) {
			b.DeleteNamespace(s.Name)
			keep(b.SetNamespace(world.Namespace{Name: n.namespace(s.Name), Going: s.Going, Labels: n.labels(s.Labels)}))
		}
	}
}

// places renames the pods that nodes and claims speak of, and nodes and claims themselves where that is wanted.
func (n *Names) places(w *world.World, b *world.Builder, keep func(error)) {
	for _, p := range w.Places() {
		if p.Node != nil && (n.Machines || len(p.Node.Moves) > 0) {
			own := n.node(*p.Node)
			if own.Name != p.Node.Name {
				b.DeleteNode(p.Node.Name)
			}
			keep(b.SetNode(own))
		}
		if p.Claim != nil && (n.Machines || len(p.Claim.Pods) > 0) {
			own := n.claim(*p.Claim)
			if own.Name != p.Claim.Name {
				b.DeleteClaim(p.Claim.Name)
			}
			keep(b.SetClaim(own))
		}
	}
}

// machine is how a node or a claim is called.
func (n *Names) machine(kind, name string) string {
	if !n.Machines {
		return name
	}
	return n.of(kind, name)
}

// Place is how a node, or a claim without one, of the World that was renamed last is called.
func (n *Names) Place(name string) string {
	if n.claims[name] {
		return n.machine("claim", name)
	}
	return n.machine("node", name)
}

func (n *Names) node(o world.Node) world.Node {
	o.Name, o.Claim, o.ProviderID = n.machine("node", o.Name), n.machine("claim", o.Claim), n.machine("machine", o.ProviderID)
	o.Labels = n.hostname(o.Labels)
	if n.Machines { // pools of devices are called like their nodes
		o.Devices, o.DevicesLost = slices.Clone(o.Devices), slices.Clone(o.DevicesLost)
		for i := range o.Devices {
			o.Devices[i].Pool = n.machine("devices", o.Devices[i].Pool)
		}
		for i := range o.DevicesLost {
			o.DevicesLost[i].Name = n.machine("devices", o.DevicesLost[i].Name)
		}
	}
	o.Moves = slices.Clone(o.Moves)
	for i, m := range o.Moves {
		o.Moves[i] = world.Move{To: n.machine("node", m.To), Pods: n.keys(m.Pods)}
	}
	return o
}

func (n *Names) claim(o world.Claim) world.Claim {
	o.Name, o.UID, o.Node, o.ProviderID = n.machine("claim", o.Name), n.machine("uid", o.UID), n.machine("node", o.Node), n.machine("machine", o.ProviderID)
	o.Labels = n.hostname(o.Labels)
	o.Pods = n.keys(o.Pods)
	o.Replaces = slices.Clone(o.Replaces)
	for i, r := range o.Replaces {
		o.Replaces[i] = n.machine("claim", r)
	}
	if n.Machines && o.Change != "" {
		o.Change = leftOut
	}
	return o
}

// hostname renames the label of a node that has its name.
func (n *Names) hostname(labels map[string]string) map[string]string {
	if name, ok := labels[label.Hostname]; ok && n.Machines {
		labels = maps.Clone(labels)
		labels[label.Hostname] = n.machine("node", name)
	}
	return labels
}

// placed renames the nodes and claims that a pod speaks of.
func (n *Names) placed(p world.Pod) world.Pod {
	if !n.Machines {
		return p
	}
	p.Node = n.machine("node", p.Node)
	p.Nominated, p.Planned = n.Place(p.Nominated), n.Place(p.Planned)
	p.NodeSelector = n.pinned(p.NodeSelector)
	p.NodeTerms = slices.Clone(p.NodeTerms)
	for i, t := range p.NodeTerms {
		p.NodeTerms[i] = n.term(t)
	}
	p.NodeWishes = slices.Clone(p.NodeWishes)
	for i, x := range p.NodeWishes {
		p.NodeWishes[i].Term = n.term(x.Term)
	}
	p.Devices = slices.Clone(p.Devices)
	for i := range p.Devices {
		p.Devices[i].Node = n.machine("node", p.Devices[i].Node)
	}
	p.Volumes = slices.Clone(p.Volumes)
	for i, v := range p.Volumes {
		p.Volumes[i].Places = slices.Clone(v.Places)
		for j, set := range v.Places {
			p.Volumes[i].Places[j] = n.pinned(set)
		}
	}
	return p
}

func (n *Names) term(t world.NodeTerm) world.NodeTerm {
	t.Labels = n.pinned(t.Labels)
	if t.Name != nil {
		own := n.nodesOf(*t.Name)
		t.Name = &own
	}
	return t
}

// pinned renames the nodes that requirements name.
func (n *Names) pinned(s label.Set) label.Set {
	out := slices.Clone(s)
	for i, r := range out {
		if r.Key == label.Hostname {
			out[i] = n.nodesOf(r)
		}
	}
	return out
}

func (n *Names) nodesOf(r label.Requirement) label.Requirement {
	r.Values = slices.Clone(r.Values)
	for i, v := range r.Values {
		r.Values[i] = n.machine("node", v)
	}
	slices.Sort(r.Values)
	return r
}

// know collects the labels that pods and namespaces which are shown have or select by. Those are no secret, and others
// keep them: else a term would no longer pick the pods that it is about.
func (n *Names) know(w *world.World) {
	n.known = map[string]bool{nameLabel: true}
	have := func(labels map[string]string) {
		for k, v := range labels {
			n.known[k], n.known[v] = true, true
		}
	}
	pick := func(s world.Selector) {
		for _, r := range s.Set {
			n.known[r.Key] = true
			for _, v := range r.Values {
				n.known[v] = true
			}
		}
	}
	for _, p := range w.Pods() {
		if !n.shown(p.Namespace) {
			continue
		}
		have(p.Labels)
		for _, t := range p.PodTerms {
			pick(t.Selector)
			pick(t.Within)
		}
	}
	for _, s := range w.Namespaces() {
		if n.shown(s.Name) {
			have(s.Labels)
		}
	}
}

func (n *Names) labelKey(key string) string {
	if n.known[key] {
		return key
	}
	return n.of("label", key)
}

func (n *Names) labelValue(key, value string) string {
	switch {
	case key == nameLabel:
		return n.namespace(value)
	case n.known[value]:
		return value
	}
	return n.of("value", value)
}

func (n *Names) labels(in map[string]string) map[string]string {
	if in == nil {
		return nil
	}
	out := make(map[string]string, len(in))
	for _, k := range slices.Sorted(maps.Keys(in)) {
		out[n.labelKey(k)] = n.labelValue(k, in[k])
	}
	return out
}

func (n *Names) selector(s world.Selector) world.Selector {
	out := make([]label.Requirement, 0, len(s.Set))
	for _, r := range s.Set {
		values := make([]string, 0, len(r.Values))
		for _, v := range r.Values {
			values = append(values, n.labelValue(r.Key, v))
		}
		slices.Sort(values)
		r.Key, r.Values = n.labelKey(r.Key), slices.Compact(values)
		out = append(out, r)
	}
	return world.Selector{Some: s.Some, Set: label.SetOf(out...)}
}

// pod renames a pod that is not shown.
func (n *Names) pod(p world.Pod) world.Pod {
	namespace := p.Namespace
	p.Key = n.key("pod", p.Key)
	p.UID = n.of("uid", p.UID)
	p.Labels = n.labels(p.Labels)
	if p.DaemonSet != "" {
		p.DaemonSet = n.key("daemonset", world.Key{Namespace: namespace, Name: p.DaemonSet}).Name
	}
	p.Spread = slices.Clone(p.Spread)
	for i := range p.Spread {
		p.Spread[i].Selector, p.Spread[i].Source = n.selector(p.Spread[i].Selector), ""
	}
	p.PodTerms = n.terms(p.PodTerms)
	p.Volumes = slices.Clone(p.Volumes)
	for i := range p.Volumes {
		p.Volumes[i].ID = n.of("volume", p.Volumes[i].ID)
	}
	p.Devices = n.deviceClaims(p.Devices)
	p.Gates = slices.Clone(p.Gates)
	for i, g := range p.Gates {
		p.Gates[i] = n.of("gate", g)
	}
	p.Problems = slices.Clone(p.Problems)
	for i := range p.Problems {
		p.Problems[i] = leftOut
	}
	return p
}

// deviceClaims renames resource claims and their requests. What these ask for stays.
func (n *Names) deviceClaims(in []world.DeviceClaim) []world.DeviceClaim {
	out := slices.Clone(in)
	for i := range out {
		c := &out[i]
		c.Key = n.key("resourceclaim", c.Key)
		if c.Problem.Code != "" {
			c.Problem.Detail, c.Problem.Hint = leftOut, ""
		}
		c.Requests = slices.Clone(c.Requests)
		for j := range c.Requests {
			r := &c.Requests[j]
			r.Name, r.Options = n.of("request", r.Name), slices.Clone(r.Options)
			for k := range r.Options {
				r.Options[k].Name = n.of("request", r.Options[k].Name)
			}
		}
		c.Alike = slices.Clone(c.Alike)
		for j := range c.Alike {
			c.Alike[j].Requests = slices.Clone(c.Alike[j].Requests)
			for k, name := range c.Alike[j].Requests {
				request, option, several := strings.Cut(name, "/")
				if request = n.of("request", request); several {
					request += "/" + n.of("request", option)
				}
				c.Alike[j].Requests[k] = request
			}
		}
	}
	return out
}

func (n *Names) terms(in []world.PodTerm) []world.PodTerm {
	out := slices.Clone(in)
	for i, t := range out {
		t.Selector, t.Within, t.Namespaces = n.selector(t.Selector), n.selector(t.Within), slices.Clone(t.Namespaces)
		for j, s := range t.Namespaces {
			t.Namespaces[j] = n.namespace(s)
		}
		slices.Sort(t.Namespaces)
		out[i] = t
	}
	return out
}
