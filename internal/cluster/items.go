package cluster

import (
	"cmp"
	"errors"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/observe/device"
	"github.com/tenon-sh/tenon/internal/panics"
)

// podSeen is all that is read of a pod.
type podSeen struct {
	pod     world.Pod
	mounts  []observe.Mount
	misread error // what it says about being moved
	limits  amount.List
}

func readPod(p *corev1.Pod) podSeen {
	_, _, misread := observe.DoNotDisrupt(p.Annotations)
	var limits amount.List
	if p.Spec.NodeName != "" {
		limits = observe.Limits(p)
	}
	return podSeen{observe.Pod(p), observe.Mounts(p), misread, limits}
}

// SetPod puts a pod into the cluster state. One that breaks our code is
// there as one that must stay where it is and cannot be placed:
// if it were left out, its node would look empty and be ended under it, and if it
// stood as it was before, it might not be where it is now.
func (c *Cluster) SetPod(p *corev1.Pod) {
	broke := panics.Caught(func() { c.setPod(p, c.readPod(p)) })
	if broke == nil {
		return
	}
	c.Panics.Tell("pod", broke, "object", p.Namespace+"/"+p.Name)
	c.setPod(p, podSeen{pod: observe.Unread(p, "it meets a bug in Tenon, which is in the controller's log: please report it")})
}

func (c *Cluster) setPod(p *corev1.Pod, seen podSeen) {
	pod, mounts := seen.pod, seen.mounts
	c.update(func() []Change {
		was := c.pod(pod.Key)
		c.unmount(pod.Key)
		c.jobs.set(p)
		c.wish(&pod, p)
		c.spreads.set(&pod, len(p.Spec.TopologySpreadConstraints) > 0, observe.OwnerOf(p))
		if len(mounts) > 0 {
			c.mount(podState{pod, mounts})
			pod = c.volumes().Bind(pod, mounts)
		}
		c.putPod(pod)
		if c.daemons.SetPod(&pod) {
			c.size(world.Key{Namespace: pod.Namespace, Name: pod.DaemonSet})
		}
		return []Change{{Kind: Pod, Name: pod.String(), Was: was, Is: c.pod(pod.Key), Misread: seen.misread, Limits: seen.limits}}
	})
}

// putPod puts a pod into the cluster state together with where the last plan has it, whether its Job ends, and the
// default constraints if it states none. Of one that the Builder refuses, what it needs to be held where it is.
func (c *Cluster) putPod(p world.Pod) {
	p.Planned, p.Ending = "", c.jobs.ends(p.Key)
	c.devices.joined.GivePod(&p)
	c.spreads.give(&p)
	if p.Node == "" && !p.Done {
		p.Planned = c.planned[p.Key]
	}
	err := c.builder.SetPod(p)
	if err != nil {
		err = errors.Join(err, c.builder.SetPod(world.Pod{
			Key: p.Key, UID: p.UID, Created: p.Created, Requests: amount.List{}.With(amount.Pods, amount.Unit), Node: p.Node, Waiting: p.Waiting, Done: p.Done,
			Terminating: p.Terminating, Ends: p.Ends, Ending: p.Ending, DaemonSet: p.DaemonSet, Static: p.Static, StatefulOwner: p.StatefulOwner, Tolerations: p.Tolerations,
			Disruption: world.PodDisruption{Forbidden: true}, Problems: []string{err.Error()},
		}))
	}
	c.put("pod "+p.String(), err)
}

// Plan says to which node or claim a plan sends each pod that waits, so that
// the next plan leaves it there. Pods that it does not name have no place.
func (c *Cluster) Plan(at map[world.Key]string) {
	c.update(func() []Change {
		was := c.planned
		c.planned = at
		for _, pods := range []map[world.Key]string{was, at} {
			for k := range pods {
				if p := c.pod(k); p != nil && p.Node == "" && p.Planned != at[k] {
					c.putPod(*p)
				}
			}
		}
		return nil
	})
}

// DeletePod takes a pod out of the cluster state.
func (c *Cluster) DeletePod(k world.Key) {
	c.update(func() []Change {
		was := c.pod(k)
		c.unmount(k)
		c.jobs.delete(k)
		c.unwish(k)
		c.spreads.delete(k)
		c.builder.DeletePod(k)
		c.put("pod "+k.String(), nil)
		if was != nil && was.DaemonSet != "" && c.daemons.DeletePod(was) {
			c.size(world.Key{Namespace: was.Namespace, Name: was.DaemonSet})
		}
		return []Change{{Kind: Pod, Name: k.String(), Was: was}}
	})
}

