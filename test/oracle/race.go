package oracle

import (
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/money"
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
	Bound     money.Micro       // what any plan for them costs at least; 0: not known
	Closed    map[string]int64  // nodes that are to take no pods yet, and when they do at the latest; only in a race in which they join closed
	Again     int64             // when the planner wants to be asked again if nothing happens until then; 0: it does not
}

// Finish is how a race ended.
type Finish struct {
	First    Decision
	Machines int         // bought in all
	Cost     money.Micro // of all machines
	Idle     money.Micro // of those on which no pod runs in the end, which would be given back soon
	Placed   int         // pods of the first decision that have a place
	Stranded int         // pods that run on machines of later decisions, or nowhere although the first had a place for them
	Homeless int         // pods that run nowhere although the first decision had a place for them
}

// Planned is what the machines of the first decision cost.
func (f Finish) Planned() money.Micro {
	var sum money.Micro
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
	Together int   // machines that join at a time, long after those before them; 0: each in its own time
	Within   int64 // of how many seconds that is
	Closed   bool  // machines join closed to pods, and the planner says when they take them
	Log      func(format string, args ...any)

	dice   *rand.Rand
	coming []arrival       // bought and not there yet
	wake   int64           // when to look again although nothing joins
	late   map[string]bool // not of the first decision
	bought []Machine
	finish Finish
}

// arrival is a machine on its way, and when it joins.
type arrival struct {
	Machine
	at int64
}

// patience bounds how many machines a race may buy.
const patience = 2000

// Times of a race, in seconds.
const (
	start  = 1_800_000_000
	boot   = 30      // until a machine joins that was bought, at least
	moment = 1       // until it is decided again once something was bound
	long   = 3600    // between machines that do not join in their own time
	never  = 1 << 62 // later than anything
)

// Run plays the race: what the first decision buys joins, the default profile
// binds as it likes, and each time it is decided again, until nothing comes and
// nothing is bound any more.
func (r *Race) Run(seed uint64) (Finish, error) {
	r.Now, r.wake = start, never
	r.dice, r.late = rand.New(rand.NewPCG(seed, 3)), map[string]bool{}
	first, err := r.Planner.Plan(r.Cluster)
	if err != nil {
		return r.finish, err
	}
	r.finish.First = first
	r.buy(first)
	clear(r.late)
	for n := 0; r.next(); n++ {
		if n == patience {
			return r.finish, fmt.Errorf("after %d steps there is no end", n)
		}
		if err := r.step(); err != nil {
			return r.finish, err
		}
	}
	return r.count(), nil
}

// count says where pods are in the end.
func (r *Race) count() Finish {
	f := &r.finish
	busy := map[string]bool{}
	for i := range r.Pods {
		q := &r.Pods[i]
		if len(q.OwnerReferences) > 0 {
			continue // a daemon's
		}
		busy[q.Spec.NodeName] = true
		switch {
		case q.Spec.NodeName == "":
			f.Homeless++
		case r.late[q.Spec.NodeName]:
			f.Stranded++
		}
	}
	for _, m := range r.bought {
		if !busy[m.Name] {
			f.Idle += m.Price
		}
	}
	f.Homeless = max(f.Homeless-f.First.Refused, 0)
	f.Placed, f.Stranded = f.First.Waiting-f.First.Refused, f.Stranded+f.Homeless
	return *f
}

// buy orders what a decision asks for.
func (r *Race) buy(d Decision) {
	for _, m := range d.New {
		r.coming = append(r.coming, arrival{m, r.arrives()})
		r.late[m.Name] = true
		r.bought = append(r.bought, m)
		r.finish.Cost += m.Price
		r.finish.Machines++
	}
}

// arrives is when a machine joins that is bought now.
func (r *Race) arrives() int64 {
	if r.Together > 0 {
		return never - 1
	}
	return r.Now + boot + r.dice.Int64N(r.Within+1)
}

// next moves the clock on to when something happens; false if nothing does any more.
func (r *Race) next() bool {
	at := r.wake
	for _, m := range r.coming {
		at = min(at, m.at)
	}
	if at == never-1 {
		r.dice.Shuffle(len(r.coming), func(i, j int) { r.coming[i], r.coming[j] = r.coming[j], r.coming[i] })
		at = r.Now + long
		for i := range min(r.Together, len(r.coming)) {
			r.coming[i].at = at
		}
	}
	r.Now = max(r.Now, at)
	return at < never
}

// step has the machines join that are due, has it decided again, and lets pods be bound.
func (r *Race) step() error {
	r.coming = slices.DeleteFunc(r.coming, func(m arrival) bool {
		if m.at <= r.Now {
			r.land(m.Machine)
		}
		return m.at <= r.Now
	})
	d, err := r.Planner.Plan(r.Cluster)
	if err != nil {
		return err
	}
	r.buy(d)
	r.nominate(d)
	opened := r.open(d)
	bound, err := r.bind()
	if opened+bound > 0 {
		r.wake = min(r.wake, r.Now+moment)
	}
	if r.Log != nil {
		r.Log("%d s: %d opened, %d closed, %d nominated, %d bound, %d bought, %d coming", r.Now-start, opened, len(d.Closed), len(d.Nominated), bound, len(d.New), len(r.coming))
	}
	return err
}

// open has those of the closed machines take pods that are to, and returns how many.
func (r *Race) open(d Decision) int {
	r.wake = never
	if d.Again > 0 {
		r.wake = d.Again
	}
	opened := 0
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if until, stays := d.Closed[n.Name]; stays {
			r.wake = min(r.wake, until)
		} else if closed(n) {
			n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), isClosing)
			opened++
		}
	}
	return opened
}

func closed(n *corev1.Node) bool { return slices.ContainsFunc(n.Spec.Taints, isClosing) }

func isClosing(t corev1.Taint) bool { return t.Key == karpv1.TaintUnregistered }

// land has a machine join.
func (r *Race) land(m Machine) {
	n := r.Node(m)
	n.CreationTimestamp = metav1.Unix(r.Now, 0)
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if r.Closed {
		n.Spec.Taints = append(slices.Clone(n.Spec.Taints), corev1.Taint{Key: karpv1.TaintUnregistered, Effect: corev1.TaintEffectNoExecute})
	}
	r.Nodes = append(r.Nodes, n)
	r.Pods = append(r.Pods, r.DaemonPods(&n)...)
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
		Rest:       Rest{Bind: true, Seed: r.dice.Uint64()},
		Namespaces: r.Namespaces, Nodes: r.Nodes, Pods: r.Pods, PVCs: r.PVCs, PVs: r.PVs, Classes: r.Classes, CSINodes: r.CSINodes,
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
