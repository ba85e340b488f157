package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// What a plan is worth shows when its pods are bound: nodes join one by one, the
// default profile binds as it likes, and after each node it is decided anew, as
// the controller does. All machines bought in the end are compared with the
// least that any plan costs, and pods that did not find their place on those of
// the first plan are counted.
func TestCostAfterBinding(t *testing.T) {
	oracle := converse(t)
	var pods, nodes, stranded int
	var before, after []float64
	for seed := *first; seed < *first+uint64(*races); seed++ { //nolint:gosec // a small number
		c := settle(seed, *size)
		if *hostile {
			c = generate(seed).standing()
		}
		r := race{cluster: c, oracle: oracle, Rand: rand.New(rand.NewPCG(seed, 3)), late: map[string]bool{}}
		p, err := r.run()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if r.homeless > 0 && !*hostile {
			t.Errorf("seed %d: %d pods have no node in the end", seed, r.homeless)
		}
		pods, nodes = pods+r.placed, nodes+len(p.New)
		stranded += r.stranded
		if p.Bound > 0 {
			before = append(before, float64(p.Cost)/float64(p.Bound))
			after = append(after, float64(r.cost)/float64(p.Bound))
		}
	}
	if len(after) == 0 {
		t.Fatal("nothing was bought")
	}
	slices.Sort(before)
	slices.Sort(after)
	n := len(after)
	t.Logf("%d clusters, %d pods, %d nodes planned, nominated %v, joining by %d: %.2f %% stranded; cost / bound planned %.3f, worst %.3f; after binding %.3f, worst %.3f",
		*races, pods, nodes, *nominate, *together, 100*float64(stranded)/float64(pods), before[n/2], before[n-1], after[n/2], after[n-1])
}

// race is a cluster whose nodes join one by one in a random order.
type race struct {
	*cluster
	*rand.Rand
	oracle   *conversation
	coming   []plan.Ask      // bought and not there yet
	late     map[string]bool // not of the first plan
	cost     int64
	placed   int
	stranded int // pods that run on late machines, or nowhere although the first plan had a place
	homeless int // pods that run nowhere although the first plan had a place
}

// patience bounds how many machines a race may buy.
const patience = 2000

// run plays the race and returns the first plan.
func (r *race) run() (plan.Plan, error) {
	w, err := r.world()
	if err != nil {
		return plan.Plan{}, err
	}
	p := provision.Decide(w, provision.Options{Nominated: *nominate})
	r.buy(p)
	clear(r.late)
	for n, bound := 0, 1; len(r.coming) > 0 || bound > 0; n++ {
		if n == patience {
			return p, fmt.Errorf("%d machines joined and there is no end", n)
		}
		if bound, err = r.join(); err != nil {
			return p, err
		}
	}
	for i := range r.pods {
		switch q := &r.pods[i]; {
		case q.Spec.NodeName == "":
			r.homeless++
		case r.late[q.Spec.NodeName] && len(q.OwnerReferences) == 0:
			r.stranded++
		}
	}
	r.homeless = max(r.homeless-len(p.Refused), 0)
	r.placed, r.stranded = p.Waiting-len(p.Refused), r.stranded+r.homeless
	return p, nil
}

// buy orders what a plan asks for.
func (r *race) buy(p plan.Plan) {
	for _, a := range p.New {
		r.coming = append(r.coming, a)
		r.claims = append(r.claims, r.claim(a))
		r.late[a.Name] = true
		r.cost += a.Price
	}
}

// claim is what an ask becomes when its machine is started as planned.
func (r *race) claim(a plan.Ask) world.Claim {
	n := r.planned(a.Name, a.Pool, a.Shape, a.Zone)
	i := slices.IndexFunc(r.catalog.Shapes, func(s world.Shape) bool { return s.Name == a.Shape })
	labels := maps.Clone(n.Labels)
	delete(labels, label.Hostname)
	return world.Claim{
		Name: a.Name, Pool: a.Pool, Template: a.Template, Labels: labels, Requirements: a.Requirements, Taints: a.Taints, Requests: a.Requests, Booked: a.Booked,
		Launched: true, Capacity: r.catalog.Shapes[i].Capacity, Allocatable: r.catalog.Shapes[i].Allocatable(), Pods: a.Pods, ProviderID: "machine://" + a.Name,
	}
}

// join has some machines join, decides anew, and lets pods be bound. It returns how many were.
func (r *race) join() (int, error) {
	for range min(*together, len(r.coming)) {
		r.land()
	}
	w, err := r.world()
	if err != nil {
		return 0, err
	}
	p := provision.Decide(w, provision.Options{Nominated: *nominate})
	r.buy(p)
	r.remember(w, p)
	return r.bind()
}

// bind lets kube-scheduler bind what it can, and returns how many pods that was.
func (r *race) bind() (int, error) {
	v, err := r.oracle.ask(question{
		Namespaces: r.namespaces, Nodes: r.nodes, Pods: r.pods, PVCs: r.pvcs, PVs: r.pvs, Classes: r.classes, CSINodes: r.csi, Bind: true, Seed: r.Uint64(),
	})
	if err != nil {
		return 0, err
	}
	for i := range r.pods {
		if q := &r.pods[i]; v.Bound[q.Namespace+"/"+q.Name] != "" {
			q.Spec.NodeName, q.Status.NominatedNodeName = v.Bound[q.Namespace+"/"+q.Name], ""
		}
	}
	return len(v.Bound), nil
}

// land has one machine join.
func (r *race) land() {
	i := r.IntN(len(r.coming))
	a := r.coming[i]
	r.coming = slices.Delete(r.coming, i, i+1)
	n := r.planned(a.Name, a.Pool, a.Shape, a.Zone)
	n.Spec.ProviderID = "machine://" + a.Name
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	r.nodes = append(r.nodes, n)
	j := slices.IndexFunc(r.claims, func(c world.Claim) bool { return c.Name == a.Name })
	r.claims[j].Node, r.claims[j].Registered, r.claims[j].Initialized = a.Name, true, true
	r.pods = append(r.pods, r.daemonPods(a.Name)...)
}

// remember has claims tell of their pods, and nominates pods as the controller does.
func (r *race) remember(w *world.World, p plan.Plan) {
	at := map[world.Key]string{}
	for i := range r.claims {
		r.claims[i].Pods = nil
	}
	for _, f := range p.Filled {
		for i := range r.claims {
			if r.claims[i].Name == f.Claim {
				r.claims[i].Pods = f.Pods
			}
		}
	}
	if *nominate {
		fills := slices.DeleteFunc(slices.Clone(p.Filled), func(f plan.Fill) bool { return f.Node == "" })
		for _, x := range plan.Promises(w, fills) {
			at[x.Pod.Key] = x.Node
		}
	}
	for i := range r.pods {
		q := &r.pods[i]
		q.Status.NominatedNodeName = at[world.Key{Namespace: q.Namespace, Name: q.Name}]
		q.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: observe.FieldOwner, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:nominatedNodeName":{}}}`),
		}}
	}
}
