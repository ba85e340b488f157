package playground_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/playground"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
)

// asProgram makes the test binary be tenon-playground.
const asProgram = "TENON_TEST_AS_PLAYGROUND"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		kubetest.Main(m, kubetest.Machines)
	}
	if err := playground.Command().ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "tenon:", err)
		os.Exit(1)
	}
}

// tenon runs a verb and returns what it says.
func tenon(t *testing.T, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := tenon(t, args...)
	if err != nil {
		t.Fatalf("tenon %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func needBinary(t *testing.T) {
	t.Helper()
	switch _, err := kube.Find(); {
	case errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "":
		t.Skip(err)
	case err != nil:
		t.Fatal(err)
	}
}

func client(t *testing.T, dir string) kubernetes.Interface {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", filepath.Join(dir, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(c)
}

func contact(t *testing.T, dir string) playground.Contact {
	t.Helper()
	var c playground.Contact
	data, err := os.ReadFile(filepath.Join(dir, "contact.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// The whole life of a playground: two side by side, machines that come and die, a kill -9, and the end.
func TestAPlayground(t *testing.T) {
	t.Parallel() // it waits more than it computes, and each playground is a world of its own
	needBinary(t)
	dir, other := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	up := func(dir string, more ...string) {
		t.Helper()
		must(t, append([]string{"up", "--dir", dir, "--detach", "--bare", "--boot", "100ms", "--ready", "100ms"}, more...)...)
	}
	for d, flags := range map[string][]string{dir: nil, other: {"--managed-nodes", "m5.large=2", "--fargate-nodes", "1", "--daemons"}} {
		up(d, flags...)
		t.Cleanup(func() { _, _ = playground.Stop(context.Background(), playground.Dir(d)) })
	}
	if a, b := contact(t, dir), contact(t, other); a.APIServer == b.APIServer || a.URL == b.URL {
		t.Errorf("two playgrounds share a port: %v, %v", a, b)
	}
	if out, err := tenon(t, "up", "--dir", dir); err == nil || !strings.Contains(out, "runs in "+dir+" already") {
		t.Errorf("a second one started in the same directory: %v, %s", err, out)
	}

	c := client(t, dir)
	if out, err := tenon(t, "sim", "add-machine", "--dir", dir, "--type", "m5.tiny"); err == nil || !strings.Contains(out, "m5.tiny") {
		t.Errorf("a type that does not exist: %v, %s", err, out)
	}
	must(t, "sim", "add-machine", "--dir", dir, "--type", "m5.large", "--zone", "us-west-2b", "--count", "2", "--label", "team=a", "--taint", "gpu=no:NoSchedule")
	nodes := readyNodes(t, c, 2)
	for _, n := range nodes {
		if n.Labels["team"] != "a" || n.Labels[corev1.LabelTopologyZone] != "us-west-2b" || !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == "gpu" }) || n.Status.Capacity.Cpu().Value() != 2 {
			t.Errorf("node %s is not what was asked for: %v %v %v", n.Name, n.Labels, n.Spec.Taints, n.Status.Capacity)
		}
	}
	surrounded(t, client(t, other))
	grouped(t, client(t, other), contact(t, other).AWS)
	accessible(t, contact(t, other))
	must(t, "sim", "kill", "--dir", dir, nodes[0].Name)

	// However it ends, the next one goes on from there.
	if err := syscall.Kill(contact(t, dir).PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 20*time.Second, func() error {
		if out, err := tenon(t, "sim", "machines", "--dir", dir); err == nil || !strings.Contains(out, "no playground runs there") {
			return fmt.Errorf("it is still there: %s", out)
		}
		return nil
	})
	url := contact(t, dir).APIServer
	up(dir)
	if now := contact(t, dir).APIServer; now != url {
		t.Errorf("the API server moved from %s to %s", url, now)
	}
	states := map[string]kubelet.State{}
	var ms []kubelet.Status
	if err := json.Unmarshal([]byte(must(t, "sim", "machines", "--dir", dir, "-o", "json")), &ms); err != nil {
		t.Fatal(err)
	}
	for _, m := range ms {
		states[m.Node] = m.State
	}
	if states[nodes[0].Name] != kubelet.Dead || states[nodes[1].Name] != kubelet.Running || len(states) != 2 {
		t.Errorf("machines after the restart: %v", states)
	}

	if out, err := tenon(t, "sim", "machines", "--dir", dir); err != nil || !strings.Contains(out, nodes[1].Name) {
		t.Errorf("machines: %v, %s", err, out)
	}
	must(t, "down", "--dir", dir)
	if conn, err := net.Dial("tcp", strings.TrimPrefix(url, "https://")); err == nil {
		conn.Close()
		t.Error("the API server still listens")
	}
	if out := must(t, "down", "--dir", dir); !strings.Contains(out, "no playground runs in") {
		t.Errorf("a second down says %q", out)
	}
	up(dir, "--reset")
	if n := len(readyNodes(t, client(t, dir), 0)); n != 0 {
		t.Errorf("%d nodes have survived a reset", n)
	}
}

// surrounded checks the nodes of EKS and what runs on them.
func surrounded(t *testing.T, c kubernetes.Interface) {
	t.Helper()
	fargate := map[string]bool{}
	for _, n := range readyNodes(t, c, 3) {
		fargate[n.Name] = n.Labels["eks.amazonaws.com/compute-type"] == "fargate"
	}
	kubetest.Within(t, 30*time.Second, func() error {
		pods, err := c.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		n := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning {
				n++
			}
			if fargate[p.Spec.NodeName] {
				t.Errorf("%s runs on Fargate", p.Name)
			}
		}
		if n != 4 {
			return fmt.Errorf("%d of %d daemons run, want 4", n, len(pods.Items))
		}
		return nil
	})
}

// grouped checks that the nodes of the managed group are machines of the account, as EKS tags them.
func grouped(t *testing.T, c kubernetes.Interface, url string) {
	t.Helper()
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{LabelSelector: "eks.amazonaws.com/nodegroup=managed"})
	if err != nil {
		t.Fatal(err)
	}
	api := ec2.NewFromConfig(aws.Config{Region: "us-west-2", BaseEndpoint: &url, Credentials: credentials.NewStaticCredentialsProvider(awsapi.AdminKey, awsapi.SecretKey, "")})
	out, err := api.DescribeInstances(t.Context(), &ec2.DescribeInstancesInput{Filters: []types.Filter{
		{Name: aws.String("tag:eks:nodegroup-name"), Values: []string{"managed"}},
		{Name: aws.String("tag-key"), Values: []string{"eks:cluster-name"}},
		{Name: aws.String("instance-state-name"), Values: []string{"running"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	machines := map[string]string{}
	for _, r := range out.Reservations {
		for _, i := range r.Instances {
			machines["aws:///"+*i.Placement.AvailabilityZone+"/"+*i.InstanceId] = *i.PrivateDnsName
		}
	}
	if len(nodes.Items) != 2 || len(machines) != 2 {
		t.Errorf("%d nodes of the group and %d machines, want 2 and 2", len(nodes.Items), len(machines))
	}
	for _, n := range nodes.Items {
		if machines[n.Spec.ProviderID] != n.Name {
			t.Errorf("node %s of %s is none of the account's machines %v", n.Name, n.Spec.ProviderID, machines)
		}
	}
}

// accessible checks that the file and the context that the account and the welcome name are those that lead to the cluster.
func accessible(t *testing.T, at playground.Contact) {
	t.Helper()
	api := eks.NewFromConfig(aws.Config{Region: "us-west-2", BaseEndpoint: &at.AWS, Credentials: credentials.NewStaticCredentialsProvider(awsapi.AdminKey, awsapi.SecretKey, "")})
	out, err := api.DescribeCluster(t.Context(), &eks.DescribeClusterInput{Name: aws.String("playground")})
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.LoadFromFile(out.Cluster.Tags[awsapi.TagKubeconfig])
	if err != nil {
		t.Fatalf("the tags %v name no kubeconfig: %v", out.Cluster.Tags, err)
	}
	context := config.Contexts["tenon"]
	if context == nil || config.Clusters[context.Cluster].Server != *out.Cluster.Endpoint {
		t.Errorf("context tenon of %s is %v, the cluster is at %s", out.Cluster.Tags[awsapi.TagKubeconfig], context, *out.Cluster.Endpoint)
	}
}

// readyNodes waits until so many nodes are ready and returns them.
func readyNodes(t *testing.T, c kubernetes.Interface, want int) []corev1.Node {
	t.Helper()
	var out []corev1.Node
	kubetest.Within(t, 30*time.Second, func() error {
		l, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		out = l.Items
		n := 0
		for _, node := range out {
			for _, c := range node.Status.Conditions {
				if c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue {
					n++
				}
			}
		}
		if n != want || len(out) != want {
			return fmt.Errorf("%d of %d nodes are ready, want %d", n, len(out), want)
		}
		return nil
	})
	return out
}

func TestUpSaysWhatToDo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a directory that is none":   {[]string{"up", "--dir", file}, "choose another with --dir"},
		"the same, detached":         {[]string{"up", "--detach", "--dir", file}, "choose another with --dir"},
		"machines of none":           {[]string{"sim", "machines", "--dir", filepath.Join(t.TempDir(), "none")}, "start one with `tenon up --dir"},
		"a machine without its type": {[]string{"sim", "add-machine"}, `"type" not set`},
		"a flag that is none":        {[]string{"up", "--fast"}, "unknown flag: --fast"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := tenon(t, c.args...)
			if err == nil || !strings.Contains(out, c.says) {
				t.Errorf("got %v and %q, want it to say %q", err, out, c.says)
			}
		})
	}
}
