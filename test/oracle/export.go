package oracle

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// Question is a case as the oracle reads it.
type Question struct {
	Rest
	Namespaces []corev1.Namespace
	Nodes      []corev1.Node
	Pods       []corev1.Pod
	PVCs       []corev1.PersistentVolumeClaim
	PVs        []corev1.PersistentVolume
	Classes    []storagev1.StorageClass
	CSINodes   []storagev1.CSINode
	Empties    []corev1.Node
}

// Rest is what a question has beside objects.
type Rest struct {
	Name       string
	Placements map[string]string
	Refused    map[string][]string
	Bind       bool
	Seed       uint64
}

// written is a question as it is sent.
type written struct {
	Rest
	Lists map[string][]byte // of objects, by kind
}

// write writes the objects as Kubernetes' lists in protobuf.
func (q Question) write() (written, error) {
	out := written{q.Rest, map[string][]byte{}}
	for name, list := range map[string]interface{ Marshal() ([]byte, error) }{
		"namespaces": &corev1.NamespaceList{Items: q.Namespaces}, "nodes": &corev1.NodeList{Items: q.Nodes}, "empties": &corev1.NodeList{Items: q.Empties},
		"pods": &corev1.PodList{Items: q.Pods}, "pvcs": &corev1.PersistentVolumeClaimList{Items: q.PVCs}, "pvs": &corev1.PersistentVolumeList{Items: q.PVs},
		"classes": &storagev1.StorageClassList{Items: q.Classes}, "csiNodes": &storagev1.CSINodeList{Items: q.CSINodes},
	} {
		data, err := list.Marshal()
		if err != nil {
			return out, fmt.Errorf("list of %s: %w", name, err)
		}
		out.Lists[name] = data
	}
	return out, nil
}

// Verdict is the oracle's answer.
type Verdict struct {
	Name     string
	Error    string
	Placed   int
	Wrong    []string
	Possible []string
	Bound    map[string]string
}

// world reads the cluster as a controller would that has these claims.
func (c *Cluster) world(claims ...world.Claim) (*world.World, error) {
	b := world.NewBuilder()
	for i := range c.Namespaces {
		if err := b.SetNamespace(observe.Namespace(&c.Namespaces[i])); err != nil {
			return nil, err
		}
	}
	for i := range c.Nodes {
		if err := b.SetNode(observe.Node(&c.Nodes[i], c.csiOf(c.Nodes[i].Name))); err != nil {
			return nil, err
		}
	}
	for i := range c.Pods {
		if err := b.SetPod(c.bind(&c.Pods[i])); err != nil {
			return nil, err
		}
	}
	for i := range c.Daemons {
		d, _ := observe.DaemonSet(&c.Daemons[i])
		if err := b.SetDaemonSet(d); err != nil {
			return nil, err
		}
	}
	for i := range c.Pools {
		p := observe.NodePool(&c.Pools[i])
		p.Template, p.NotReady = class, ""
		if err := b.SetPool(p); err != nil {
			return nil, err
		}
	}
	for _, x := range claims {
		if err := b.SetClaim(x); err != nil {
			return nil, err
		}
	}
	for i := range c.machines {
		if err := b.SetClaim(c.machines[i].claim); err != nil {
			return nil, err
		}
	}
	if err := b.SetCatalog(c.Catalog); err != nil {
		return nil, err
	}
	return b.Snapshot(c.Now), nil
}

// ask writes the plan in Kubernetes' own objects.
func (c *Cluster) ask(name string, p plan.Plan) Question {
	var bought []Machine
	placed := map[string]string{}
	for _, a := range p.New {
		bought = append(bought, machine(a))
		for _, k := range a.Pods {
			placed[k.String()] = a.Name
		}
	}
	for _, f := range p.Filled {
		for _, k := range f.Pods {
			placed[k.String()] = cmp.Or(f.Node, f.Claim)
		}
	}
	q := c.Question(bought, placed)
	q.Name = name
	if c.late {
		for _, n := range c.Nodes {
			q.Pods = append(q.Pods, c.DaemonPods(&n)...)
		}
	}
	c.arrive(&q)
	if c.wide() {
		return q
	}
	var refused []string
	for _, r := range p.Refused {
		refused = append(refused, r.Pod.String())
	}
	c.Refuse(&q, refused)
	return q
}

