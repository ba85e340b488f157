package peer

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	testclass "sigs.k8s.io/karpenter/pkg/test/v1alpha1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
)

// Consolidation is a cluster whose nodes the peer's own disruption methods give
// back, one command after another: emptiness, then multi-node, then single-node
// consolidation, as its controller takes them. What it decides is carried out as
// it was simulated: pods go where its scheduler put them, a replacement is the
// cheapest of the types that its claim names.
//
// It is favoured. Nothing waits: the validation after fifteen seconds, in which
// nothing would change here, is left out, nodes join at once, and the three
// minutes of single-node consolidation never end, since the clock stands still
// while it looks. The minute of multi-node consolidation is the library's and is one of the wall clock.
type Consolidation struct {
	Commands int
	Moved    int // pods

	p       *pass
	clock   *clock.FakeClock
	queue   *disruption.Queue
	cloud   *cloud
	methods []disruption.Method
	price   map[string]float64 // of nodes, by name
	pods    map[types.NamespacedName]*corev1.Pod
}

// NewConsolidation takes in a cluster in which nothing waits, of one pool, whose budget is the default of a tenth.
func NewConsolidation(in scenario.Input, catalog world.Catalog) (*Consolidation, error) {
	log.SetLogger(logr.Discard())
	known()
	c := &Consolidation{p: &pass{types: map[string][]*cloudprovider.InstanceType{}}, clock: clock.NewFakeClock(time.Unix(1<<30, 0)), price: map[string]float64{}, pods: map[types.NamespacedName]*corev1.Pod{}}
	c.cloud = &cloud{types: instanceTypes(catalog)}
	c.p.clock, c.p.cloud = c.clock, c.cloud
	if err := c.p.hold(in, catalog, Options{Workers: 1}); err != nil {
		return nil, err
	}
	for _, p := range in.Bound {
		c.pods[types.NamespacedName{Namespace: p.Namespace, Name: p.Name}] = p
	}
	for _, pool := range c.p.pools {
		managed(pool)
	}
	for _, n := range in.Nodes {
		price, ok := c.cloud.price(n.Labels)
		if !ok {
			return nil, fmt.Errorf("node %s: nothing like it is sold", n.Name)
		}
		c.price[n.Name] = price
	}
	provisioner := provisioning.NewProvisioner(c.p.client, silent{}, c.cloud, c.p.cluster, c.clock, nil, nil)
	c.queue = disruption.NewQueue(c.p.client, silent{}, c.p.cluster, c.clock, provisioner)
	base := disruption.MakeConsolidation(c.clock, c.p.cluster, c.p.client, provisioner, c.cloud, silent{}, c.queue)
	as := disruption.WithValidator(asSimulated{})
	c.methods = []disruption.Method{
		disruption.NewEmptiness(base, as), disruption.NewMultiNodeConsolidation(base, as), disruption.NewSingleNodeConsolidation(base, as),
	}
	return c, nil
}

// managed makes a pool one that the library takes for its own: of a class that it knows, ready, and consolidated at once.
func managed(pool *karpenter.NodePool) {
	pool.Spec.Template.Spec.NodeClassRef = &karpenter.NodeClassReference{Group: testclass.Group, Kind: "TestNodeClass", Name: "default"}
	pool.Spec.Disruption.ConsolidateAfter = karpenter.MustParseNillableDuration("0s")
	pool.Spec.Disruption.ConsolidationPolicy = karpenter.ConsolidationPolicyWhenEmptyOrUnderutilized
	pool.Spec.Disruption.Budgets = []karpenter.Budget{{Nodes: "10%"}}
	for _, t := range []string{karpenter.ConditionTypeValidationSucceeded, karpenter.ConditionTypeNodeClassReady, status.ConditionReady} {
		pool.StatusConditions().SetTrue(t)
	}
}

// Cost is what all nodes cost an hour.
func (c *Consolidation) Cost() float64 {
	sum := 0.0
	for name := range c.p.client.nodes {
		sum += c.price[name]
	}
	return sum
}

// Has reports whether there is such a node.
func (c *Consolidation) Has(node string) bool { return c.p.client.nodes[node] != nil }

// Step carries out what the first method that finds something decides, and
// reports whether there was one. It looks no longer than so much CPU time.
func (c *Consolidation) Step(limit time.Duration) (bool, error) {
	c.clock.Step(time.Second)
	ctx := capCPU(c.p.ctx, limit)
	defer ctx.end()
	for _, m := range c.methods {
		candidates, err := disruption.GetCandidates(ctx, c.p.cluster, c.p.client, silent{}, c.clock, c.cloud, m.ShouldDisrupt, m.Class(), c.queue)
		if err != nil || len(candidates) == 0 {
			if err != nil {
				return false, fmt.Errorf("candidates of %T: %w", m, err)
			}
			continue
		}
		budgets, err := disruption.BuildDisruptionBudgetMapping(ctx, c.p.cluster, c.clock, c.p.client, c.cloud, silent{}, m.Reason())
		if err != nil {
			return false, fmt.Errorf("budgets: %w", err)
		}
		commands, err := m.ComputeCommands(ctx, budgets, candidates...)
		if err != nil {
			return false, fmt.Errorf("%T: %w", m, err)
		}
		done := false
		for _, cmd := range commands {
			if cmd.Decision() == disruption.NoOpDecision {
				continue
			}
			if err := c.carry(cmd); err != nil {
				return false, err
			}
			done = true
		}
		if done {
			return true, nil
		}
	}
	return false, nil
}

