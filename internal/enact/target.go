package enact

import (
	"cmp"
	"slices"
	"sync"

	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// Targets remembers where the last plan sends pods. A machine that pods are on
// their way to is not empty, although nothing runs there yet.
type Targets struct {
	mu      sync.Mutex
	made    bool // there was a plan
	pods    map[string][]world.Key
	evicted map[string][]world.Key // pods of former plans that may be ending on a machine that goes
}

// set takes over where a plan sends pods. made are the claims of its asks.
func (t *Targets) set(p plan.Plan, made map[string]string) {
	pods := map[string][]world.Key{}
	for _, a := range p.New {
		if name := made[a.Name]; name != "" {
			pods[name] = a.Pods
		}
	}
	for _, f := range p.Filled {
		for _, name := range []string{f.Node, f.Claim} {
			if name != "" {
				pods[name] = f.Pods
			}
		}
	}
	known := places(p, made)
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, before := range t.pods {
		for _, k := range before {
			if _, ok := known[k]; !ok && !slices.Contains(t.evicted[name], k) {
				if t.evicted == nil {
					t.evicted = map[string][]world.Key{}
				}
				t.evicted[name] = append(t.evicted[name], k)
			}
		}
	}
	t.pods, t.made = pods, true
}

// places are the node or claim that a plan sends each pod to. made are the claims of its asks.
func places(p plan.Plan, made map[string]string) map[world.Key]string {
	out := map[world.Key]string{}
	for _, a := range p.New {
		for _, k := range a.Pods {
			out[k] = made[a.Name]
		}
	}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			out[k] = cmp.Or(f.Node, f.Claim)
		}
	}
	return out
}

// Planned names the nodes and claims that pods of w are on their way to. It is
// false until the first plan: before that nothing is known to be unneeded.
func (t *Targets) Planned(w *world.World) ([]string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for name, pods := range t.pods {
		if slices.ContainsFunc(pods, func(k world.Key) bool {
			p := w.Pod(k)
			return p != nil && !p.Done && (p.Node == "" || leaving(w, p))
		}) {
			out = append(out, name)
		}
	}
	for name, pods := range t.evicted {
		if pods = slices.DeleteFunc(pods, func(k world.Key) bool { p := w.Pod(k); return p == nil || !p.Terminating || !leaving(w, p) }); len(pods) == 0 {
			delete(t.evicted, name)
			continue
		}
		t.evicted[name] = pods
		out = append(out, name)
	}
	slices.Sort(out)
	return slices.Compact(out), t.made || len(w.Waiting()) == 0
}

// leaving reports whether a pod has yet to leave a machine that is going. What
// it is planned for is kept as long as that takes, a budget that allows no
// eviction now included: it would have to be bought again. A pod that was evicted
// counts until it is gone: what is made in its place may not be there yet, or not
// be planned for.
func leaving(w *world.World, p *world.Pod) bool {
	m := w.Place(p.Node)
	return m != nil && m.Deleting() && p.DaemonSet == "" && !p.Static
}

// podsOf are the pods that the last plan sends to a claim.
func (t *Targets) podsOf(claim string) []world.Key {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pods[claim]
}