// Question asks whether pods may be where they are placed, on machines that are bought or on nodes that are there.
func (c *Cluster) Question(bought []Machine, placed map[string]string) Question {
	q := Question{
		Rest:       Rest{Placements: placed, Refused: map[string][]string{}},
		Namespaces: c.Namespaces, Nodes: slices.Clone(c.Nodes), Pods: slices.Clone(c.Pods),
		PVCs: c.PVCs, PVs: c.PVs, Classes: c.Classes, CSINodes: c.CSINodes,
	}
	for _, m := range bought {
		n := c.Node(m)
		q.Nodes = append(q.Nodes, n)
		q.Pods = append(q.Pods, c.DaemonPods(&n)...)
	}
	return q
}

// Refuse asks of every refused pod whether it might have been on a node after
// all, or on a machine that might have been bought for it: of every pool without
// a limit, every type in every zone that sells it.
func (c *Cluster) Refuse(q *Question, refused []string) {
	if len(refused) == 0 {
		return
	}
	var names []string
	for i := range c.Pools {
		pool := observe.NodePool(&c.Pools[i])
		if len(pool.Limits) > 0 {
			continue
		}
		for _, s := range c.Catalog.Shapes {
			for _, o := range s.Offers {
				if !sells(pool, s, o) {
					continue
				}
				name := fmt.Sprintf("empty-%s-%s-%s", pool.ID.Name, s.Name, o.Zone)
				n := c.Node(Machine{Name: name, Pool: pool.ID.Name, Shape: s.Name, Zone: o.Zone, CapacityType: o.CapacityType})
				q.Empties, names = append(q.Empties, n), append(names, name)
				q.Pods = append(q.Pods, c.DaemonPods(&n)...)
			}
		}
	}
	for _, pod := range refused {
		q.Refused[pod] = names
	}
}

// sells reports whether the pool may buy the shape in the offer's zone.
func sells(p world.Pool, s world.Shape, o world.Offer) bool {
	for _, r := range p.Requirements {
		if r.Key == label.Zone && !r.Has(o.Zone) || r.Key == label.CapacityType && !r.Has(o.CapacityType) {
			return false
		}
		if has, ok := s.Labels.Find(r.Key); ok && !has.Meets(r) {
			return false
		}
	}
	return true
}

// Machine is one that is bought.
type Machine struct {
	Name, Pool, Shape, Zone, CapacityType string
	Price                                 money.Micro
}

// Node is what a machine becomes when it joins, with the daemons' room still free.
func (c *Cluster) Node(m Machine) corev1.Node {
	i := slices.IndexFunc(c.Pools, func(p karpv1.NodePool) bool { return p.Name == m.Pool })
	j := slices.IndexFunc(c.Catalog.Shapes, func(s world.Shape) bool { return s.Name == m.Shape })
	labels := map[string]string{}
	maps.Copy(labels, c.Pools[i].Spec.Template.Labels)
	for _, r := range c.Catalog.Shapes[j].Labels {
		if !r.Not && len(r.Values) == 1 {
			labels[r.Key] = r.Values[0]
		}
	}
	maps.Copy(labels, map[string]string{
		label.Hostname: m.Name, label.Zone: m.Zone, label.NodePool: m.Pool, label.Registered: "true", label.Initialized: "true", label.CapacityType: m.CapacityType,
	})
	n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: labels}}
	n.Spec.ProviderID = "machine://" + m.Name
	n.Spec.Taints = c.Pools[i].Spec.Template.Spec.Taints
	n.Status.Allocatable = observe.ResourceList(c.Catalog.Shapes[j].Allocatable())
	n.Status.Capacity = n.Status.Allocatable
	return n
}

// DaemonPods are the daemons' pods that run on a node.
func (c *Cluster) DaemonPods(n *corev1.Node) []corev1.Pod {
	var out []corev1.Pod
	for _, d := range c.Daemons {
		if !labels.SelectorFromSet(d.Spec.Template.Spec.NodeSelector).Matches(labels.Set(n.Labels)) {
			continue
		}
		p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: d.Name + "-" + n.Name, Namespace: d.Namespace, UID: types.UID("uid-" + d.Name + "-" + n.Name), Labels: d.Spec.Template.Labels}, Spec: d.Spec.Template.Spec}
		p.Spec.NodeName = n.Name
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "DaemonSet", Name: d.Name, Controller: new(bool)}}
		out = append(out, p)
	}
	return out
}
