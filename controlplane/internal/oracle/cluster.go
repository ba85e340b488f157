package oracle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodename"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// asked are the plugins of the default profile that decide where a pod may go
// or would rather go, with their weights there.
func asked() []config.Plugin {
	return []config.Plugin{
		{Name: queuesort.Name},
		{Name: nodeunschedulable.Name},
		{Name: nodename.Name},
		{Name: tainttoleration.Name, Weight: 3},
		{Name: nodeaffinity.Name, Weight: 2},
		{Name: nodeports.Name},
		{Name: noderesources.Name, Weight: 1},
		{Name: volumerestrictions.Name},
		{Name: nodevolumelimits.CSIName},
		{Name: volumebinding.Name},
		{Name: volumezone.Name},
		{Name: podtopologyspread.Name, Weight: 2},
		{Name: interpodaffinity.Name, Weight: 2},
		{Name: noderesources.BalancedAllocationName, Weight: 1},
		{Name: imagelocality.Name, Weight: 1},
		{Name: defaultbinder.Name},
	}
}

// cluster is the machines of a case and what runs on them, as the plugins see it.
type cluster struct {
	framework framework.Framework
	nodes     map[string]*framework.NodeInfo
	order     []string // names, sorted
	promised  nominations
	shelves   shelves
}

func newCluster(ctx context.Context) (*cluster, error) {
	metrics.Register()
	cl := &cluster{nodes: map[string]*framework.NodeInfo{}, promised: nominations{}}
	client := fake.NewClientset() // is asked nothing
	factory := informers.NewSharedInformerFactory(client, 0)
	cl.shelves = newShelves(factory)
	defaults, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("default configuration: %w", err)
	}
	profile := defaults.Profiles[0]
	profile.Plugins = &config.Plugins{MultiPoint: config.PluginSet{Enabled: asked()}}
	cl.framework, err = frameworkruntime.NewFramework(ctx, plugins.NewInTreeRegistry(), &profile,
		frameworkruntime.WithClientSet(client), frameworkruntime.WithInformerFactory(factory), frameworkruntime.WithSnapshotSharedLister(cl),
		frameworkruntime.WithPodNominator(cl.promised),
		frameworkruntime.WithSharedCSIManager(nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())),
		frameworkruntime.WithParallelism(1), frameworkruntime.WithLogger(klog.Background()),
	)
	if err != nil {
		return nil, fmt.Errorf("build framework: %w", err)
	}
	return cl, nil
}

// reset leaves nothing of the last case, and shelves what the next one has.
func (cl *cluster) reset(c Case) error {
	clear(cl.nodes)
	clear(cl.promised)
	cl.order = cl.order[:0]
	return cl.shelves.set(c)
}

// add puts a machine into the cluster.
func (cl *cluster) add(n *corev1.Node) {
	info := framework.NewNodeInfo()
	info.SetNode(n)
	cl.nodes[n.Name] = info
	i, _ := slices.BinarySearch(cl.order, n.Name)
	cl.order = slices.Insert(cl.order, i, n.Name)
}

func (cl *cluster) remove(name string) {
	delete(cl.nodes, name)
	cl.order = slices.DeleteFunc(cl.order, func(n string) bool { return n == name })
}

// bind puts a pod on a machine.
func (cl *cluster) bind(p *corev1.Pod, node string) error {
	bound := *p
	bound.Spec.NodeName = node
	info, err := framework.NewPodInfo(&bound)
	if err != nil {
		return fmt.Errorf("pod %s: %w", key(p), err)
	}
	cl.nodes[node].AddPodInfo(info)
	cl.promised.DeleteNominatedPodIfExists(p)
	return nil
}

// question is a pod on its way through the filters.
type question struct {
	cl       *cluster
	pod      *corev1.Pod
	state    fwk.CycleState
	only     *fwk.PreFilterResult
	anywhere *fwk.Status // why no machine can take it, whichever
}

func (cl *cluster) ask(ctx context.Context, p *corev1.Pod) question {
	q := question{cl: cl, pod: p, state: framework.NewCycleState()}
	only, status, _ := cl.framework.RunPreFilterPlugins(ctx, q.state, p)
	q.only = only
	if !status.IsSuccess() {
		q.anywhere = status
	}
	return q
}

// on returns why the machine cannot take the pod; empty if it can.
func (q question) on(ctx context.Context, node string) string {
	if q.anywhere != nil {
		return q.anywhere.Message()
	}
	info, ok := q.cl.nodes[node]
	if !ok {
		return "there is no such node"
	}
	if q.only != nil && !q.only.AllNodes() && !q.only.NodeNames.Has(node) {
		return "the pod names other nodes"
	}
	status := q.cl.framework.RunFilterPluginsWithNominatedPods(ctx, q.state, q.pod, info)
	if status.IsSuccess() {
		return ""
	}
	return status.Plugin() + ": " + status.Message()
}

// best returns the machine that the default profile prefers for the pod; empty
// if none can take it. The one it is nominated for comes first. Among equals choose decides.
func (q question) best(ctx context.Context, choose func(n int) int) (string, error) {
	if at := q.pod.Status.NominatedNodeName; at != "" && q.cl.nodes[at] != nil && q.on(ctx, at) == "" {
		return at, nil
	}
	var feasible []fwk.NodeInfo
	for _, name := range q.cl.order {
		if q.on(ctx, name) == "" {
			feasible = append(feasible, q.cl.nodes[name])
		}
	}
	if len(feasible) < 2 {
		if len(feasible) == 0 {
			return "", nil
		}
		return feasible[0].Node().Name, nil
	}
	if status := q.cl.framework.RunPreScorePlugins(ctx, q.state, q.pod, feasible); !status.IsSuccess() {
		return "", status.AsError()
	}
	scores, status := q.cl.framework.RunScorePlugins(ctx, q.state, q.pod, feasible)
	if !status.IsSuccess() {
		return "", status.AsError()
	}
	top := slices.MaxFunc(scores, func(a, b fwk.NodePluginScores) int { return cmp.Compare(a.TotalScore, b.TotalScore) })
	scores = slices.DeleteFunc(scores, func(s fwk.NodePluginScores) bool { return s.TotalScore != top.TotalScore })
	return scores[choose(len(scores))].Name, nil
}

func key(p *corev1.Pod) string { return p.Namespace + "/" + p.Name }
