// Package peer puts a world through Karpenter's own scheduler, used as a library.
//
// The pass is what its provisioner does: nodes are copied, topology counted, a
// scheduler built and run. Its provisioner then sorts the types of every claim by
// price, to cut them to as many as a launch may name; that is left out, since it
// takes time and no claim here has so many. What a claim costs is the cheapest
// offering among those it may launch.
package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/utils/nodepool"

	"github.com/tenon-sh/tenon/bench/measure"
	"github.com/tenon-sh/tenon/bench/outcome"
	"github.com/tenon-sh/tenon/bench/scenario"
	"github.com/tenon-sh/tenon/engine/world"
)

// Side is the name of this side; Version is of the library.
const (
	Side    = "karpenter"
	Version = "v1.14.1"
)

// silent drops events.
type silent struct{}

func (silent) Publish(...events.Event) {}

// Options are what a caller may choose.
type Options struct {
	Workers           int           // that look at open claims side by side; the chart's one CPU makes it one
	Cap               time.Duration // CPU time after which the pass is ended, as its deadline would
	IgnorePreferences bool
}

// pass is what a scheduling pass stands on.
type pass struct {
	ctx     context.Context
	client  *memory
	cluster *state.Cluster
	pools   []*karpenter.NodePool
	types   map[string][]*cloudprovider.InstanceType
	daemons []*corev1.Pod
	choices []scheduling.Options
	clock   clock.Clock                 // nil: the machine's
	cloud   cloudprovider.CloudProvider // nil: a pass asks none
}

// Run decides.
func Run(in scenario.Input, catalog world.Catalog, o Options) (outcome.Outcome, error) {
	log.SetLogger(logr.Discard())
	known()
	out := outcome.Outcome{Side: Side, InputMiB: measure.PeakMiB(), Refused: map[string]string{}}
	p := &pass{types: map[string][]*cloudprovider.InstanceType{}}
	var err error
	out.Hold = measure.Of(func() { err = p.hold(in, catalog, o) })
	if err != nil {
		return out, err
	}
	var results scheduling.Results
	out.Decide = measure.Of(func() {
		deadline := capCPU(p.ctx, o.Cap)
		defer deadline.end()
		results, err = p.solve(deadline, in.Pending)
	})
	if out.CutOff = errors.Is(err, context.DeadlineExceeded); err != nil && !out.CutOff {
		return out, err
	}
	out.PeakMiB = measure.PeakMiB()
	fill(results, &out)
	out.Undecided = len(in.Pending) - out.Placed() - len(out.Refused)
	return out, nil
}

// hold takes in all but the pods that wait.
func (p *pass) hold(in scenario.Input, catalog world.Catalog, o Options) (err error) {
	settings := &options.Options{CPURequests: 1000, PreferencePolicy: options.PreferencePolicyRespect, MinValuesPolicy: options.MinValuesPolicyStrict, IgnoreDRARequests: true, FeatureGates: options.DefaultFeatureGates()}
	p.ctx = options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), settings)
	p.choices = []scheduling.Options{
		scheduling.DisableReservedCapacityFallback, scheduling.NumConcurrentReconciles(o.Workers), scheduling.MinValuesPolicy(settings.MinValuesPolicy),
	}
	if o.IgnorePreferences {
		p.choices = append(p.choices, scheduling.IgnorePreferences)
	}
	if p.pools, err = recastAll[karpenter.NodePool](in.Pools); err != nil {
		return err
	}
	nodepool.OrderByWeight(p.pools) // as its provisioner does
	types := instanceTypes(catalog)
	for _, pool := range p.pools {
		p.types[pool.Name] = types
	}
	for _, d := range in.DaemonSets {
		p.daemons = append(p.daemons, &corev1.Pod{ObjectMeta: d.Spec.Template.ObjectMeta, Spec: d.Spec.Template.Spec})
	}
	claims, err := recastAll[karpenter.NodeClaim](in.Claims)
	if err != nil {
		return err
	}
	p.client = newMemory(in.Nodes, in.Bound, in.Pending)
	p.client.pools = p.pools
	p.cluster = state.NewCluster(cmp.Or[clock.Clock](p.clock, clock.RealClock{}), p.client, p.cloud)
	for _, c := range claims {
		p.cluster.UpdateNodeClaim(c)
	}
	for _, n := range in.Nodes {
		if err := p.cluster.UpdateNode(p.ctx, n); err != nil {
			return fmt.Errorf("node %s: %w", n.Name, err)
		}
	}
	for _, pod := range in.Bound {
		if err := p.cluster.UpdatePod(p.ctx, pod); err != nil {
			return fmt.Errorf("pod %s: %w", pod.Name, err)
		}
	}
	return nil
}

