package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/internal/observe"
)

// Planner decides what to buy for the pods of a cluster that wait. It knows its
// machines again by the names of their nodes.
type Planner interface {
	Plan(c *Cluster) (Decision, error)
}

// Decision is what a planner wants done.
type Decision struct {
	New       []Machine
	Nominated map[string]string // pods to nodes that are there
	Waiting   int               // pods that it decided about
	Refused   int               // of them
	Bound     int64             // what any plan for them costs at least; 0: not known
}

// Finish is how a race ended.
type Finish struct {
	First    Decision
	Machines int   // bought in all
	Cost     int64 // of all machines
	Placed   int   // pods of the first decision that have a place
	Stranded int   // pods that run on machines of later decisions, or nowhere although the first had a place for them
	Homeless int   // pods that run nowhere although the first decision had a place for them
}

// Planned is what the machines of the first decision cost.
func (f Finish) Planned() int64 {
	var sum int64
	for _, m := range f.First.New {
		sum += m.Price
	}
	return sum
}

// Race is a cluster whose machines join in a random order while kube-scheduler
// binds what waits.
type Race struct {
	*Cluster
	Planner  Planner
	Oracle   *Conversation
	Together int // machines that join at a time

	dice   *rand.Rand
	coming []Machine       // bought and not there yet
	late   map[string]bool // not of the first decision
	finish Finish
}

// patience bounds how many machines a race may buy.
const patience = 2000

// Run plays the race: what the first decision buys joins, the default profile
// binds as it likes, and each time it is decided anew, until nothing comes and
// nothing is bound any more.
func (r *Race) Run(seed uint64) (Finish, error) {
	r.dice, r.late = rand.New(rand.NewPCG(seed, 3)), map[string]bool{}
	first, err := r.Planner.Plan(r.Cluster)
	if err != nil {
		return r.finish, err
	}
	r.finish.First = first
	r.buy(first)
	clear(r.late)
	for n, bound := 0, 1; len(r.coming) > 0 || bound > 0; n++ {
		if n == patience {
			return r.finish, fmt.Errorf("%d machines joined and there is no end", n)
		}
		if bound, err = r.join(); err != nil {
			return r.finish, err
		}
	}
	return r.count(), nil
}

// count says where pods are in the end.
func (r *Race) count() Finish {
	f := &r.finish
	for i := range r.Pods {
		switch q := &r.Pods[i]; {
		case q.Spec.NodeName == "":
			f.Homeless++
		case r.late[q.Spec.NodeName] && len(q.OwnerReferences) == 0:
			f.Stranded++
		}
	}
	f.Homeless = max(f.Homeless-f.First.Refused, 0)
	f.Placed, f.Stranded = f.First.Waiting-f.First.Refused, f.Stranded+f.Homeless
	return *f
}

// buy orders what a decision asks for.
func (r *Race) buy(d Decision) {
	for _, m := range d.New {
		r.coming = append(r.coming, m)
		r.late[m.Name] = true
		r.finish.Cost += m.Price
		r.finish.Machines++
	}
}

// join has some machines join, has it decided anew, and lets pods be bound. It returns how many were.
func (r *Race) join() (int, error) {
	for range min(r.Together, len(r.coming)) {
		r.land()
	}
	d, err := r.Planner.Plan(r.Cluster)
	if err != nil {
		return 0, err
	}
	r.buy(d)
	r.nominate(d)
	return r.bind()
}

// land has one machine join.
func (r *Race) land() {
	i := r.dice.IntN(len(r.coming))
	m := r.coming[i]
	r.coming = slices.Delete(r.coming, i, i+1)
	n := r.Node(m)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	r.Nodes = append(r.Nodes, n)
	r.Pods = append(r.Pods, r.DaemonPods(m.Name)...)
}

// nominate nominates pods as the controller does.
func (r *Race) nominate(d Decision) {
	for i := range r.Pods {
		q := &r.Pods[i]
		q.Status.NominatedNodeName = d.Nominated[q.Namespace+"/"+q.Name]
		q.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: observe.FieldOwner, Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:nominatedNodeName":{}}}`),
		}}
	}
}

// bind lets kube-scheduler bind what it can, and returns how many pods that was.
func (r *Race) bind() (int, error) {
	v, err := r.Oracle.Ask(Question{
		Namespaces: r.Namespaces, Nodes: r.Nodes, Pods: r.Pods, PVCs: r.PVCs, PVs: r.PVs, Classes: r.Classes, CSINodes: r.CSINodes, Bind: true, Seed: r.dice.Uint64(),
	})
	if err != nil {
		return 0, err
	}
	for i := range r.Pods {
		if q := &r.Pods[i]; v.Bound[q.Namespace+"/"+q.Name] != "" {
			q.Spec.NodeName, q.Status.NominatedNodeName = v.Bound[q.Namespace+"/"+q.Name], ""
		}
	}
	return len(v.Bound), nil
}
