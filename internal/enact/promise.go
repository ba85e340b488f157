package enact

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/engine/nominate"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/parallel"
)

// atOnce is how many promises one plan may change in any case: as many as the client sends in
// one burst, so that the next plan is not kept waiting. Where making the plan took longer than
// that, promises are made for as long again: the next one takes as long, and with tens of
// thousands of promises most of the time would be spent on plans. The rest is due right after.
const atOnce = 300

// rest are the promises of the last plan that are left to make.
type rest struct {
	mu  sync.Mutex
	due []promise
}

func (r *rest) set(due []promise) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.due = due
}

// take returns the next of them.
func (r *rest) take() []promise {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.due), atOnce)
	out := r.due[:n]
	r.due = r.due[n:]
	return out
}

// Left reports whether the last plan has promises that are left to make.
func (e *Enactor) Left() bool {
	e.rest.mu.Lock()
	defer e.rest.mu.Unlock()
	return len(e.rest.due) > 0
}

// Rest makes the next promises that the last plan left. Machines that join one after the other put off the
// next plan for seconds, and without it each plan of a large cluster would make its few hundred only.
func (e *Enactor) Rest(ctx context.Context) { e.write(ctx, e.rest.take()) }

// promise is a node that a pod shall be nominated for; none takes back what was promised.
type promise struct {
	pod  *world.Pod
	node string
}

// Promise nominates pods for the nodes that the plan sends them to, so that
// kube-scheduler follows it, and takes back what the plan no longer says. Where
// another scheduler has nominated a pod nothing is changed. took is how long it took
// to make the plan. It returns when to look at the pods again although nothing
// happens; zero for no need.
func (e *Enactor) Promise(ctx context.Context, w *world.World, p plan.Plan, took time.Duration) time.Duration {
	e.rest.set(nil)
	c := nominate.NewPodCounts(w)
	due := promises(c, p)
	if !e.Promises {
		due = slices.DeleteFunc(due, func(p promise) bool { return p.node != "" })
	}
	for until := e.Now().Add(took); len(due) > 0; {
		n := min(len(due), atOnce)
		e.write(ctx, due[:n])
		if due = due[n:]; len(due) > 0 && (ctx.Err() != nil || !e.Now().Before(until)) {
			e.rest.set(due)
			return time.Second
		}
	}
	if !e.Promises {
		return 0
	}
	return e.remind(ctx, c, p)
}

// Joined nominates the pods that the last plan sends to a claim for the node that it has become.
func (e *Enactor) Joined(ctx context.Context, claim, node string) {
	if !e.Promises {
		return
	}
	if pods := e.Targets.podsOf(claim); len(pods) > 0 {
		e.write(ctx, e.promises(pods, node))
	}
}

// promises are the nominations that the plan changes: first those for machines
// that have only just joined, where pods would otherwise come in any order.
func promises(c *nominate.PodCounts, p plan.Plan) []promise {
	w := c.World()
	at := map[world.Key]string{}
	var fresh, other, back []promise
	for _, x := range c.Promises(standing(w, p.Filled)) {
		at[x.Pod.Key] = x.Node
		switch m := w.Place(x.Node); {
		case x.Pod.Nominated == x.Node:
		case m.Claim != nil && !m.Claim.Initialized:
			fresh = append(fresh, promise{x.Pod, x.Node})
		default:
			other = append(other, promise{x.Pod, x.Node})
		}
	}
	for _, pod := range w.Waiting() {
		if m := w.Place(pod.Nominated); m != nil && nominate.Closed(m) {
			continue // it opens this moment
		}
		if pod.Promised && at[pod.Key] == "" {
			back = append(back, promise{pod: pod})
		}
	}
	return slices.Concat(back, fresh, other)
}

// promisable are those of a node's pods that can be nominated for it, or are.
func promisable(c *nominate.PodCounts, keys []world.Key, node string) []*world.Pod {
	var out []*world.Pod
	for _, x := range c.Promises([]plan.Fill{{Node: node, Pods: keys}}) {
		out = append(out, x.Pod)
	}
	return out
}

// standing are the fills whose node is there, takes pods and stays. A pod that is sent to one that takes none yet is nominated when it does.
func standing(w *world.World, fills []plan.Fill) []plan.Fill {
	return slices.DeleteFunc(slices.Clone(fills), func(f plan.Fill) bool {
		m := w.Place(f.Node)
		return m == nil || m.Node == nil || m.Deleting() || nominate.Closed(m)
	})
}

func (e *Enactor) write(ctx context.Context, due []promise) {
	parallel.Do(parallel.Writes, due, func(_ int, p promise) {
		e.teller().Do(where, func() { e.promise(ctx, p) }, "Pod", p.pod.String())
	})
}

func (e *Enactor) promise(ctx context.Context, p promise) {
	err := e.nominatePod(ctx, p)
	switch {
	case err == nil, apierrors.IsNotFound(err), apierrors.IsConflict(err): // it is gone, another now, or nominated by another
	case apierrors.IsInvalid(err): // it was bound meanwhile
		e.Log.V(1).Info("the pod is not nominated", "Pod", p.pod.String(), "why", err.Error())
	default:
		e.Log.Error(err, "nominate a pod for a node", "Pod", p.pod.String(), "Node", cmp.Or(p.node, "none"))
	}
}

// nominatePod writes the one field. As an apply it owns that field alone, and
// is refused where it would take it from another.
func (e *Enactor) nominatePod(ctx context.Context, p promise) error {
	status := map[string]string{}
	if p.node != "" {
		status["nominatedNodeName"] = p.node
	}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]string{"namespace": p.pod.Namespace, "name": p.pod.Name, "uid": p.pod.UID},
		"status":   status,
	})
	if err != nil {
		return err
	}
	return e.Client.Status().Patch(ctx, podRef(p.pod), client.RawPatch(types.ApplyPatchType, body), client.FieldOwner(observe.FieldOwner))
}
