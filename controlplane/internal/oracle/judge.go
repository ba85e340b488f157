package oracle

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Judge is the scheduler's plugins, which are made once and asked about one
// case after the other: nothing of a case is left when the next one comes.
type Judge struct{ cl *cluster }

// NewJudge makes the plugins.
func NewJudge(ctx context.Context) (Judge, error) {
	cl, err := newCluster(ctx)
	return Judge{cl}, err
}

// Try asks the plugins about one case.
func (j Judge) Try(ctx context.Context, c Case) Verdict {
	v := Verdict{Name: c.Name}
	err := j.cl.reset(c)
	switch {
	case err != nil:
	case c.Bind:
		v.Bound, err = bindAll(ctx, j.cl, c)
	default:
		err = v.replay(ctx, j.cl, c)
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// fill puts the machines into the cluster, with what runs on them.
func (cl *cluster) fill(c Case) error {
	for i := range c.Nodes {
		cl.add(&c.Nodes[i])
	}
	for i := range c.Pods {
		p := &c.Pods[i]
		if _, there := cl.nodes[p.Spec.NodeName]; there && p.Spec.NodeName != "" {
			if err := cl.bind(p, p.Spec.NodeName); err != nil {
				return err
			}
		}
	}
	return nil
}

// replay binds the plan's pods where the plan says, in any order in which the
// filters let them; what no order lets through is wrong. Then it looks for
// places that refused pods could have had.
func (v *Verdict) replay(ctx context.Context, cl *cluster, c Case) error {
	if err := cl.fill(c); err != nil {
		return err
	}
	var left []*corev1.Pod
	for i := range c.Pods {
		if p := &c.Pods[i]; c.Placements[key(p)] != "" && p.Spec.NodeName == "" {
			left = append(left, p)
		}
	}
	for progress := true; progress; {
		progress = false
		var again []*corev1.Pod
		for _, p := range left {
			node := c.Placements[key(p)]
			if cl.ask(ctx, p).on(ctx, node) != "" {
				again = append(again, p)
				continue
			}
			if err := cl.bind(p, node); err != nil {
				return err
			}
			v.Placed++
			progress = true
		}
		left = again
	}
	for _, p := range left {
		node := c.Placements[key(p)]
		v.Wrong = append(v.Wrong, fmt.Sprintf("%s on %s: %s", key(p), node, cl.ask(ctx, p).on(ctx, node)))
	}
	return v.refusals(ctx, cl, c)
}

// attended binds daemons to a machine, and reports whether the filters let them
// onto it: a machine on which pods that run keep its daemons away is none that
// might have been bought.
func (cl *cluster) attended(ctx context.Context, node string, daemons []*corev1.Pod) (bool, error) {
	for _, d := range daemons {
		if cl.ask(ctx, d).on(ctx, node) != "" {
			return false, nil
		}
		if err := cl.bind(d, node); err != nil {
			return false, err
		}
	}
	return true, nil
}

// kindOf is equal for pods that the filters cannot tell apart.
func kindOf(p *corev1.Pod) (string, error) {
	kind := corev1.Pod{Spec: p.Spec, Status: corev1.PodStatus{NominatedNodeName: p.Status.NominatedNodeName}}
	kind.Namespace, kind.Labels = p.Namespace, p.Labels
	text, err := kind.Marshal()
	return string(text), err
}

// refusals asks for every refused pod each machine that is there, and each
// empty one that might have been bought for it. Of pods that the filters cannot
// tell apart one is asked about if it finds no place.
func (v *Verdict) refusals(ctx context.Context, cl *cluster, c Case) error {
	pods := map[string]*corev1.Pod{}
	for i := range c.Pods {
		pods[key(&c.Pods[i])] = &c.Pods[i]
	}
	empties := map[string]*corev1.Node{}
	for i := range c.Empties {
		empties[c.Empties[i].Name] = &c.Empties[i]
	}
	daemons := map[string][]*corev1.Pod{} // of the empty nodes
	for i := range c.Pods {
		if p := &c.Pods[i]; empties[p.Spec.NodeName] != nil {
			daemons[p.Spec.NodeName] = append(daemons[p.Spec.NodeName], p)
		}
	}
	homeless := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(c.Refused)) {
		p := pods[name]
		if p == nil {
			return fmt.Errorf("refused pod %s is not in the case", name)
		}
		kind, err := kindOf(p)
		if err != nil {
			return err
		}
		kind += fmt.Sprint(c.Refused[name])
		if homeless[kind] {
			continue
		}
		before := len(v.Possible)
		q := cl.ask(ctx, p)
		for _, node := range cl.order {
			if q.on(ctx, node) == "" {
				v.Possible = append(v.Possible, fmt.Sprintf("%s on %s", name, node))
				break
			}
		}
		for _, empty := range c.Refused[name] {
			if empties[empty] == nil {
				return fmt.Errorf("empty node %s is not in the case", empty)
			}
			cl.add(empties[empty])
			for _, d := range daemons[empty] {
				if err := cl.bind(d, empty); err != nil {
					return err
				}
			}
			possible := cl.ask(ctx, p).on(ctx, empty) == ""
			if possible {
				cl.remove(empty)
				cl.add(empties[empty])
				if possible, err = cl.attended(ctx, empty, daemons[empty]); err != nil {
					return err
				}
			}
			if possible {
				v.Possible = append(v.Possible, fmt.Sprintf("%s on a new %s", name, empty))
			}
			cl.remove(empty)
		}
		homeless[kind] = len(v.Possible) == before
	}
	return nil
}