// pod is the pod as the Builder has it now.
func (c *Cluster) pod(k world.Key) *world.Pod { return c.builder.Pod(k) }

// mount remembers a pod for when its volumes change.
func (c *Cluster) mount(s podState) {
	c.pods[s.pod.Key] = s
	for _, m := range s.mounts {
		if m.Claim == "" {
			continue
		}
		k := world.Key{Namespace: s.pod.Namespace, Name: m.Claim}
		if c.byPVC[k] == nil {
			c.byPVC[k] = map[world.Key]bool{}
		}
		c.byPVC[k][s.pod.Key] = true
	}
}

func (c *Cluster) unmount(pod world.Key) {
	for _, m := range c.pods[pod].mounts {
		k := world.Key{Namespace: pod.Namespace, Name: m.Claim}
		delete(c.byPVC[k], pod)
		if len(c.byPVC[k]) == 0 {
			delete(c.byPVC, k)
		}
	}
	delete(c.pods, pod)
}

// volumes looks up what this state knows of volumes.
func (c *Cluster) volumes() observe.Volumes {
	return observe.Volumes{
		Claim: in(c.pvcs), Volume: in(c.pvs), Class: in(c.class),
		Unattached: func(driver string) bool { return c.unattached[driver] },
	}
}

func in[K comparable, V any](m map[K]V) func(K) (V, bool) {
	return func(k K) (V, bool) { v, ok := m[k]; return v, ok }
}

// rebind resolves the volumes of pods again.
func (c *Cluster) rebind(keys []world.Key) []Change {
	slices.SortFunc(keys, compareKey)
	var out []Change
	for _, k := range keys {
		s, ok := c.pods[k]
		if !ok {
			continue
		}
		was := c.pod(k)
		c.putPod(c.volumes().Bind(s.pod, s.mounts))
		out = append(out, Change{Kind: Pod, Name: k.String(), Was: was, Is: c.pod(k)})
	}
	return out
}

// users are the pods that mount a claim.
func (c *Cluster) users(pvc world.Key) []world.Key {
	out := make([]world.Key, 0, len(c.byPVC[pvc]))
	for k := range c.byPVC[pvc] {
		out = append(out, k)
	}
	return out
}

// SetVolumeClaim puts a PersistentVolumeClaim into the cluster state.
func (c *Cluster) SetVolumeClaim(p *corev1.PersistentVolumeClaim) {
	k := world.Key{Namespace: p.Namespace, Name: p.Name}
	c.update(func() []Change {
		c.pvcs[k] = observe.ReadVolumeClaim(p)
		return c.rebind(c.users(k))
	})
}

// DeleteVolumeClaim takes a PersistentVolumeClaim out of the cluster state.
func (c *Cluster) DeleteVolumeClaim(k world.Key) {
	c.update(func() []Change {
		delete(c.pvcs, k)
		return c.rebind(c.users(k))
	})
}

// SetVolume puts a PersistentVolume into the cluster state.
func (c *Cluster) SetVolume(v *corev1.PersistentVolume) {
	c.update(func() []Change {
		c.pvs[v.Name] = observe.ReadPersistentVolume(v)
		return c.rebind(c.usersOfVolume(v.Name))
	})
}

// VolumeID is the id that a PersistentVolume has on the pods that mount it; "" if it is not known.
func (c *Cluster) VolumeID(name string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.pvs[name]
	if !ok {
		return ""
	}
	return v.ID()
}

// DeleteVolume takes a PersistentVolume out of the cluster state.
func (c *Cluster) DeleteVolume(name string) {
	c.update(func() []Change {
		delete(c.pvs, name)
		return c.rebind(c.usersOfVolume(name))
	})
}

func (c *Cluster) usersOfVolume(name string) []world.Key {
	var out []world.Key
	for k := range c.byPVC {
		if c.pvcs[k].Volume == name {
			out = append(out, c.users(k)...)
		}
	}
	return out
}

// SetStorageClass puts a StorageClass into the cluster state.
func (c *Cluster) SetStorageClass(s *storagev1.StorageClass) {
	c.update(func() []Change {
		c.class[s.Name] = observe.ReadStorageClass(s)
		return c.rebind(c.usersOfClass(s.Name))
	})
}

