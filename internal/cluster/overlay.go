package cluster

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Verdict says how an overlay stands.
type Verdict struct {
	Generation int64  // of the overlay that was judged
	Wrong      string // what of it cannot be read; empty: nothing
	Against    string // the overlay of the same weight that it contradicts, and that is why it is left out
	uid        types.UID
}

// layers are the overlays, and what pools see through them.
type layers struct {
	overlays map[string]observe.Overlay // those that can be read
	verdicts map[string]Verdict
	catalogs map[world.TemplateID]world.Catalog // as they were published
	laid     map[world.TemplateID]bool          // catalogues that belong to one pool
}

func newLayers() layers {
	return layers{
		overlays: map[string]observe.Overlay{}, verdicts: map[string]Verdict{},
		catalogs: map[world.TemplateID]world.Catalog{}, laid: map[world.TemplateID]bool{},
	}
}

// SetOverlay puts a NodeOverlay into the cluster state.
func (c *Cluster) SetOverlay(o *v1alpha1.NodeOverlay) {
	v := Verdict{Generation: o.Generation, uid: o.UID}
	overlay, err := observe.NodeOverlay(o)
	if problems := o.Problems(); len(problems) > 0 {
		err = problems.ToAggregate()
	}
	if err != nil {
		v.Wrong = err.Error()
	}
	c.update(func() []Change {
		if was, ok := c.layers.verdicts[o.Name]; ok && was.Generation == v.Generation && was.uid == v.uid {
			return nil // its status
		}
		c.layers.verdicts[o.Name] = v
		c.layers.overlays[o.Name] = overlay
		if err != nil {
			delete(c.layers.overlays, o.Name)
		}
		return append(c.lay(), Change{Kind: Overlay, Name: o.Name})
	})
}

// DeleteOverlay takes a NodeOverlay out of the cluster state.
func (c *Cluster) DeleteOverlay(name string) {
	c.update(func() []Change {
		delete(c.layers.verdicts, name)
		delete(c.layers.overlays, name)
		return append(c.lay(), Change{Kind: Overlay, Name: name})
	})
}

// Overlay says how an overlay stands; false if it is not in the cluster state.
func (c *Cluster) Overlay(name string) (Verdict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v, ok := c.layers.verdicts[name]
	return v, ok
}

// Published is a template's catalogue as it was published, with what has no price; nil if there is none.
func (c *Cluster) Published(t world.TemplateID) *world.Catalog {
	c.mu.Lock()
	defer c.mu.Unlock()
	if published, ok := c.layers.catalogs[t]; ok {
		return &published
	}
	return nil
}

// lay gives pools the catalogues that overlays make of those that were
// published. The lock is held.
func (c *Cluster) lay() []Change {
	l := &c.layers
	if len(l.overlays)+len(l.laid) == 0 {
		return nil
	}
	changed, against := observe.Lay(c.views(), slices.Collect(maps.Values(l.overlays)))
	var out []Change
	now := map[world.TemplateID]bool{}
	for _, v := range changed {
		id := v.Pool.Template.For(v.Pool.ID)
		v.Catalog.Template, now[id] = id, true
		c.put("catalog "+string(id), c.builder.SetCatalog(v.Catalog))
		out = append(out, Change{Kind: Catalog, Name: string(id)})
	}
	for id := range l.laid {
		if !now[id] {
			c.builder.DeleteCatalog(id)
			c.put("catalog "+string(id), nil)
			out = append(out, Change{Kind: Catalog, Name: string(id)})
		}
	}
	l.laid = now
	for name, v := range l.verdicts {
		if v.Against != against[name] {
			v.Against = against[name]
			l.verdicts[name] = v
			out = append(out, Change{Kind: Overlay, Name: name})
		}
	}
	return out
}

// views is what every pool sees without overlays, in order of the pools. The lock is held.
func (c *Cluster) views() []observe.View {
	var out []observe.View
	for _, id := range slices.SortedFunc(maps.Keys(c.pools), world.ComparePool) {
		p := c.pools[id]
		if published, ok := c.layers.catalogs[p.Template]; ok {
			out = append(out, observe.View{Pool: p, Catalog: published})
		}
	}
	return out
}
