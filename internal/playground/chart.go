package playground

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/playground/charts"
	"github.com/tenon-sh/tenon/internal/playground/host"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

const (
	hostNode  = "playground"
	hostLabel = "sim.tenon.sh/host" // daemons of EKS stay away from it
	ourImage  = "tenon-sh/tenon"    // that the chart names
)

// startHost registers the node that runs pods of our image as processes. It is as large as a machine of type o.Host.
// Pods of our image go there and nowhere else, and others that do not tolerate CriticalAddonsOnly stay away.
func startHost(ctx context.Context, o Options, cluster *kube.ControlPlane, client kubernetes.Interface, objects dynamic.Interface, types *catalog.Catalog, aws *cloud, log *life) (*host.Host, error) {
	if err := lead(ctx, client, objects); err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	program, err := o.program()
	if err != nil {
		return nil, err
	}
	ms, err := machines(types, o.Region, MachineRequest{
		Type: o.Host, Count: 1, Labels: map[string]string{hostLabel: "true"}, Taints: []string{"CriticalAddonsOnly=true:NoSchedule"},
	})
	if err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	m := ms[0]
	m.NodeName, m.ID, m.ProviderID, m.Image = hostNode, hostNode, "", "processes of this computer"
	settings, err := kubelet.Parse(m.UserData)
	if err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	node, err := kubelet.Node(m, settings)
	if err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	node.Annotations = nil // it is none of the machines
	access, err := clientcmd.BuildConfigFromFlags("", cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	return host.Run(ctx, host.Options{
		Client: client, APIServer: cluster.URL, CA: access.CAData, Node: node, Dir: o.Dir.join("pods"),
		Image: ourImage, Program: program, Now: o.Now, Say: log.say,
		Environment: append(kube.Environment(o.Dir.cluster()), aws.environment(o.Region, awsapi.ControllerKey)...),
	})
}

// lead makes pods of our image go to the host, and returns when that is in force.
func lead(ctx context.Context, client kubernetes.Interface, objects dynamic.Interface) error {
	if err := apply(ctx, objects, "host.yaml", ""); err != nil {
		return err
	}
	try := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "try-"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "try", Image: ourImage}}},
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		p, err := client.CoreV1().Pods(metav1.NamespaceDefault).Create(ctx, try, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && p.Spec.NodeSelector[hostLabel] != "" {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("pods are not led to it (%w)", errors.Join(err, ctx.Err()))
		case <-tick.C: // also while the namespace has no service account yet
		}
	}
}

// serveCharts serves the charts of o.Charts, listed under the versions that instructions for the older kinds name.
func serveCharts(o Options) (address string, close func(), err error) {
	if o.Charts == "" {
		return "", func() {}, nil
	}
	r, err := charts.New(o.Charts, "v0.27.3", "v0.22.1", "v0.18.1", "v0.16.3", "v0.6.3")
	if err != nil {
		return "", nil, fmt.Errorf("--charts: %w", err)
	}
	return r.Serve()
}

// install installs the chart in a directory with helm, as somebody would by hand, or upgrades to it.
func install(ctx context.Context, o Options, log *life) error {
	if _, err := os.Stat(filepath.Join(o.Chart, "Chart.yaml")); err != nil {
		return fmt.Errorf("--chart: %w", err)
	}
	binary, err := kube.Find()
	if err != nil {
		return err
	}
	log.say("installing the chart %s", o.Chart)
	out, err := o.Dir.openLog("helm")
	if err != nil {
		return err
	}
	defer out.Close()
	began, err := out.Seek(0, 2)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary)
	cmd.Args = []string{
		"helm", "upgrade", "--install", "karpenter", o.Chart, "--namespace", "karpenter", "--create-namespace",
		"--set", "settings.clusterName=" + o.ClusterName, "--set", "settings.interruptionQueue=" + o.ClusterName,
		"--wait", "--timeout", "3m",
	}
	cmd.Env = append(kube.Environment(o.Dir.cluster()), "KUBECONFIG="+o.Dir.Kubeconfig())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("helm: %w\n%s", err, tail(o.Dir.Log("helm"), began))
	}
	return ctx.Err()
}