// DeleteStorageClass takes a StorageClass out of the cluster state.
func (c *Cluster) DeleteStorageClass(name string) {
	c.update(func() []Change {
		delete(c.class, name)
		return c.rebind(c.usersOfClass(name))
	})
}

func (c *Cluster) usersOfClass(name string) []world.Key {
	var out []world.Key
	for k := range c.byPVC {
		if c.pvcs[k].Class == name {
			out = append(out, c.users(k)...)
		}
	}
	return out
}

// SetCSIDriver puts into the cluster state whether nodes attach the volumes of a driver.
func (c *Cluster) SetCSIDriver(d *storagev1.CSIDriver) {
	c.setUnattached(d.Name, observe.Unattached(d))
}

// DeleteCSIDriver takes a driver out of the cluster state.
func (c *Cluster) DeleteCSIDriver(name string) { c.setUnattached(name, false) }

func (c *Cluster) setUnattached(driver string, is bool) {
	c.update(func() []Change {
		if c.unattached[driver] == is {
			return nil
		}
		c.unattached[driver] = is
		if !is {
			delete(c.unattached, driver)
		}
		return c.rebind(c.usersOfDriver(driver))
	})
}

func (c *Cluster) usersOfDriver(driver string) []world.Key {
	var out []world.Key
	for k := range c.byPVC {
		if claim := c.pvcs[k]; c.pvs[claim.Volume].Driver == driver || c.class[claim.Class].Driver == driver {
			out = append(out, c.users(k)...)
		}
	}
	return out
}

// SetCSINode puts what volume drivers said of a node into the cluster state.
func (c *Cluster) SetCSINode(n *storagev1.CSINode) { c.setLimits(n.Name, observe.VolumeLimits(n)) }

// DeleteCSINode takes what volume drivers said of a node out of the cluster state.
func (c *Cluster) DeleteCSINode(name string) { c.setLimits(name, nil) }

func (c *Cluster) setLimits(name string, limits []world.DriverLimit) {
	c.update(func() []Change {
		c.csi[name] = limits
		if limits == nil {
			delete(c.csi, name)
		}
		n, ok := c.nodes[name]
		if !ok {
			return nil
		}
		return c.setNode(n)
	})
}

// SetNode puts a node into the cluster state.
func (c *Cluster) SetNode(n *corev1.Node) {
	node := observe.Node(n, nil)
	c.update(func() []Change { return c.setNode(node) })
}

func (c *Cluster) setNode(n world.Node) []Change {
	n.VolumeLimits = c.csi[n.Name]
	if was, ok := c.nodes[n.Name]; ok && reflect.DeepEqual(was, n) {
		return nil // a heartbeat
	}
	c.nodes[n.Name] = n
	c.putNode(n)
	return []Change{{Kind: Node, Name: n.Name}}
}

// putNode puts a node into the cluster state together with its devices.
func (c *Cluster) putNode(n world.Node) {
	c.devices.joined.GiveNode(&n)
	c.put("node "+n.Name, c.builder.SetNode(n))
}

// DeleteNode takes a node out of the cluster state.
func (c *Cluster) DeleteNode(name string) {
	c.update(func() []Change {
		delete(c.nodes, name)
		c.builder.DeleteNode(name)
		c.put("node "+name, nil)
		return []Change{{Kind: Node, Name: name}}
	})
}

// SetNodePool puts a NodePool into the cluster state.
func (c *Cluster) SetNodePool(p *v1.NodePool) {
	stated := device.ReadTemplates(p)
	c.update(func() []Change {
		if c.devices.book == nil || !c.devices.book.SetPool(world.PoolID{Kind: world.NodePool, Name: p.Name}, stated) {
			return nil
		}
		c.dirty = true
		return []Change{{Kind: Pool, Name: p.Name}}
	})
	c.setPool(observe.NodePool(p), observe.BackoffOf(p.Status.Conditions))
}

// SetProvisioner puts a Provisioner into the cluster state.
func (c *Cluster) SetProvisioner(p *v1alpha5.Provisioner) {
	c.setPool(observe.Provisioner(p), observe.BackoffOf(p.Status.Conditions))
}

