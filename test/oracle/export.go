package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// question is a case as the oracle reads it.
type question struct {
	Name       string                         `json:"name"`
	Namespaces []corev1.Namespace             `json:"namespaces"`
	Nodes      []corev1.Node                  `json:"nodes"`
	Pods       []corev1.Pod                   `json:"pods"`
	PVCs       []corev1.PersistentVolumeClaim `json:"pvcs,omitempty"`
	PVs        []corev1.PersistentVolume      `json:"pvs,omitempty"`
	Classes    []storagev1.StorageClass       `json:"classes,omitempty"`
	CSINodes   []storagev1.CSINode            `json:"csiNodes,omitempty"`
	Placements map[string]string              `json:"placements"`
	Refused    map[string][]string            `json:"refused"`
	Empties    []corev1.Node                  `json:"empties"`
	Bind       bool                           `json:"bind,omitempty"`
	Seed       uint64                         `json:"seed,omitempty"`
}

// verdict is the oracle's answer.
type verdict struct {
	Name     string            `json:"name"`
	Error    string            `json:"error"`
	Placed   int               `json:"placed"`
	Wrong    []string          `json:"wrong"`
	Possible []string          `json:"possible"`
	Bound    map[string]string `json:"bound"`
}

// world reads the cluster as a controller would.
func (c *cluster) world() (*world.World, error) {
	b := world.NewBuilder()
	for i := range c.namespaces {
		if err := b.SetNamespace(observe.Namespace(&c.namespaces[i])); err != nil {
			return nil, err
		}
	}
	for i := range c.nodes {
		if err := b.SetNode(observe.Node(&c.nodes[i], c.csiOf(c.nodes[i].Name))); err != nil {
			return nil, err
		}
	}
	for i := range c.pods {
		if err := b.SetPod(c.bind(&c.pods[i])); err != nil {
			return nil, err
		}
	}
	for i := range c.daemons {
		d, _ := observe.DaemonSet(&c.daemons[i])
		if err := b.SetDaemonSet(d); err != nil {
			return nil, err
		}
	}
	for i := range c.pools {
		p := observe.NodePool(&c.pools[i])
		p.Template, p.NotReady = class, ""
		if err := b.SetPool(p); err != nil {
			return nil, err
		}
	}
	for i := range c.claims {
		if err := b.SetClaim(c.claims[i]); err != nil {
			return nil, err
		}
	}
	for i := range c.machines {
		if err := b.SetClaim(c.machines[i].claim); err != nil {
			return nil, err
		}
	}
	if err := b.SetCatalog(c.catalog); err != nil {
		return nil, err
	}
	return b.Snapshot(1_800_000_000), nil
}

// ask writes the plan in Kubernetes' own objects.
func (c *cluster) ask(name string, p plan.Plan) question {
	q := question{
		Name: name, Namespaces: c.namespaces, Nodes: slices.Clone(c.nodes), Pods: slices.Clone(c.pods),
		Placements: map[string]string{}, Refused: map[string][]string{},
		PVCs: c.pvcs, PVs: c.pvs, Classes: c.classes, CSINodes: c.csi,
	}
	if c.late {
		for _, n := range c.nodes {
			q.Pods = append(q.Pods, c.daemonPods(n.Name)...)
		}
	}
	for _, a := range p.New {
		q.Nodes = append(q.Nodes, c.planned(a.Name, a.Pool, a.Shape, a.Zone))
		q.Pods = append(q.Pods, c.daemonPods(a.Name)...)
		for _, k := range a.Pods {
			q.Placements[k.String()] = a.Name
		}
	}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			q.Placements[k.String()] = cmp.Or(f.Node, f.Claim)
		}
	}
	c.arrive(&q)
	if !c.wide() {
		c.refusals(&q, p)
	}
	return q
}

// refusals lists for every refused pod the machines that might have been bought
// for it: of every pool without a limit, every type in every zone that sells it.
func (c *cluster) refusals(q *question, p plan.Plan) {
	if len(p.Refused) == 0 {
		return
	}
	var names []string
	for i := range c.pools {
		pool := observe.NodePool(&c.pools[i])
		if len(pool.Limits) > 0 {
			continue
		}
		for _, s := range c.catalog.Shapes {
			for _, o := range s.Offers {
				if !sells(pool, s, o) {
					continue
				}
				name := fmt.Sprintf("empty-%s-%s-%s", pool.ID.Name, s.Name, o.Zone)
				n := c.planned(name, pool.ID, s.Name, o.Zone)
				for _, d := range c.daemons {
					n.Status.Allocatable = less(n.Status.Allocatable, d.Spec.Template.Spec.Containers[0].Resources.Requests)
				}
				q.Empties, names = append(q.Empties, n), append(names, name)
			}
		}
	}
	for _, r := range p.Refused {
		q.Refused[r.Pod.String()] = names
		if r.Why.Has(reason.Port) {
			q.Refused[r.Pod.String()] = nil // the daemons of an empty node are not pods here, so their ports look free
		}
	}
}

// sells reports whether the pool may buy the shape in the offer's zone.
func sells(p world.Pool, s world.Shape, o world.Offer) bool {
	for _, r := range p.Requirements {
		if r.Key == label.Zone && !r.Has(o.Zone) {
			return false
		}
		if has, ok := s.Labels.Find(r.Key); ok && !has.Meets(r) {
			return false
		}
	}
	return true
}

// planned is the node that an ask becomes, with the daemons' room still free.
func (c *cluster) planned(name string, pool world.PoolID, shape, zone string) corev1.Node {
	i := slices.IndexFunc(c.pools, func(p karpv1.NodePool) bool { return p.Name == pool.Name })
	j := slices.IndexFunc(c.catalog.Shapes, func(s world.Shape) bool { return s.Name == shape })
	labels := map[string]string{}
	maps.Copy(labels, c.pools[i].Spec.Template.Labels)
	for _, r := range c.catalog.Shapes[j].Labels {
		if !r.Not && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(labels, map[string]string{
		label.Hostname: name, label.Zone: zone, label.NodePool: pool.Name, label.Registered: "true", label.Initialized: "true", label.CapacityType: label.OnDemand,
	})
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	n.Spec.Taints = c.pools[i].Spec.Template.Spec.Taints
	n.Status.Allocatable = observe.ResourceList(c.catalog.Shapes[j].Allocatable())
	n.Status.Capacity = n.Status.Allocatable
	return n
}

// daemonPods are the daemons' pods that run on a node.
func (c *cluster) daemonPods(node string) []corev1.Pod {
	var out []corev1.Pod
	for _, d := range c.daemons {
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: d.Name + "-" + node, Namespace: d.Namespace, Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
		p.Spec.NodeName = node
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name, Controller: new(bool)}}
		out = append(out, p)
	}
	return out
}

func less(have, take corev1.ResourceList) corev1.ResourceList {
	left := observe.Amounts(have).Minus(observe.Amounts(take)).Minus(amount.Of(amount.Entry{Name: amount.Pods, Value: amount.Unit}))
	return observe.ResourceList(left.Floor())
}
