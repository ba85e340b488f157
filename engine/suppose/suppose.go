// Package suppose changes a World as a person supposes it to be: a node gone, a type sold out, more pods.
//
// The World that is changed stays as it is; the new one shares with it what
// is equal, so that a question costs what it changes.
package suppose

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
)

// Change makes another World of one.
type Change func(*world.World) (*world.World, error)

// Apply makes all changes, one after the other.
func Apply(w *world.World, changes ...Change) (*world.World, error) {
	for _, change := range changes {
		var err error
		if w, err = change(w); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Missing is the error that there is no node or claim of a name, with the one that was meant.
func Missing(w *world.World, name string) error {
	var names []string
	for _, p := range w.Places() {
		if p.Node != nil {
			names = append(names, p.Node.Name)
		}
		if p.Claim != nil {
			names = append(names, p.Claim.Name)
		}
	}
	return fmt.Errorf("there is no node or claim %q%s", name, orMeant(name, names))
}

// orMeant asks whether one of the names was meant; empty if none looks like it.
func orMeant(name string, names []string) string {
	if meant := label.Meant(name, names); meant != "" {
		return ": did you mean " + meant + "?"
	}
	return ""
}

// WithoutNode takes a node away, or a claim whose node has not joined. Its pods
// wait again, but for those that live and die with their node.
func WithoutNode(name string) Change {
	return func(w *world.World) (*world.World, error) {
		p := Find(w, name)
		if p == nil {
			return nil, Missing(w, name)
		}
		b := w.Edit()
		if err := remove(b, p); err != nil {
			return nil, err
		}
		return b.Snapshot(w.At()), nil
	}
}

// Find returns the machine whose node or claim has the name; nil if there is none.
func Find(w *world.World, name string) *world.Place {
	if p := w.Place(name); p != nil {
		return p
	}
	for _, p := range w.Places() {
		if p.Claim != nil && p.Claim.Name == name {
			return p
		}
	}
	return nil
}

func remove(b *world.Builder, p *world.Place) error {
	if p.Node != nil {
		b.DeleteNode(p.Node.Name)
	}
	if p.Claim != nil {
		b.DeleteClaim(p.Claim.Name)
	}
	for _, pod := range p.Pods {
		if leaves(pod) {
			b.DeletePod(pod.Key)
			continue
		}
		if err := b.SetPod(waiting(pod)); err != nil {
			return err
		}
	}
	return nil
}

// leaves reports whether a pod is not recreated when its node is lost.
func leaves(p *world.Pod) bool {
	return p.DaemonSet != "" || p.Static || p.Terminating && !p.StatefulOwner
}

// waiting is the pod that its owner makes in the place of one that is lost.
func waiting(p *world.Pod) world.Pod {
	v := *p
	v.Node, v.Nominated, v.Started, v.Ends = "", "", 0, 0
	v.Waiting, v.Terminating, v.ReadyToServe = true, false, false
	v.Devices = slices.Clone(p.Devices)
	for i := range v.Devices {
		if c := &v.Devices[i]; c.On(p.Node) {
			c.Allocated, c.Node = false, ""
		}
	}
	return v
}

// WithoutPool takes a pool away, and with it its machines.
func WithoutPool(id world.PoolID) Change {
	return func(w *world.World) (*world.World, error) {
		if w.Pool(id) == nil {
			return nil, fmt.Errorf("there is no %s %q", id.Kind, id.Name)
		}
		b := w.Edit()
		b.DeletePool(id)
		if err := removeAll(w, b, id); err != nil {
			return nil, err
		}
		return b.Snapshot(w.At()), nil
	}
}

// Anew takes the machines of every pool away, so that all their pods wait: what
// would be bought then is what the pods cost if nothing had been bought yet.
func Anew(w *world.World) (*world.World, error) {
	b := w.Edit()
	for _, p := range w.Pools() {
		if err := removeAll(w, b, p.ID); err != nil {
			return nil, err
		}
	}
	return b.Snapshot(w.At()), nil
}

// Alone is a World in which the pods of one machine wait and no machine is
// there: pools, DaemonSets and all that is sold stay.
func Alone(w *world.World, p *world.Place) (*world.World, error) {
	b := world.NewBuilder()
	for _, c := range w.Catalogs() {
		if err := b.SetCatalog(*c); err != nil {
			return nil, err
		}
	}
	for _, pool := range w.Pools() {
		if err := b.SetPool(*pool); err != nil {
			return nil, err
		}
	}
	for _, d := range w.DaemonSets() {
		if err := b.SetDaemonSet(*d); err != nil {
			return nil, err
		}
	}
	for _, n := range w.Namespaces() {
		if err := b.SetNamespace(*n); err != nil {
			return nil, err
		}
	}
	for _, pod := range p.Pods {
		if leaves(pod) {
			continue
		}
		if err := b.SetPod(waiting(pod)); err != nil {
			return nil, err
		}
	}
	return b.Snapshot(w.At()), nil
}

func removeAll(w *world.World, b *world.Builder, pool world.PoolID) error {
	for _, p := range w.Places() {
		if p.Pool() != pool {
			continue
		}
		if err := remove(b, p); err != nil {
			return err
		}
	}
	return nil
}

// Offers picks offers of all catalogues; what is empty picks all. Names may hold asterisks.
type Offers struct{ Shape, Zone, CapacityType string }

func (o Offers) picks(shape string, offer world.Offer) bool {
	return like(o.Shape, shape) && like(o.Zone, offer.Zone) && like(o.CapacityType, offer.CapacityType)
}

func like(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return pattern == "" || ok && err == nil
}

// SoldOut makes offers unavailable.
func SoldOut(o Offers) Change {
	return eachOffer(o, func(offer *world.Offer) { offer.Gone = true })
}

// Price sets what offers cost, in millionths of the currency an hour.
func Price(o Offers, price money.Micro) Change {
	return eachOffer(o, func(offer *world.Offer) { offer.Price, offer.Synthetic, offer.Overlaid = price, false, false })
}

func eachOffer(o Offers, do func(*world.Offer)) Change {
	return func(w *world.World) (*world.World, error) {
		b, found := w.Edit(), false
		for _, c := range w.Catalogs() {
			next := *c
			next.Shapes = slices.Clone(c.Shapes)
			for i := range next.Shapes {
				s := &next.Shapes[i]
				s.Offers = slices.Clone(s.Offers)
				for j := range s.Offers {
					if o.picks(s.Name, s.Offers[j]) {
						do(&s.Offers[j])
						found = true
					}
				}
			}
			if err := b.SetCatalog(next); err != nil {
				return nil, err
			}
		}
		if !found {
			var sold []string
			for _, c := range w.Catalogs() {
				for i := range c.Shapes {
					sold = append(sold, c.Shapes[i].Name)
				}
			}
			slices.Sort(sold)
			sold = slices.Compact(sold)
			if slices.ContainsFunc(sold, func(name string) bool { ok, _ := path.Match(o.Shape, name); return ok }) {
				return nil, fmt.Errorf("no catalogue sells %s, but %s elsewhere or of another capacity type", o, o.Shape)
			}
			return nil, fmt.Errorf("no catalogue sells %s%s", o, orMeant(o.Shape, sold))
		}
		return b.Snapshot(w.At()), nil
	}
}

// String writes what is picked as a user does.
func (o Offers) String() string {
	s := o.Shape
	if o.Zone != "" || o.CapacityType != "" {
		s += "," + o.Zone
	}
	if o.CapacityType != "" {
		s += "," + o.CapacityType
	}
	return s
}

// Workload names what makes pods.
type Workload struct{ Kind, Namespace, Name string }

// hash is the label by which a Deployment distinguishes the pods of its ReplicaSets.
const hash = "pod-template-hash"

// owns reports whether a pod is the workload's, by the names that Kubernetes
// gives to pods: what a World knows of an owner.
func (l Workload) owns(p *world.Pod) bool {
	if p.Namespace != l.Namespace || p.Done || p.DaemonSet != "" || p.Static {
		return false
	}
	rest, named := strings.CutPrefix(p.Name, l.Name+"-")
	if of := p.Labels[hash]; l.Kind == "deployment" && of != "" {
		rest, named = strings.CutPrefix(rest, of+"-")
		return named && !strings.Contains(rest, "-")
	}
	_, err := strconv.Atoi(rest)
	switch {
	case !named:
		return false
	case l.Kind == "replicaset" && !p.StatefulOwner:
		return !strings.Contains(rest, "-")
	}
	return err == nil // a stateful set's, or one that stands for a replica of a file's
}

// Scale gives a workload n pods: more like its last one, or fewer, those that
// wait first and then the youngest.
func Scale(l Workload, n int) Change {
	return func(w *world.World) (*world.World, error) {
		var pods []*world.Pod
		for _, p := range w.Pods() {
			if l.owns(p) {
				pods = append(pods, p)
			}
		}
		if len(pods) == 0 {
			return nil, fmt.Errorf("there is no pod of %s %s/%s to make more of%s", l.Kind, l.Namespace, l.Name, l.orMeant(w))
		}
		b := w.Edit()
		slices.SortStableFunc(pods, firstToStay)
		for _, p := range pods[min(n, len(pods)):] {
			b.DeletePod(p.Key)
		}
		for i := len(pods); i < n; i++ {
			p := waiting(pods[0])
			p.UID = fmt.Sprintf("supposed-%d", i)
			p.Name, p.Created = fmt.Sprintf("%s-supposed-%d", l.Name, i), w.At()
			if err := b.SetPod(p); err != nil {
				return nil, err
			}
		}
		return b.Snapshot(w.At()), nil
	}
}

// orMeant asks whether a workload of the kind was meant that has pods: one of
// that name elsewhere, or of a similar one.
func (l Workload) orMeant(w *world.World) string {
	there := map[string]bool{}
	for _, p := range w.Pods() {
		cut := strings.LastIndexByte(p.Name, '-')
		if cut < 0 {
			continue
		}
		of := Workload{l.Kind, p.Namespace, p.Name[:cut]}
		if l.Kind == "deployment" {
			of.Name = strings.TrimSuffix(of.Name, "-"+p.Labels[hash])
		}
		if of.owns(p) {
			there[of.Namespace+"/"+of.Name] = true
		}
	}
	names := slices.Sorted(maps.Keys(there))
	for _, name := range names {
		if strings.HasSuffix(name, "/"+l.Name) {
			return fmt.Sprintf(": did you mean %s/%s?", l.Kind, name)
		}
	}
	if meant := label.Meant(l.Namespace+"/"+l.Name, names); meant != "" {
		return fmt.Sprintf(": did you mean %s/%s?", l.Kind, meant)
	}
	return ": add it with its replicas as a file"
}

// firstToStay orders pods of a controller by which of them stay longest when it is scaled down.
func firstToStay(a, b *world.Pod) int {
	rank := func(p *world.Pod) int64 {
		if p.Node == "" {
			return 1<<32 - int64(p.Disruption.DeletionCost)
		}
		return -int64(p.Disruption.DeletionCost)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Created, b.Created))
}