func (c *Cluster) setPool(p world.Pool, earlier *world.Backoff) {
	c.update(func() []Change {
		was, known := c.pools[p.ID]
		if known && reflect.DeepEqual(was, p) {
			return nil // only what it counts has changed
		}
		if was.NotReady = p.NotReady; !known {
			c.remembered(p, earlier)
		} else if !reflect.DeepEqual(was, p) {
			c.edited(p.ID)
		}
		c.pools[p.ID] = p
		c.putPool(p)
		return append(c.lay(), Change{Kind: Pool, Name: p.ID.Name})
	})
}

// putPool puts a pool into the cluster state, as ready as what it buys from.
func (c *Cluster) putPool(p world.Pool) {
	c.devices.joined.GivePool(&p)
	p.NotReady = cmp.Or(p.NotReady, c.barred[p.Template], c.blind(p.ID))
	c.put(p.ID.Kind+" "+p.ID.Name, c.builder.SetPool(p))
}

// DeletePool takes a pool out of the cluster state.
func (c *Cluster) DeletePool(id world.PoolID) {
	c.update(func() []Change {
		c.edited(id)
		delete(c.pools, id)
		if c.devices.book != nil {
			c.devices.book.SetPool(id, nil)
		}
		c.builder.DeletePool(id)
		c.put(id.Kind+" "+id.Name, nil)
		return append(c.lay(), Change{Kind: Pool, Name: id.Name})
	})
}

// SetDaemonSet puts a DaemonSet into the cluster state.
func (c *Cluster) SetDaemonSet(d *appsv1.DaemonSet) {
	k := world.Key{Namespace: d.Namespace, Name: d.Name}
	c.update(func() []Change {
		if !c.daemons.SetDaemonSet(d) {
			return c.deleteDaemonSet(k)
		}
		c.size(k)
		return []Change{{Kind: Other, Name: k.String()}}
	})
}

// size puts a DaemonSet into the cluster state, as large as its pods are. The lock is held.
func (c *Cluster) size(k world.Key) {
	if item, ok := c.daemons.Sized(k, c.builder.Pod); ok {
		c.put("daemon set "+k.String(), c.builder.SetDaemonSet(item))
	}
}

// SetLimitRange puts a LimitRange into the cluster state.
func (c *Cluster) SetLimitRange(l *corev1.LimitRange) {
	c.update(func() []Change {
		c.daemons.SetLimitRange(l)
		return c.resize(l.Namespace)
	})
}

// DeleteLimitRange takes a LimitRange out of the cluster state.
func (c *Cluster) DeleteLimitRange(k world.Key) {
	c.update(func() []Change {
		c.daemons.DeleteLimitRange(k)
		return c.resize(k.Namespace)
	})
}

// resize looks again at how large the DaemonSets of a namespace are.
func (c *Cluster) resize(namespace string) []Change {
	for _, k := range c.daemons.Of(namespace) {
		c.size(k)
	}
	return []Change{{Kind: Other, Name: namespace}}
}

// DeleteDaemonSet takes a DaemonSet out of the cluster state.
func (c *Cluster) DeleteDaemonSet(k world.Key) {
	c.update(func() []Change { return c.deleteDaemonSet(k) })
}

func (c *Cluster) deleteDaemonSet(k world.Key) []Change {
	c.daemons.DeleteDaemonSet(k)
	c.builder.DeleteDaemonSet(k)
	c.put("daemon set "+k.String(), nil)
	return []Change{{Kind: Other, Name: k.String()}}
}

// SetNamespace puts a namespace into the cluster state.
func (c *Cluster) SetNamespace(n *corev1.Namespace) {
	c.update(func() []Change {
		c.put("namespace "+n.Name, c.builder.SetNamespace(observe.Namespace(n)))
		return nil
	})
}

// DeleteNamespace takes a namespace out of the cluster state.
func (c *Cluster) DeleteNamespace(name string) {
	c.update(func() []Change {
		c.builder.DeleteNamespace(name)
		c.put("namespace "+name, nil)
		return nil
	})
}

// SetGuard puts a PodDisruptionBudget into the cluster state.
func (c *Cluster) SetGuard(p *policyv1.PodDisruptionBudget) {
	c.update(func() []Change {
		g := observe.Guard(p)
		c.put("guard "+g.String(), c.builder.SetGuard(g))
		return nil
	})
}

// DeleteGuard takes a PodDisruptionBudget out of the cluster state.
func (c *Cluster) DeleteGuard(k world.Key) {
	c.update(func() []Change {
		c.builder.DeleteGuard(k)
		c.put("guard "+k.String(), nil)
		return nil
	})
}
