package playground

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/charts"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/kube"
	repository "github.com/tenon-sh/tenon/internal/playground/charts"
	"github.com/tenon-sh/tenon/internal/playground/host"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

const (
	hostNode  = "playground"
	hostLabel = "sim.tenon.sh/host" // daemons of EKS stay away from it
	ourImage  = "tenon-sh/tenon"    // that the chart names

	release     = "karpenter"    // and namespace, as guides name them
	metricsPort = "http-metrics" // as the chart calls it
	webhookPort = 8443           // as the chart has it
)

// hosts are the nodes that run pods of our image as processes.
type hosts []*host.Host

// startHosts registers a node as large as a machine of type o.Host, or those of Fargate. Pods of our image go there and
// nowhere else, and others that do not tolerate its taint stay away.
func (g *ground) startHosts(ctx context.Context) (hosts, error) {
	if err := lead(ctx, g.client, g.objects); err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	program, err := g.program()
	if err != nil {
		return nil, err
	}
	nodes, err := g.hostNodes(g.types)
	if err != nil {
		return nil, fmt.Errorf("node of the playground: %w", err)
	}
	access, err := clientcmd.BuildConfigFromFlags("", g.cluster.Kubeconfig)
	if err != nil {
		return nil, err
	}
	var out hosts
	ports := &host.Ports{}
	for _, n := range nodes {
		h, err := host.Run(ctx, host.Options{
			Client: g.client, APIServer: g.cluster.URL, CA: access.CAData, Node: n, Dir: g.Dir.join("pods"),
			Image: ourImage, Program: program, Ports: ports, Now: g.Now, Say: g.log.say,
			Environment: append(g.toController(), g.aws.environment(g.Region, awsapi.ControllerKey)...),
		})
		if err != nil {
			return out, err
		}
		out = append(out, h)
	}
	return out, nil
}

// hostNodes are the nodes of the hosts.
func (o Options) hostNodes(types *catalog.Catalog) ([]*corev1.Node, error) {
	ms, err := o.fargate(types)
	if o.Host != OnFargate {
		ms, err = machines(types, o.Region, MachineRequest{
			Type: o.Host, Count: 1, Labels: map[string]string{hostLabel: "true"}, Taints: []string{"CriticalAddonsOnly=true:NoSchedule"},
		})
		if err == nil {
			ms[0].NodeName, ms[0].ID, ms[0].Image = hostNode, hostNode, "processes of this computer"
		}
	}
	if err != nil {
		return nil, err
	}
	var out []*corev1.Node
	for _, m := range ms {
		m.ProviderID = ""
		settings, err := kubelet.Parse(m.UserData)
		if err != nil {
			return nil, err
		}
		n, err := kubelet.Node(m, settings)
		if err != nil {
			return nil, err
		}
		n.Annotations = nil // it is none of the machines
		out = append(out, n)
	}
	return out, nil
}

// done waits until all of them and their processes have ended.
func (all hosts) done() {
	for _, h := range all {
		<-h.Done()
	}
}

// running are the pods whose processes run now.
func (all hosts) running() []host.Running {
	var out []host.Running
	for _, h := range all {
		out = append(out, h.Running()...)
	}
	return out
}

// reachable reports whether services lead to their pods.
func (all hosts) reachable() bool {
	return !slices.ContainsFunc(all, func(h *host.Host) bool { return !h.Reachable() })
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

// serveCharts serves our charts, or those of o.Charts, listed under the versions that instructions for the older kinds
// name.
func serveCharts(o Options) (address string, close func(), err error) {
	var from fs.FS = charts.Files()
	switch {
	case o.Charts != "":
		from = os.DirFS(o.Charts)
	case o.Controller != ByChart && o.Controller != ByHand:
		return "", func() {}, nil
	}
	r, err := repository.New(from, "v0.27.3", "v0.22.1", "v0.18.1", "v0.16.3", "v0.6.3")
	if err != nil {
		return "", nil, fmt.Errorf("charts of %s: %w", cmp.Or(o.Charts, "this program"), err)
	}
	return r.Serve()
}

// install installs the chart with helm, as somebody would by hand. A release that is there gets the present chart and
// keeps its values: they are its owner's.
func install(ctx context.Context, o Options, client kubernetes.Interface, on hosts, repository string, log *life) error {
	args := []string{"upgrade", "--install", release, "--namespace", release, "--create-namespace", "--skip-crds", "--reset-then-reuse-values", "--wait", "--timeout", "3m"} // the kinds are there
	if o.Chart != "" {
		if _, err := os.Stat(filepath.Join(o.Chart, "Chart.yaml")); err != nil {
			return fmt.Errorf("--chart: %w", err)
		}
		args = append(args, o.Chart)
	} else {
		args = append(args, "oci://"+repository+"/karpenter/karpenter", "--plain-http")
	}
	there, err := client.CoreV1().Secrets(release).List(ctx, metav1.ListOptions{LabelSelector: "owner=helm,name=" + release, Limit: 1})
	if err != nil {
		return fmt.Errorf("look for a release of the chart: %w", err)
	}
	if len(there.Items) == 0 {
		args = append(args, "--set", "settings.clusterName="+o.ClusterName, "--set", "settings.interruptionQueue="+o.ClusterName,
			"--set", "settings.aws.defaultInstanceProfile=KarpenterNodeInstanceProfile-"+o.ClusterName)
		if o.Chart == "" {
			args = append(args, "--set", "settings.livePage=true")
		}
		if !on.reachable() {
			log.say("this computer has no address but that of the loopback interface, which services cannot lead to: the chart is installed without its webhook")
			args = append(args, "--set", "webhook.enabled=false")
		}
		if !host.Free(webhookPort) {
			// Services lead to the port that the pod names, so it has to be one that the pod can have.
			free, err := freePorts(1)
			if err != nil {
				return err
			}
			args = append(args, "--set", "webhook.port="+free[0])
		}
	}
	log.say("helm installs the controller")
	return helm(ctx, o, args...)
}

// helm runs helm. What it says goes to a log, and into the error when it fails.
func helm(ctx context.Context, o Options, args ...string) error {
	binary, err := kube.Find()
	if err != nil {
		return err
	}
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
	cmd.Args = append([]string{"helm"}, args...) // the binary is known by its name
	cmd.Env = append(kube.Environment(o.Dir.cluster()), "KUBECONFIG="+o.Dir.Kubeconfig())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("helm: %w\n%s", err, tail(o.Dir.Log("helm"), began))
	}
	return ctx.Err()
}

// installed is a controller that a chart has made: the pods of its release.
type installed struct{ on hosts }

// leader is the replica that acts. Only it knows what was decided.
func (i installed) leader(ctx context.Context) (host.Running, error) {
	for _, r := range i.on.running() {
		if r.Labels["app.kubernetes.io/name"] == release && leads(ctx, r.Ports[metricsPort]) {
			return r, nil
		}
	}
	return host.Running{}, errors.New("no controller leads at this moment")
}

// leads asks a controller's metrics whether it is the one that acts.
func leads(ctx context.Context, port int) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+local(port)+"/metrics", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if line := lines.Text(); strings.HasPrefix(line, "leader_election_master_status{") {
			return strings.HasSuffix(line, " 1")
		}
	}
	return false
}

func local(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

func (i installed) kill(ctx context.Context) (string, error) {
	r, err := i.leader(ctx)
	if err != nil {
		return "", err
	}
	return "pod " + r.Namespace + "/" + r.Name + ", which led", r.Kill()
}

func (i installed) pages(ctx context.Context) (string, error) {
	r, err := i.leader(ctx)
	return local(r.Ports[metricsPort]), err
}
