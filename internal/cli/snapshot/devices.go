package snapshot

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe/device"
)

// devices are what objects say of devices and of resource claims.
type devices struct {
	book      *device.Book
	claims    map[world.Key]bool
	templates map[world.Key]resourcev1.ResourceClaimSpec
	nodes     []world.Node
}

func newDevices() *devices {
	return &devices{book: device.NewBook(), claims: map[world.Key]bool{}, templates: map[world.Key]resourcev1.ResourceClaimSpec{}}
}

// allocating reports whether objects of a kind say something of devices or of resource claims alone.
func allocating(kind string) bool {
	return slices.Contains([]string{"ResourceClaim", "ResourceClaimTemplate", "DeviceClass", "ResourceSlice"}, kind)
}

// allocates is the same of an object.
func allocates(v any) bool {
	switch v.(type) {
	case *resourcev1.ResourceClaim, *resourcev1.ResourceClaimTemplate, *resourcev1.DeviceClass, *resourcev1.ResourceSlice:
		return true
	}
	return false
}

// set takes in what an object says.
func (d *devices) set(o any) error {
	if d == nil {
		return nil
	}
	switch v := o.(type) {
	case *resourcev1.ResourceClaim:
		k := world.Key{Namespace: v.Namespace, Name: v.Name}
		claim := device.ReadClaim(v)
		d.claims[k] = true
		d.book.SetClaim(k, &claim)
	case *resourcev1.ResourceClaimTemplate:
		d.templates[world.Key{Namespace: v.Namespace, Name: v.Name}] = v.Spec.Spec
	case *resourcev1.DeviceClass:
		class := device.ReadClass(v)
		d.book.SetClass(v.Name, &class)
	case *resourcev1.ResourceSlice:
		if err := named(v); err != nil {
			return err
		}
		slice := device.ReadSlice(v)
		d.book.SetSlice(v.Name, &slice)
	case *karpv1.NodePool:
		d.book.SetPool(world.PoolID{Kind: world.NodePool, Name: v.Name}, device.ReadTemplates(v))
	}
	return nil
}

// named refuses a ResourceSlice whose devices cannot be told apart, which no API server takes.
func named(s *resourcev1.ResourceSlice) error {
	if s.Spec.Driver == "" {
		return fmt.Errorf("ResourceSlice %q: spec.driver is missing", s.Name)
	}
	for i := range s.Spec.Devices {
		if s.Spec.Devices[i].Name == "" {
			return fmt.Errorf("ResourceSlice %q: spec.devices[%d].name is missing", s.Name, i)
		}
	}
	return nil
}

// node keeps a node until it is known which devices it has.
func (d *devices) node(n world.Node) {
	if d != nil {
		d.nodes = append(d.nodes, n)
	}
}

// wish notes which claims a pod names. Those that will be made for it are there.
func (d *devices) wish(pod *world.Pod, p *corev1.Pod) error {
	if d == nil || len(p.Spec.ResourceClaims) == 0 {
		return nil
	}
	for i := range p.Spec.ResourceClaims {
		if p.Spec.ResourceClaims[i].Name == "" {
			return fmt.Errorf("pod %s: spec.resourceClaims[%d].name is missing", pod.Key, i)
		}
	}
	d.book.Wish(pod, d.made(pod.Key, p))
	return nil
}

// made is a pod whose claims are made, as the controller of claims makes them: each after its template, if the input has that.
func (d *devices) made(k world.Key, p *corev1.Pod) *corev1.Pod {
	out := *p
	out.Status.ResourceClaimStatuses = slices.Clone(p.Status.ResourceClaimStatuses)
	for _, c := range p.Spec.ResourceClaims {
		known := slices.ContainsFunc(out.Status.ResourceClaimStatuses, func(s corev1.PodResourceClaimStatus) bool { return s.Name == c.Name })
		if c.ResourceClaimTemplateName == nil || known {
			continue
		}
		spec, there := d.templates[world.Key{Namespace: k.Namespace, Name: *c.ResourceClaimTemplateName}]
		if !there {
			continue
		}
		own := world.Key{Namespace: k.Namespace, Name: k.Name + "-" + c.Name}
		for d.claims[own] {
			own.Name += "-"
		}
		controls := true
		claim := device.ReadClaim(&resourcev1.ResourceClaim{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{Kind: "Pod", Name: k.Name, UID: p.UID, Controller: &controls}}}, Spec: spec,
		})
		d.claims[own] = true
		d.book.SetClaim(own, &claim)
		out.Status.ResourceClaimStatuses = append(out.Status.ResourceClaimStatuses, corev1.PodResourceClaimStatus{Name: c.Name, ResourceClaimName: &own.Name})
	}
	return &out
}

// giveDevices tells pods, nodes and pools what the input says of devices.
func (in *input) giveDevices() error {
	d := in.devices
	if d == nil {
		return nil
	}
	all, _ := d.book.Join()
	for _, k := range slices.SortedFunc(maps.Keys(all.Pods), world.Key.Compare) {
		p := *in.builder.Pod(k)
		all.GivePod(&p)
		if err := in.builder.SetPod(p); err != nil {
			return err
		}
	}
	for _, n := range d.nodes {
		all.GiveNode(&n)
		if err := in.builder.SetNode(n); err != nil {
			return err
		}
	}
	for i := range in.pools {
		all.GivePool(&in.pools[i])
	}
	return nil
}
