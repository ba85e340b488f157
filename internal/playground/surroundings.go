package playground

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Surroundings are what a cluster has beside what Tenon makes, as EKS would have made it. What is there already from an
// earlier start is not made again.
type Surroundings struct {
	Managed map[string]int // machines of a managed node group, by their type
	Fargate int            // nodes of Fargate: one pod each, and a taint that keeps others away
	Daemons bool           // aws-node and kube-proxy on every machine
}

// Labels by which EKS tells the nodes of others.
const (
	nodeGroupLabel   = "eks.amazonaws.com/nodegroup"
	computeTypeLabel = "eks.amazonaws.com/compute-type"
)

// surround makes the surroundings but for the node group, which is the account's.
func surround(ctx context.Context, o Options, nodes kubernetes.Interface, objects dynamic.Interface, types *catalog.Catalog, fleet *kubelet.Fleet) error {
	if o.Surroundings.Daemons {
		if err := apply(ctx, objects, "daemons.yaml", o.ClusterName); err != nil {
			return err
		}
	}
	fargate := func() ([]kubelet.Machine, error) { return o.fargate(types) }
	if o.Host == OnFargate {
		fargate = func() ([]kubelet.Machine, error) { return nil, nil } // hosts are no machines
	}
	if there, err := labelled(ctx, nodes, computeTypeLabel); err != nil || there {
		return err
	}
	wanted, err := fargate()
	if err != nil {
		return err
	}
	for _, m := range wanted {
		m.Version = o.kubelet()
		if err := fleet.Boot(m); err != nil {
			return err
		}
	}
	return nil
}

// kubelet is the version that kubelets of the simulated EKS say they have; empty: that of the playground's Kubernetes.
func (o Options) kubelet() string {
	if o.KubernetesVersion == "" {
		return ""
	}
	return "v" + o.KubernetesVersion + ".0-eks-0000000"
}

// manage launches the machines of the node group in the account, where they have the tags of EKS. Those that are there
// from an earlier start, with a node or without one yet, are not launched again.
func manage(ctx context.Context, o Options, nodes kubernetes.Interface, aws *cloud) error {
	there, err := labelled(ctx, nodes, nodeGroupLabel)
	if err != nil || there {
		return err
	}
	if slices.ContainsFunc(aws.Market.Everything(), func(i market.Instance) bool { return i.Tags[awsapi.TagNodeGroup] != "" && !i.State.Gone() }) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(o.Surroundings.Managed)) {
		_, err := aws.LaunchGroup(awsapi.NodeGroup{
			Name: "managed", Type: name, Count: o.Surroundings.Managed[name],
			UserData: userData(MachineRequest{
				Labels: map[string]string{nodeGroupLabel: "managed", "eks.amazonaws.com/capacityType": "ON_DEMAND", "alpha.eksctl.io/cluster-name": o.ClusterName},
			}),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// labelled reports whether there is a node with a label.
func labelled(ctx context.Context, nodes kubernetes.Interface, label string) (bool, error) {
	there, err := nodes.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: label, Limit: 1})
	if err != nil {
		return false, fmt.Errorf("look for nodes with the label %s: %w", label, err)
	}
	return len(there.Items) > 0, nil
}

// fargate are the nodes of Fargate, which are of no type that can be bought.
func (o Options) fargate(types *catalog.Catalog) ([]kubelet.Machine, error) {
	if o.Surroundings.Fargate == 0 {
		return nil, nil
	}
	const size = "m5.large" // what zones and addresses are taken from
	labels := map[string]string{computeTypeLabel: "fargate"}
	if o.Host == OnFargate {
		labels[hostLabel] = "true"
	}
	ms, err := machines(types, o.Region, MachineRequest{
		Type: size, Count: o.Surroundings.Fargate,
		Labels: labels, Taints: []string{computeTypeLabel + "=fargate:NoSchedule"},
	})
	if err != nil {
		return nil, fmt.Errorf("nodes of Fargate: %w", err)
	}
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("2"), corev1.ResourceMemory: resource.MustParse("4Gi"), corev1.ResourcePods: resource.MustParse("1"),
	}
	for i := range ms {
		m := &ms[i]
		m.NodeName, m.InstanceType, m.Image = fmt.Sprintf("fargate-ip-192-168-%d-%d.%s", 12+i, 183-26*(i%8), domain(o.Region)), "", "Amazon Linux 2"
		m.Capacity, m.Allocatable = room, room
	}
	return ms, nil
}

// apply makes the objects of a file be as the file says.
func apply(ctx context.Context, c dynamic.Interface, name, cluster string) error {
	text, err := manifest(name, cluster)
	if err != nil {
		return err
	}
	all, err := documents(text)
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for _, o := range all {
		kind, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
		if _, err := c.Resource(kind).Namespace(o.GetNamespace()).Apply(ctx, o.GetName(), o, metav1.ApplyOptions{FieldManager: owner, Force: true}); err != nil {
			return fmt.Errorf("apply %s %s: %w", o.GetKind(), o.GetName(), err)
		}
	}
	return nil
}
