package peer

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/test/oracle"
)

// Planner is the peer in a race of machines. Every decision is a whole pass over
// what waits then. Claims of machines that have not joined are launched ones in
// its state, so pods that still wait for them are counted there, as in a cluster;
// those that have joined are its nodes.
type Planner struct {
	Options
	Every int64 // seconds from one pass to the next at least; none are between

	next   int64
	claims []*karpv1.NodeClaim
}

// Plan decides.
func (r *Planner) Plan(c *oracle.Cluster) (oracle.Decision, error) {
	in := r.input(c)
	if len(in.Pending) == 0 {
		return oracle.Decision{}, nil
	}
	if c.Now < r.next {
		return oracle.Decision{Again: r.next}, nil
	}
	r.next = c.Now + r.Every
	out, err := Run(in, c.Catalog, r.Options)
	switch {
	case err != nil:
		return oracle.Decision{}, err
	case out.CutOff:
		return oracle.Decision{}, errors.New("the pass was cut off")
	}
	d := oracle.Decision{Waiting: len(in.Pending), Refused: len(out.Refused)}
	for _, n := range out.New {
		m, err := r.buy(c, n)
		if err != nil {
			return oracle.Decision{}, err
		}
		d.New = append(d.New, m)
	}
	return d, nil
}

// input is the cluster as its API server would list it.
func (r *Planner) input(c *oracle.Cluster) scenario.Input {
	in := scenario.Input{Pools: pointers(c.Pools), DaemonSets: pointers(c.Daemons), Nodes: pointers(c.Nodes), Claims: r.claims}
	for _, n := range in.Nodes {
		i := slices.IndexFunc(r.claims, func(x *karpv1.NodeClaim) bool { return x.Name == n.Name })
		if i >= 0 && r.claims[i].Status.NodeName == "" {
			r.claims[i].Status.NodeName = n.Name
			is(r.claims[i], karpv1.ConditionRegistered, karpv1.ConditionInitialized)
		}
	}
	for _, p := range pointers(c.Pods) {
		if p.Spec.NodeName != "" {
			in.Bound = append(in.Bound, p)
		} else {
			in.Pending = append(in.Pending, p)
		}
	}
	return in
}

// buy launches what a claim of the peer asks for, and keeps the claim.
func (r *Planner) buy(c *oracle.Cluster, n outcome.Node) (oracle.Machine, error) {
	m := oracle.Machine{Name: fmt.Sprintf("claim-%04d", len(r.claims)), Pool: n.Pool, Shape: n.Type, Zone: n.Zone, CapacityType: n.CapacityType}
	s := slices.IndexFunc(c.Catalog.Shapes, func(s world.Shape) bool { return s.Name == n.Type })
	if s < 0 {
		return m, fmt.Errorf("a claim may launch no type that is sold: %v", n)
	}
	for _, o := range c.Catalog.Shapes[s].Offers {
		if o.Zone == n.Zone && o.CapacityType == n.CapacityType {
			m.Price = o.Price
		}
	}
	node := c.Node(m)
	labels := node.Labels
	for _, l := range []string{corev1.LabelHostname, karpv1.LabelRegistered, karpv1.LabelInitialized} {
		delete(labels, l)
	}
	pool := c.Pools[slices.IndexFunc(c.Pools, func(p karpv1.NodePool) bool { return p.Name == m.Pool })]
	claim := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: m.Name, UID: types.UID("uid-" + m.Name), Labels: labels}}
	claim.Spec.NodeClassRef, claim.Spec.Requirements, claim.Spec.Taints = pool.Spec.Template.Spec.NodeClassRef, pool.Spec.Template.Spec.Requirements, node.Spec.Taints
	claim.Status.ProviderID = node.Spec.ProviderID
	claim.Status.Capacity, claim.Status.Allocatable = observe.ResourceList(c.Catalog.Shapes[s].Capacity), node.Status.Allocatable
	is(claim, karpv1.ConditionLaunched)
	r.claims = append(r.claims, claim)
	return m, nil
}

// is sets conditions of a claim.
func is(c *karpv1.NodeClaim, conditions ...string) {
	for _, t := range conditions {
		c.Status.Conditions = append(c.Status.Conditions, metav1.Condition{Type: t, Status: metav1.ConditionTrue, Reason: t})
	}
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}
