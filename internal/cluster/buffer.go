package cluster

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// SetBuffer puts the virtual pods of a CapacityBuffer into the cluster state, in place of those that it had.
func (c *Cluster) SetBuffer(k world.Key, pods []world.Pod) {
	c.update(func() []Change {
		changed := false
		is, keys := make(map[world.Key]bool, len(pods)), make([]world.Key, 0, len(pods))
		for _, p := range pods {
			is[p.Key], keys = true, append(keys, p.Key)
			p.Planned = c.planned[p.Key]
			c.spreads.set(&p, len(p.Spread) > 0, observe.Owner{})
			c.spreads.give(&p)
			if old := c.pod(p.Key); old == nil || !reflect.DeepEqual(*old, p) {
				c.putPod(p)
				changed = true
			}
		}
		for _, key := range c.buffers[k] {
			if !is[key] {
				c.spreads.delete(key)
				c.builder.DeletePod(key)
				c.put("pod "+key.String(), nil)
				changed = true
			}
		}
		if c.buffers[k] = keys; len(keys) == 0 {
			delete(c.buffers, k)
		}
		if !changed {
			return nil
		}
		return []Change{{Kind: Buffer, Name: k.String()}}
	})
}

// DeleteBuffer takes the virtual pods of a CapacityBuffer out of the cluster state.
func (c *Cluster) DeleteBuffer(k world.Key) { c.SetBuffer(k, nil) }

// Buffered reports whether room is held for pods to come.
func (c *Cluster) Buffered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.buffers) > 0
}

// Admitted is a pod with what the LimitRanges of its namespace give to it.
func (c *Cluster) Admitted(p *corev1.Pod) *corev1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.daemons.Admitted(p)
}
