package oracle

import (
	"cmp"
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
	waiting := placed(c)
	left, err := cl.bindPlaced(ctx, waiting, c.Placements)
	if err != nil {
		return err
	}
	v.Placed = len(waiting) - len(left)
	for _, p := range left {
		node := c.Placements[key(p)]
		v.Wrong = append(v.Wrong, fmt.Sprintf("%s on %s: %s", key(p), node, cl.ask(ctx, p).on(ctx, node)))
	}
	return v.refusals(ctx, cl, c)
}

// placed are the pods that the plan places.
func placed(c Case) []*corev1.Pod {
	var out []*corev1.Pod
	for i := range c.Pods {
		if p := &c.Pods[i]; c.Placements[key(p)] != "" && p.Spec.NodeName == "" {
			out = append(out, p)
		}
	}
	return out
}

// bindPlaced binds pods where they are placed, in any order in which the filters
// let them, and returns those that no order let through.
func (cl *cluster) bindPlaced(ctx context.Context, pods []*corev1.Pod, placements map[string]string) (left []*corev1.Pod, err error) {
	for left = pods; ; {
		var again []*corev1.Pod
		for _, p := range left {
			node := placements[key(p)]
			if cl.ask(ctx, p).on(ctx, node) != "" {
				again = append(again, p)
			} else if err := cl.bind(p, node); err != nil {
				return nil, err
			}
		}
		if len(again) == len(left) || len(again) == 0 {
			return again, nil
		}
		left = again
	}
}

// amid reports whether the pod could be on an empty machine together with the
// plan, all machines there from the start and pods bound by priority. If pods of
// the plan of no lower priority cannot be bound with that machine there, because of its
// daemons or as an empty domain, then the pod is rightly refused until they are;
// pods of a lower priority are no reason. The cluster is then as before.
func (cl *cluster) amid(ctx context.Context, c Case, p *corev1.Pod, empty *corev1.Node, daemons []*corev1.Pod) (bool, error) {
	again := func(pods []*corev1.Pod, more ...*corev1.Node) (left []*corev1.Pod, err error) {
		if err := cl.reset(c); err != nil {
			return nil, err
		}
		if err := cl.fill(c); err != nil {
			return nil, err
		}
		for _, n := range more {
			cl.add(n)
			for _, d := range daemons {
				if err := cl.bind(d, n.Name); err != nil {
					return nil, err
				}
			}
		}
		placements := map[string]string{key(p): empty.Name}
		maps.Copy(placements, c.Placements)
		return cl.bindPlaced(ctx, pods, placements)
	}
	pods := placed(c)
	all := append(slices.Clone(pods), p)
	slices.SortStableFunc(all, func(a, b *corev1.Pod) int { return cmp.Compare(priority(b), priority(a)) })
	left, err := again(all, empty)
	if err != nil {
		return false, err
	}
	_, err = again(pods)
	return !slices.ContainsFunc(left, func(q *corev1.Pod) bool { return priority(q) >= priority(p) }), err
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
			cl.remove(empty)
			if possible {
				if possible, err = cl.amid(ctx, c, p, empties[empty], daemons[empty]); err != nil {
					return err
				}
			}
			if possible {
				v.Possible = append(v.Possible, fmt.Sprintf("%s on a new %s", name, empty))
			}
		}
		homeless[kind] = len(v.Possible) == before
	}
	return nil
}
