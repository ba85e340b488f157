package cluster

import (
	"maps"
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// spreads gives kube-scheduler's default topology spread constraints to the pods
// that state none. Which other pods count depends on Services and on what owns the
// pod, so it keeps their selectors, and looks again at the pods concerned when one
// changes. Without defaults it keeps nothing.
type spreads struct {
	defaults observe.DefaultSpread

	services map[string]map[string]map[string]string // selectors by namespace and name
	owners   map[observe.Owner]world.Selector

	of   map[world.Key]observe.Owner                         // what owns the pods that state none
	pods map[string]map[observe.Owner]map[world.Key]struct{} // these pods by namespace and owner
}

func newSpreads() spreads {
	return spreads{
		services: map[string]map[string]map[string]string{}, owners: map[observe.Owner]world.Selector{},
		of: map[world.Key]observe.Owner{}, pods: map[string]map[observe.Owner]map[world.Key]struct{}{},
	}
}

// set notes whether a pod states constraints, and what owns it. The pods of
// DaemonSets have their node each, whatever a constraint says.
func (s spreads) set(p *world.Pod, states bool, owner observe.Owner) {
	if len(s.defaults) == 0 {
		return
	}
	s.delete(p.Key)
	if states || p.DaemonSet != "" || p.Static {
		return
	}
	s.of[p.Key] = owner
	if s.pods[p.Namespace] == nil {
		s.pods[p.Namespace] = map[observe.Owner]map[world.Key]struct{}{}
	}
	if s.pods[p.Namespace][owner] == nil {
		s.pods[p.Namespace][owner] = map[world.Key]struct{}{}
	}
	s.pods[p.Namespace][owner][p.Key] = struct{}{}
}

func (s spreads) delete(pod world.Key) {
	owner, ok := s.of[pod]
	if !ok {
		return
	}
	delete(s.of, pod)
	siblings := s.pods[pod.Namespace]
	if delete(siblings[owner], pod); len(siblings[owner]) == 0 {
		delete(siblings, owner)
	}
	if len(siblings) == 0 {
		delete(s.pods, pod.Namespace)
	}
}

// give sets the constraints of a pod that states none.
func (s spreads) give(p *world.Pod) {
	owner, ok := s.of[p.Key]
	if !ok {
		return
	}
	var services []map[string]string
	for _, selector := range s.services[p.Namespace] {
		if observe.Selected(selector, p.Labels) {
			services = append(services, selector)
		}
	}
	p.Spread = s.defaults.For(services, s.owners[owner])
}

// SetDefaultSpread sets the constraints of pods that state none, if there are any; then
// the cluster state also waits for what they depend on. It is called before the first source starts, if at all.
func (c *Cluster) SetDefaultSpread(d observe.DefaultSpread) {
	if len(d) == 0 {
		return
	}
	c.spreads.defaults = d
	c.sources = append(slices.Clone(c.sources), selecting...)
	for _, s := range selecting {
		c.waits[s] = true
	}
}

// SetService puts into the cluster state which pods a Service selects.
func (c *Cluster) SetService(s *corev1.Service) {
	c.setService(world.Key{Namespace: s.Namespace, Name: s.Name}, s.Spec.Selector)
}

// DeleteService takes a Service out of the cluster state.
func (c *Cluster) DeleteService(k world.Key) { c.setService(k, nil) }

func (c *Cluster) setService(k world.Key, is map[string]string) {
	c.update(func() []Change {
		all := c.spreads.services
		was := all[k.Namespace][k.Name]
		if reflect.DeepEqual(was, is) {
			return nil
		}
		if all[k.Namespace] == nil {
			all[k.Namespace] = map[string]map[string]string{}
		}
		if all[k.Namespace][k.Name] = is; is == nil {
			delete(all[k.Namespace], k.Name)
		}
		var keys []world.Key
		for _, pods := range c.spreads.pods[k.Namespace] {
			for pod := range pods {
				if p := c.pod(pod); p != nil && (observe.Selected(was, p.Labels) || observe.Selected(is, p.Labels)) {
					keys = append(keys, pod)
				}
			}
		}
		return c.respread(keys)
	})
}

// SetReplicaSet puts into the cluster state which pods a ReplicaSet selects.
func (c *Cluster) SetReplicaSet(r *appsv1.ReplicaSet) {
	c.setOwner(observe.ReplicaSet, world.Key{Namespace: r.Namespace, Name: r.Name}, r.Spec.Selector)
}

// DeleteReplicaSet takes a ReplicaSet out of the cluster state.
func (c *Cluster) DeleteReplicaSet(k world.Key) { c.setOwner(observe.ReplicaSet, k, nil) }

// SetStatefulSet puts into the cluster state which pods a StatefulSet selects.
func (c *Cluster) SetStatefulSet(s *appsv1.StatefulSet) {
	c.setOwner(observe.StatefulSet, world.Key{Namespace: s.Namespace, Name: s.Name}, s.Spec.Selector)
}

// DeleteStatefulSet takes a StatefulSet out of the cluster state.
func (c *Cluster) DeleteStatefulSet(k world.Key) { c.setOwner(observe.StatefulSet, k, nil) }

// SetReplicationController puts into the cluster state which pods a ReplicationController selects.
func (c *Cluster) SetReplicationController(r *corev1.ReplicationController) {
	c.setOwner(observe.ReplicationController, world.Key{Namespace: r.Namespace, Name: r.Name}, &metav1.LabelSelector{MatchLabels: r.Spec.Selector})
}

// DeleteReplicationController takes a ReplicationController out of the cluster state.
func (c *Cluster) DeleteReplicationController(k world.Key) {
	c.setOwner(observe.ReplicationController, k, nil)
}

func (c *Cluster) setOwner(kind string, k world.Key, selector *metav1.LabelSelector) {
	owner, is := observe.Owner{Kind: kind, Key: k}, observe.OwnerSelector(selector)
	c.update(func() []Change {
		was, known := c.spreads.owners[owner]
		if known == is.Some && reflect.DeepEqual(was, is) {
			return nil
		}
		if c.spreads.owners[owner] = is; !is.Some {
			delete(c.spreads.owners, owner)
		}
		return c.respread(slices.Collect(maps.Keys(c.spreads.pods[k.Namespace][owner])))
	})
}

// respread looks again at the constraints of pods that state none. The lock is held.
func (c *Cluster) respread(keys []world.Key) []Change {
	slices.SortFunc(keys, compareKey)
	var out []Change
	for _, k := range keys {
		was := c.pod(k)
		if was == nil {
			continue
		}
		c.putPod(*was)
		out = append(out, Change{Kind: Pod, Name: k.String(), Was: was, Is: c.pod(k)})
	}
	return out
}
