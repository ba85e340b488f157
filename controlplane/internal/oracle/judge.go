package oracle

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Judge asks the scheduler's plugins about one case.
func Judge(ctx context.Context, c Case) Verdict {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	v := Verdict{Name: c.Name}
	cl, err := newCluster(ctx, c)
	if err == nil {
		err = v.replay(ctx, cl, c)
	}
	for i := 0; err == nil && i < c.Orders; i++ {
		err = v.bindAll(ctx, cl, c, rand.New(rand.NewPCG(c.Seed, uint64(i))))
	}
	if err != nil {
		v.Error = err.Error()
	}
	return v
}

// fill puts the machines that which names into the cluster, with what runs on them.
func (cl *cluster) fill(c Case, which func(*corev1.Node) bool) error {
	clear(cl.nodes)
	cl.order = nil
	for i := range c.Nodes {
		if which(&c.Nodes[i]) {
			cl.add(&c.Nodes[i])
		}
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
	if err := cl.fill(c, func(*corev1.Node) bool { return true }); err != nil {
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

// refusals asks for every refused pod each machine that is there, and each
// empty one that might have been bought for it.
func (v *Verdict) refusals(ctx context.Context, cl *cluster, c Case) error {
	pods := map[string]*corev1.Pod{}
	for i := range c.Pods {
		pods[key(&c.Pods[i])] = &c.Pods[i]
	}
	empties := map[string]*corev1.Node{}
	for i := range c.Empties {
		empties[c.Empties[i].Name] = &c.Empties[i]
	}
	for _, name := range slices.Sorted(maps.Keys(c.Refused)) {
		p := pods[name]
		if p == nil {
			return fmt.Errorf("refused pod %s is not in the case", name)
		}
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
			if cl.ask(ctx, p).on(ctx, empty) == "" {
				v.Possible = append(v.Possible, fmt.Sprintf("%s on a new %s", name, empty))
			}
			cl.remove(empty)
		}
	}
	return nil
}

// bindAll lets the default profile bind the plan's pods while the planned
// machines become ready one by one in a random order, and counts who stays behind.
func (v *Verdict) bindAll(ctx context.Context, cl *cluster, c Case, rng *rand.Rand) error {
	planned := slices.Clone(c.Planned)
	slices.Sort(planned)
	if err := cl.fill(c, func(n *corev1.Node) bool { return !slices.Contains(planned, n.Name) }); err != nil {
		return err
	}
	var waiting []*corev1.Pod
	for i := range c.Pods {
		if p := &c.Pods[i]; c.Placements[key(p)] != "" && p.Spec.NodeName == "" {
			waiting = append(waiting, p)
		}
	}
	rng.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	slices.SortStableFunc(waiting, func(a, b *corev1.Pod) int { return int(priority(b)) - int(priority(a)) })
	rng.Shuffle(len(planned), func(i, j int) { planned[i], planned[j] = planned[j], planned[i] })
	used := map[string]bool{}
	for i := -1; i < len(planned); i++ {
		if i >= 0 {
			j := slices.IndexFunc(c.Nodes, func(n corev1.Node) bool { return n.Name == planned[i] })
			if j < 0 {
				return fmt.Errorf("planned node %s is not in the case", planned[i])
			}
			cl.add(&c.Nodes[j])
		}
		var err error
		if waiting, err = cl.bindSome(ctx, waiting, used, rng); err != nil {
			return err
		}
	}
	v.Stranded = append(v.Stranded, len(waiting))
	v.Unused = append(v.Unused, len(slices.DeleteFunc(planned, func(n string) bool { return used[n] })))
	return nil
}

// bindSome binds what can be bound now and returns the rest.
func (cl *cluster) bindSome(ctx context.Context, waiting []*corev1.Pod, used map[string]bool, rng *rand.Rand) ([]*corev1.Pod, error) {
	for progress := true; progress; {
		progress = false
		var left []*corev1.Pod
		for _, p := range waiting {
			node, err := cl.ask(ctx, p).best(ctx, rng.IntN)
			if err != nil {
				return nil, fmt.Errorf("score pod %s: %w", key(p), err)
			}
			if node == "" {
				left = append(left, p)
				continue
			}
			if err := cl.bind(p, node); err != nil {
				return nil, err
			}
			used[node], progress = true, true
		}
		waiting = left
	}
	return waiting, nil
}

func priority(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