// carry makes the cluster in which the command has been carried out.
func (c *Consolidation) carry(cmd disruption.Command) error {
	c.Commands++
	for _, r := range cmd.Replacements {
		name, err := c.join(r, cmd.Candidates[0])
		if err != nil {
			return err
		}
		if err := c.move(r.Pods, name); err != nil {
			return err
		}
	}
	for _, n := range cmd.Results.ExistingNodes {
		if err := c.move(n.Pods, n.Name()); err != nil {
			return err
		}
	}
	for _, x := range cmd.Candidates {
		if left := c.p.client.byNode[x.Node.Name]; len(left) > 0 {
			return fmt.Errorf("node %s goes while %s runs there", x.Node.Name, left[0].Name)
		}
		delete(c.p.client.nodes, x.Node.Name)
		c.p.cluster.DeleteNode(x.Node.Name)
		c.p.cluster.DeleteNodeClaim(x.NodeClaim.Name)
	}
	return nil
}

// move binds pods to a node.
func (c *Consolidation) move(pods []*corev1.Pod, node string) error {
	for _, copied := range pods {
		key := types.NamespacedName{Namespace: copied.Namespace, Name: copied.Name}
		p := c.pods[key]
		from := c.p.client.byNode[p.Spec.NodeName]
		c.p.client.byNode[p.Spec.NodeName] = slices.DeleteFunc(from, func(o *corev1.Pod) bool { return o == p })
		p.Spec.NodeName = node
		c.p.client.byNode[node] = append(c.p.client.byNode[node], p)
		if err := c.p.cluster.UpdatePod(c.p.ctx, p); err != nil {
			return fmt.Errorf("pod %s: %w", key, err)
		}
		c.Moved++
	}
	return nil
}

// join buys what the replacement's claim may launch at least cost, and has the node join.
func (c *Consolidation) join(r *disruption.Replacement, instead *disruption.Candidate) (string, error) {
	bought, at := cheapest(r, instead.Labels()[corev1.LabelTopologyZone])
	if at == nil {
		return "", fmt.Errorf("the replacement of %s can be bought nowhere", instead.Name())
	}
	name := "replacement-" + strconv.Itoa(c.Commands)
	labels := map[string]string{}
	for key, has := range bought.Requirements {
		if has.Operator() == corev1.NodeSelectorOpIn && has.Len() == 1 {
			labels[key] = has.Any()
		}
	}
	labels[corev1.LabelTopologyZone], labels[karpenter.CapacityTypeLabelKey], labels[corev1.LabelHostname] = at.Zone(), at.CapacityType(), name
	labels[karpenter.NodePoolLabelKey], labels[karpenter.NodeRegisteredLabelKey], labels[karpenter.NodeInitializedLabelKey] = r.NodePoolName, "true", "true"
	id := "aws:///" + at.Zone() + "/" + name
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Labels: labels}, Spec: corev1.NodeSpec{ProviderID: id}}
	node.Status.Capacity, node.Status.Allocatable = bought.Capacity, bought.Allocatable()
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	claim := &karpenter.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-" + name, UID: types.UID("claim-" + name), Labels: labels}, Spec: *r.Spec.DeepCopy()}
	claim.Status.ProviderID, claim.Status.NodeName = id, name
	claim.Status.Capacity, claim.Status.Allocatable = node.Status.Capacity, node.Status.Allocatable
	for _, t := range []string{karpv1.ConditionLaunched, karpv1.ConditionRegistered, karpv1.ConditionInitialized, karpv1.ConditionConsolidatable} {
		claim.StatusConditions().SetTrue(t)
	}
	c.p.client.nodes[name], c.price[name] = node, at.Price
	c.p.cluster.UpdateNodeClaim(claim)
	return name, c.p.cluster.UpdateNode(c.p.ctx, node)
}

// cheapest is the cheapest offering that a claim may launch, and its type; of
// those of one type at one price that in the zone.
func cheapest(r *disruption.Replacement, zone string) (of *cloudprovider.InstanceType, at *cloudprovider.Offering) {
	for _, t := range r.InstanceTypeOptions {
		for _, o := range t.Offerings.Available().Compatible(r.Requirements) {
			better := at == nil || o.Price < at.Price
			if !better && o.Price == at.Price {
				better = t.Name < of.Name || t.Name == of.Name && o.Zone() == zone
			}
			if better {
				of, at = t, o
			}
		}
	}
	return of, at
}

// asSimulated accepts every command: nothing happens between simulation and start.
type asSimulated struct{}

func (asSimulated) Validate(_ context.Context, cmd disruption.Command, _ time.Duration) (disruption.Command, error) {
	return cmd, nil
}

// cloud answers what the methods ask of a cloud, and nothing else.
type cloud struct {
	cloudprovider.CloudProvider // nil: a call that was not foreseen shows at once

	types []*cloudprovider.InstanceType
}

func (c *cloud) Name() string { return "bench" }

func (c *cloud) GetInstanceTypes(context.Context, *karpenter.NodePool) ([]*cloudprovider.InstanceType, error) {
	return c.types, nil
}

func (c *cloud) GetSupportedNodeClasses() []status.Object {
	return []status.Object{&testclass.TestNodeClass{}}
}

// price is what a node with these labels costs an hour.
func (c *cloud) price(labels map[string]string) (float64, bool) {
	for _, t := range c.types {
		if t.Name == labels[corev1.LabelInstanceTypeStable] {
			return t.OfferingPrice(labels[corev1.LabelTopologyZone], labels[karpenter.CapacityTypeLabelKey])
		}
	}
	return 0, false
}
