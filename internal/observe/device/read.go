// Package device reads what resource claims ask for, and which devices there are, as values of the engine.
//
// A Book holds what the objects of dynamic resource allocation say, one at a time,
// and joins them: selectors, which are expressions in CEL, are evaluated here, once
// for each kind of device, by the library that kube-scheduler uses. What the Book
// gives depends on what it holds and not on the order in which that came.
package device

import (
	"encoding/json"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// Wish is a resource claim that a pod names.
type Wish struct {
	Name  string // in the pod
	Claim string // the ResourceClaim; none: it is not there yet
	Own   bool   // it is made for this pod alone
}

// Wishes are the resource claims that a pod names.
type Wishes struct {
	UID    string
	Bound  bool
	Claims []Wish
}

// wishesOf reads which resource claims a pod names. One that its template made nothing for is none.
func wishesOf(p *corev1.Pod) Wishes {
	out := Wishes{UID: string(p.UID), Bound: p.Spec.NodeName != ""}
	for _, c := range p.Spec.ResourceClaims {
		w := Wish{Name: c.Name, Own: c.ResourceClaimName == nil}
		if c.ResourceClaimName != nil {
			w.Claim = *c.ResourceClaimName
		} else if i := slices.IndexFunc(p.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == c.Name }); i >= 0 {
			made := p.Status.ResourceClaimStatuses[i].ResourceClaimName
			if made == nil {
				continue
			}
			w.Claim = *made
		}
		out.Claims = append(out.Claims, w)
	}
	return out
}

// Claim is what is read of a ResourceClaim.
type Claim struct {
	owner       string // the UID of the pod that it was made for
	going       bool
	reserved    int
	requests    []resourcev1.DeviceRequest
	constraints []resourcev1.DeviceConstraint
	allocated   bool
	node        string // whose devices it has; none: of no single node
	has         []id
}

// id names a device of the cluster.
type id struct{ driver, pool, name string }

// ReadClaim reads a ResourceClaim.
func ReadClaim(c *resourcev1.ResourceClaim) Claim {
	out := Claim{going: c.DeletionTimestamp != nil, reserved: len(c.Status.ReservedFor), requests: c.Spec.Devices.Requests, constraints: c.Spec.Devices.Constraints}
	if owner := metav1.GetControllerOf(c); owner != nil && owner.Kind == "Pod" {
		out.owner = string(owner.UID)
	}
	a := c.Status.Allocation
	if a == nil {
		return out
	}
	out.allocated, out.node = true, nodeOf(a.NodeSelector)
	for _, r := range a.Devices.Results {
		if r.AdminAccess == nil || !*r.AdminAccess {
			out.has = append(out.has, id{r.Driver, r.Pool, r.Device})
		}
	}
	return out
}

// nodeOf is the one node that the selector names; "" if it selects otherwise.
func nodeOf(s *corev1.NodeSelector) string {
	if s == nil || len(s.NodeSelectorTerms) != 1 {
		return ""
	}
	t := s.NodeSelectorTerms[0]
	if len(t.MatchExpressions) != 0 || len(t.MatchFields) != 1 {
		return ""
	}
	f := t.MatchFields[0]
	if f.Key != metav1.ObjectNameField || f.Operator != corev1.NodeSelectorOpIn || len(f.Values) != 1 {
		return ""
	}
	return f.Values[0]
}

// Class is what is read of a DeviceClass.
type Class struct{ selectors []resourcev1.DeviceSelector }

// ReadClass reads a DeviceClass.
func ReadClass(c *resourcev1.DeviceClass) Class { return Class{c.Spec.Selectors} }

// Slice is what is read of a ResourceSlice.
type Slice struct {
	driver, pool      string
	generation, count int64
	node              string // whose devices they are; none: not of one node
	devices           []device
}

// device is one device, and what of it selectors see.
type device struct {
	name string
	kind *kind
}

// kind is all that selectors see of devices, and what keeps them from being planned for. Devices that are alike share it.
type kind struct {
	key        string
	driver     string
	attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	capacity   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
	several    *bool
	taints     []resourcev1.DeviceTaint
	odd        bool // it depends on what is not planned for: counters, several allocations, conditions, or selectors of nodes
}

// ReadSlice reads a ResourceSlice.
func ReadSlice(s *resourcev1.ResourceSlice) Slice {
	out := Slice{driver: s.Spec.Driver, pool: s.Spec.Pool.Name, generation: s.Spec.Pool.Generation, count: s.Spec.Pool.ResourceSliceCount}
	if s.Spec.NodeName != nil {
		out.node = *s.Spec.NodeName
	}
	each := s.Spec.PerDeviceNodeSelection != nil && *s.Spec.PerDeviceNodeSelection
	for i := range s.Spec.Devices {
		d := &s.Spec.Devices[i]
		k := kindOf(s.Spec.Driver, d)
		k.odd = k.odd || each
		out.devices = append(out.devices, device{d.Name, k})
	}
	return out
}

func kindOf(driver string, d *resourcev1.Device) *kind {
	k := &kind{
		driver: driver, attributes: d.Attributes, capacity: d.Capacity, several: d.AllowMultipleAllocations, taints: d.Taints,
		odd: len(d.ConsumesCounters)+len(d.BindingConditions) > 0 || d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations,
	}
	text, err := json.Marshal(struct {
		Driver     string
		Attributes any
		Capacity   any
		Several    *bool
	}{driver, d.Attributes, d.Capacity, d.AllowMultipleAllocations})
	if err != nil { // a quantity that cannot be written is like no other
		text = []byte(driver + "/" + d.Name)
	}
	k.key = string(text)
	return k
}

// Template is devices that a pool states for its machines.
type Template struct {
	requirements label.Set
	devices      []device
}

// ReadTemplates reads the devices that a pool states.
func ReadTemplates(p *v1.NodePool) []Template {
	stated, _ := p.DeviceTemplates() // what is wrong is among the pool's problems
	var out []Template
	for _, t := range stated {
		var x Template
		for _, r := range t.Requirements {
			q, err := label.New(r.Key, label.Op(r.Operator), r.Values...)
			if err != nil {
				continue // the same
			}
			x.requirements = x.requirements.And(q)
		}
		for i := range t.Devices {
			x.devices = append(x.devices, device{t.Devices[i].Name, kindOf(t.Driver, &t.Devices[i])})
		}
		out = append(out, x)
	}
	return out
}

// Node is the devices of one node.
type Node struct {
	Devices []world.Device
	Lost    []world.DevicePool
}
