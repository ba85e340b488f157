package cluster

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe/device"
)

// allocating are the kinds by which pods ask for devices; watched where these are planned for.
var allocating = []string{"resourceclaims", "deviceclasses", "resourceslices"}

// devices are what objects say of devices, and what of it pods, nodes and pools were given last.
type devices struct {
	book   *device.Book // nil: devices are not planned for
	joined device.Joined
}

// FollowDevices has devices be planned for; then the cluster state also waits for what says which there are. It is
// called before the first source starts, if at all.
func (c *Cluster) FollowDevices() {
	c.devices.book = device.NewBook()
	c.sources = append(slices.Clone(c.sources), allocating...)
	for _, s := range allocating {
		c.waits[s] = true
	}
}

// SetResourceClaim puts a ResourceClaim into the cluster state.
func (c *Cluster) SetResourceClaim(r *resourcev1.ResourceClaim) {
	k, claim := world.Key{Namespace: r.Namespace, Name: r.Name}, device.ReadClaim(r)
	c.allot(k.String(), func(b *device.Book) bool { return b.SetClaim(k, &claim) })
}

// DeleteResourceClaim takes a ResourceClaim out of the cluster state.
func (c *Cluster) DeleteResourceClaim(k world.Key) {
	c.allot(k.String(), func(b *device.Book) bool { return b.SetClaim(k, nil) })
}

// SetDeviceClass puts a DeviceClass into the cluster state.
func (c *Cluster) SetDeviceClass(d *resourcev1.DeviceClass) {
	class := device.ReadClass(d)
	c.allot(d.Name, func(b *device.Book) bool { return b.SetClass(d.Name, &class) })
}

// DeleteDeviceClass takes a DeviceClass out of the cluster state.
func (c *Cluster) DeleteDeviceClass(name string) {
	c.allot(name, func(b *device.Book) bool { return b.SetClass(name, nil) })
}

// SetResourceSlice puts a ResourceSlice into the cluster state.
func (c *Cluster) SetResourceSlice(s *resourcev1.ResourceSlice) {
	slice := device.ReadSlice(s)
	c.allot(s.Name, func(b *device.Book) bool { return b.SetSlice(s.Name, &slice) })
}

// DeleteResourceSlice takes a ResourceSlice out of the cluster state.
func (c *Cluster) DeleteResourceSlice(name string) {
	c.allot(name, func(b *device.Book) bool { return b.SetSlice(name, nil) })
}

// allot changes what is known of devices. What follows from it is found out when a World is asked for.
func (c *Cluster) allot(object string, do func(*device.Book) bool) {
	c.update(func() []Change {
		if c.devices.book == nil || !do(c.devices.book) {
			return nil
		}
		c.dirty = true
		return []Change{{Kind: Other, Name: object}}
	})
}

// wish notes which resource claims a pod names. The lock is held.
func (c *Cluster) wish(pod *world.Pod, p *corev1.Pod) {
	if c.devices.book != nil {
		c.dirty = c.devices.book.Wish(pod, p) || c.dirty
	}
}

// unwish forgets the pod. The lock is held.
func (c *Cluster) unwish(k world.Key) {
	if c.devices.book != nil {
		c.dirty = c.devices.book.SetPod(k, nil) || c.dirty
	}
}

// settleDevices gives pods, nodes and pools what has changed for them. The lock is held.
func (c *Cluster) settleDevices() {
	if c.devices.book == nil {
		return
	}
	now, changed := c.devices.book.Join()
	if !changed {
		return
	}
	was := c.devices.joined
	c.devices.joined = now
	for _, k := range differing(was.Pods, now.Pods, world.Key.Compare) {
		if p := c.pod(k); p != nil {
			c.putPod(*p)
		}
	}
	for _, name := range differing(was.Nodes, now.Nodes, strings.Compare) {
		if n, there := c.nodes[name]; there {
			c.putNode(n)
		}
	}
	for _, id := range differing(was.Pools, now.Pools, world.ComparePool) {
		if p, there := c.pools[id]; there {
			c.putPool(p)
		}
	}
}

// differing are the keys under which two maps have different values, in order.
func differing[K comparable, V any](a, b map[K]V, compare func(a, b K) int) []K {
	out := map[K]bool{}
	for k, v := range a {
		if w, there := b[k]; !there || !reflect.DeepEqual(v, w) {
			out[k] = true
		}
	}
	for k := range b {
		if _, there := a[k]; !there {
			out[k] = true
		}
	}
	return slices.SortedFunc(maps.Keys(out), compare)
}
