package oracle

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// race is pods that wait to be bound.
type race struct {
	cl      *cluster
	rng     *rand.Rand
	waiting []*corev1.Pod
	bound   map[string]string
	kind    map[string]string // of each pod: equal where the filters cannot tell them apart
}

// bindAll lets the default profile bind all pods that it can, in a random order
// except that a higher priority comes first.
func bindAll(ctx context.Context, cl *cluster, c Case) (map[string]string, error) {
	if err := cl.fill(c); err != nil {
		return nil, err
	}
	r := race{cl: cl, rng: rand.New(rand.NewPCG(c.Seed, 1)), bound: map[string]string{}, kind: map[string]string{}}
	for i := range c.Pods {
		p := &c.Pods[i]
		if p.Spec.NodeName != "" {
			continue
		}
		if err := r.sort(p); err != nil {
			return nil, err
		}
		r.waiting = append(r.waiting, p)
		if p.Status.NominatedNodeName == "" {
			continue
		}
		if err := cl.promised.add(p); err != nil {
			return nil, err
		}
	}
	r.rng.Shuffle(len(r.waiting), func(i, j int) { r.waiting[i], r.waiting[j] = r.waiting[j], r.waiting[i] })
	slices.SortStableFunc(r.waiting, func(a, b *corev1.Pod) int { return int(priority(b)) - int(priority(a)) })
	for changed := true; changed; {
		var err error
		if changed, err = r.round(ctx); err != nil {
			return nil, err
		}
	}
	return r.bound, nil
}

// sort notes what tells the pod apart from others.
func (r *race) sort(p *corev1.Pod) (err error) {
	r.kind[key(p)], err = kindOf(p)
	return err
}

// round tries every pod that waits once, and reports whether others may find a place now.
func (r *race) round(ctx context.Context) (changed bool, err error) {
	var left []*corev1.Pod
	hopeless := map[string]bool{} // since the last pod was bound
	for _, p := range r.waiting {
		if hopeless[r.kind[key(p)]] {
			left = append(left, p)
			continue
		}
		node, err := r.cl.ask(ctx, p).best(ctx, r.rng.IntN)
		if err != nil {
			return false, fmt.Errorf("score pod %s: %w", key(p), err)
		}
		if node == "" {
			left = append(left, p)
			if p.Status.NominatedNodeName == "" {
				hopeless[r.kind[key(p)]] = true
				continue
			}
			// Preemption, which finds nothing to preempt, takes the nomination back, and with it what kept others away.
			r.cl.promised.DeleteNominatedPodIfExists(p)
			p.Status.NominatedNodeName = ""
			if err := r.sort(p); err != nil {
				return false, err
			}
			changed = true
			clear(hopeless)
			continue
		}
		if err := r.cl.bind(p, node); err != nil {
			return false, err
		}
		changed = true
		r.bound[key(p)] = node
		clear(hopeless)
	}
	r.waiting = left
	return changed, nil
}

func priority(p *corev1.Pod) int32 {
	if p.Spec.Priority == nil {
		return 0
	}
	return *p.Spec.Priority
}
