package enginetest

import (
	"fmt"
	"slices"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// admits returns why the pod may not be bound to the node now; empty if it may.
func (c *checker) admits(p *world.Pod, s *nodeInfo) string {
	used := p.Requests
	for _, q := range s.pods {
		used = used.Plus(q.Requests)
	}
	for _, e := range p.Requests {
		if e.Value > 0 && used.Value(e.Name) > s.room.Value(e.Name) {
			return fmt.Sprintf("too little %s: %s of %s", e.Name, amount.Text(e.Name, used.Value(e.Name)), amount.Text(e.Name, s.room.Value(e.Name)))
		}
	}
	switch {
	case s.closed:
		return "it is going away"
	case s.cordoned:
		return "it is cordoned"
	case !tolerated(p, s.taints):
		return "a taint"
	case !selected(p, s):
		return "labels"
	case !portsFree(p, s):
		return "a host port"
	case !attachable(p, s):
		return "attachments"
	case !c.meetsVolumes(p, s):
		return "the zone of a volume that another pod waits for too"
	case !c.hasVolumes(p, s):
		return "a volume that another pod has"
	}
	if why := c.hasDevices(p, s); why != "" {
		return why
	}
	for i := range p.Spread {
		if why := c.skewed(p, &p.Spread[i], s); why != "" {
			return why
		}
	}
	return c.company(p, s)
}

// meetsVolumes reports whether the node is in the zone in which the pod's volumes are made, where pods bound before it decided that.
func (c *checker) meetsVolumes(p *world.Pod, s *nodeInfo) bool {
	for _, v := range p.Volumes {
		for _, o := range c.order {
			for _, q := range o.pods {
				if v.Pending && q.Node == "" && o.labels[label.Zone] != s.labels[label.Zone] && slices.ContainsFunc(q.Volumes, func(w world.Volume) bool { return w.Pending && w.ID == v.ID }) {
					return false
				}
			}
		}
	}
	return true
}

// hasVolumes reports whether the pod would have its volumes on the node: one for one node is not attached to
// another while a pod there has it, unless that pod ends, and one for one pod is that pod's to its end.
func (c *checker) hasVolumes(p *world.Pod, s *nodeInfo) bool {
	for _, v := range p.Volumes {
		for _, o := range c.order {
			for _, q := range o.pods {
				if !slices.ContainsFunc(q.Volumes, func(w world.Volume) bool { return w.ID == v.ID }) {
					continue
				}
				if v.OnePod || v.OneNode && o != s && !q.Terminating {
					return false
				}
			}
		}
	}
	return true
}

func tolerated(p *world.Pod, taints []world.Taint) bool {
	for _, t := range taints {
		if t.Effect == world.PreferNoSchedule {
			continue
		}
		ok := false
		for _, o := range p.Tolerations {
			sameKey := o.Key == t.Key || o.Key == "" && o.Exists
			sameValue := o.Exists || o.Value == t.Value
			ok = ok || sameKey && sameValue && (o.Effect == "" || o.Effect == t.Effect)
		}
		if !ok {
			return false
		}
	}
	return true
}

func selected(p *world.Pod, s *nodeInfo) bool {
	if !p.NodeSelector.Match(s.labels) {
		return false
	}
	for _, v := range p.Volumes {
		if len(v.Places) > 0 && !slices.ContainsFunc(v.Places, func(x label.Set) bool { return x.Match(s.labels) }) {
			return false
		}
	}
	return len(p.NodeTerms) == 0 || slices.ContainsFunc(p.NodeTerms, func(t world.NodeTerm) bool {
		return (len(t.Labels) > 0 || t.Name != nil) && t.Labels.Match(s.labels) && (t.Name == nil || t.Name.Has(s.name))
	})
}

func portsFree(p *world.Pod, s *nodeInfo) bool {
	for _, q := range s.pods {
		for _, a := range q.Ports {
			for _, b := range p.Ports {
				if a.Port == b.Port && a.Protocol == b.Protocol {
					return false
				}
			}
		}
	}
	return true
}

func attachable(p *world.Pod, s *nodeInfo) bool {
	for _, l := range s.limits {
		ids := map[string]bool{}
		mine := false
		for _, q := range append(slices.Clone(s.pods), p) {
			for _, v := range q.Volumes {
				if v.Driver == l.Driver {
					ids[v.ID] = true
					mine = mine || q == p
				}
			}
		}
		if mine && len(ids) > l.Count {
			return false
		}
	}
	return true
}

// skewed returns why the constraint keeps the pod from the node.
func (c *checker) skewed(p *world.Pod, k *world.Spread, s *nodeInfo) string {
	if k.Soft {
		return ""
	}
	if _, ok := s.labels[k.Key]; !ok {
		return "no label " + k.Key
	}
	counts := map[string]int{}
	for _, o := range c.order {
		if !counted(p, k, o) {
			continue
		}
		d := o.labels[k.Key]
		counts[d] += 0
		for _, q := range o.pods {
			if q.Namespace == p.Namespace && !q.Terminating && k.Selector.Match(q.Labels) {
				counts[d]++
			}
		}
	}
	least := -1
	for _, n := range counts {
		if least < 0 || n < least {
			least = n
		}
	}
	if least < 0 || len(counts) < k.MinDomains {
		least = 0
	}
	self := 0
	if k.Selector.Match(p.Labels) {
		self = 1
	}
	if n := counts[s.labels[k.Key]]; n+self-least > k.MaxSkew {
		return fmt.Sprintf("%s %s has %d, the least is %d, maxSkew %d", k.Key, s.labels[k.Key], n, least, k.MaxSkew)
	}
	return ""
}

// counted reports whether the node counts for the constraint.
func counted(p *world.Pod, k *world.Spread, s *nodeInfo) bool {
	for _, o := range p.Spread {
		if _, ok := s.labels[o.Key]; !o.Soft && !ok {
			return false
		}
	}
	bare := *p
	bare.Volumes = nil
	if !k.AnyNode && !selected(&bare, s) {
		return false
	}
	return !k.HonourTaints || tolerated(p, s.taints) && !s.cordoned
}

// LastOfDomain reports whether the machine is the last that counts in a domain that
// the pod is spread over. With the machine the domain goes, and other rules hold
// for the pod; no decision relies on that.
func LastOfDomain(w *world.World, m *world.Place, p *world.Pod) bool {
	return slices.ContainsFunc(p.Spread, func(k world.Spread) bool {
		at := m.Labels()[k.Key]
		return k.Key != label.Hostname && at != "" && !slices.ContainsFunc(w.Places(), func(o *world.Place) bool {
			return o.Node != nil && o.Name() != m.Name() && o.Labels()[k.Key] == at &&
				counted(p, &k, &nodeInfo{name: o.Name(), labels: o.Labels(), taints: o.Node.Taints, cordoned: o.Node.Cordoned})
		})
	})
}

// company returns why required pod affinity or anti-affinity, the pod's or another's, keeps it from the node.
func (c *checker) company(p *world.Pod, s *nodeInfo) string {
	anywhere := false
	var terms []world.PodTerm
	for _, t := range p.PodTerms {
		switch {
		case t.Weight != 0:
		case t.Anti && c.near(t, s, func(q *world.Pod) bool { return c.picks(t, q) }):
			return "anti-affinity by " + t.Key
		case !t.Anti:
			terms = append(terms, t)
		}
	}
	all := func(q *world.Pod) bool {
		return !slices.ContainsFunc(terms, func(t world.PodTerm) bool { return !c.picks(t, q) })
	}
	alone := true
	for _, t := range terms {
		if _, ok := s.labels[t.Key]; !ok {
			return "no label " + t.Key
		}
		alone = alone && !c.near(t, s, all)
		for _, o := range c.order {
			if _, ok := o.labels[t.Key]; ok && slices.ContainsFunc(o.pods, all) {
				anywhere = true
			}
		}
	}
	for _, t := range terms {
		if !c.near(t, s, all) && (anywhere || !all(p)) {
			return "affinity by " + t.Key
		}
	}
	for _, o := range c.order {
		for _, q := range o.pods {
			for _, t := range q.PodTerms {
				v, ok := o.labels[t.Key]
				if t.Anti && t.Weight == 0 && ok && s.labels[t.Key] == v && c.picks(t, p) {
					return "the anti-affinity of " + q.Name
				}
			}
		}
	}
	return ""
}

// near reports whether a pod that is picked runs in the node's domain.
func (c *checker) near(t world.PodTerm, s *nodeInfo, picked func(*world.Pod) bool) bool {
	v, ok := s.labels[t.Key]
	if !ok {
		return false
	}
	for _, o := range c.order {
		if o.labels[t.Key] == v && slices.ContainsFunc(o.pods, picked) {
			return true
		}
	}
	return false
}

func (c *checker) picks(t world.PodTerm, q *world.Pod) bool {
	if !t.Selector.Match(q.Labels) {
		return false
	}
	if slices.Contains(t.Namespaces, q.Namespace) {
		return true
	}
	var labels map[string]string
	if n := c.w.Namespace(q.Namespace); n != nil {
		labels = n.Labels
	}
	return t.Within.Match(labels)
}