// solve is one scheduling pass.
func (p *pass) solve(ctx context.Context, pods []*corev1.Pod) (scheduling.Results, error) {
	nodes := p.cluster.DeepCopyNodes().Active()
	topology, err := scheduling.NewTopology(ctx, p.client, p.cluster, nodes, p.pools, p.types, pods, p.choices...)
	if err != nil {
		return scheduling.Results{}, fmt.Errorf("count topology: %w", err)
	}
	s := scheduling.NewScheduler(ctx, p.client, p.pools, p.cluster, nodes, topology, p.types, p.daemons, silent{}, clock.RealClock{}, nil, nil, p.choices...)
	return s.Solve(ctx, pods)
}

// fill puts the results into the common form.
func fill(r scheduling.Results, out *outcome.Outcome) {
	zones := make([][]string, len(r.NewNodeClaims))
	for i, claim := range r.NewNodeClaims {
		n := outcome.Node{Pool: claim.NodePoolName, Price: math.Inf(1), Pods: names(claim.Pods)}
		for _, t := range claim.InstanceTypeOptions {
			for _, o := range t.Offerings.Available().Compatible(claim.Requirements) {
				if o.Price < n.Price || o.Price == n.Price && t.Name < n.Type {
					n.Price, n.Type, n.CapacityType, zones[i] = o.Price, t.Name, o.CapacityType(), nil
				}
				if o.Price == n.Price && t.Name == n.Type {
					zones[i] = append(zones[i], o.Zone())
				}
			}
		}
		slices.Sort(zones[i])
		out.New = append(out.New, n)
	}
	settle(r.NewNodeClaims, zones, out.New)
	for _, n := range r.ExistingNodes {
		if len(n.Pods) > 0 {
			out.Fills = append(out.Fills, outcome.Fill{Node: n.Name(), Pods: names(n.Pods)})
		}
	}
	for pod, err := range r.PodErrors {
		out.Refused[pod.Namespace+"/"+pod.Name] = err.Error()
	}
}

// settle gives every node a zone. A claim may leave it open; the launch, which
// decides, is taken to hit the zone where most pods are that the claim's own
// want to be with, those of claims before it among them.
func settle(claims []*scheduling.NodeClaim, zones [][]string, nodes []outcome.Node) {
	there := map[string]int{} // pods by application and zone
	count := func(i int) {
		for _, p := range claims[i].Pods {
			there[p.Labels["app"]+" "+nodes[i].Zone]++
		}
	}
	for i := range claims {
		if len(zones[i]) == 1 {
			nodes[i].Zone = zones[i][0]
			count(i)
		}
	}
	for i, claim := range claims {
		if nodes[i].Zone != "" {
			continue
		}
		best := -1
		for _, zone := range zones[i] {
			score := 0
			for _, p := range claim.Pods {
				if p.Spec.Affinity != nil && p.Spec.Affinity.PodAffinity != nil {
					score += there[p.Labels["app"]+" "+zone]
				}
			}
			if score > best {
				best, nodes[i].Zone = score, zone
			}
		}
		count(i)
	}
}

func names(pods []*corev1.Pod) []string {
	out := make([]string, len(pods))
	for i, p := range pods {
		out[i] = p.Namespace + "/" + p.Name
	}
	return out
}
