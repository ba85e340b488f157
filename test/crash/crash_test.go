package crash

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

const (
	clusterName = "crash"
	machines    = 3
)

// stage is a cluster, an account, and a controller that can be killed.
type stage struct {
	client  client.WithWatch
	account *awsapi.Account
	gate    *gate
	program string
	env     []string
	log     *os.File

	mu      sync.Mutex
	process *exec.Cmd
	again   chan struct{} // a process has ended
}

func set(t *testing.T) *stage {
	t.Helper()
	s := &stage{client: kubetest.Client(t, v1.AddToScheme, awsv1.AddToScheme), gate: &gate{}, again: make(chan struct{}, 1)}
	s.gate.kill = s.kill
	s.build(t)
	s.open(t)
	config := kubetest.Config(t)
	via, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	kubeURL := s.gate.serve(t, config.Host, via, kubeWrite)
	s.env = append(s.env, "KUBECONFIG="+kubeconfig(t, kubeURL))
	return s
}

// build makes the program, once.
func (s *stage) build(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	s.program = filepath.Join(dir, "tenon")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", s.program, "github.com/tenon-sh/tenon/cmd/tenon")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build tenon: %v\n%s", err, out)
	}
	var err error
	if s.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
}

// open serves an account whose machines join within a moment.
func (s *stage) open(t *testing.T) {
	t.Helper()
	plain, err := kubernetes.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	types, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s.account, err = awsapi.NewAccount(awsapi.Config{
		Region: "us-west-2", ClusterName: clusterName, Endpoint: kubetest.Config(t).Host, CA: []byte("certificate"), Now: time.Now,
		Limits: map[string]market.Limit{},
		Timing: market.Timing{Boot: 50 * time.Millisecond, ShutDown: 50 * time.Millisecond, Forget: time.Hour, SpotNotice: time.Minute, PricePeriod: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	fleet := kubelet.New(kubelet.Options{Nodes: plain.CoreV1().Nodes(), Say: func(string, string) {}})
	s.account.Observe(market.Observers{
		OnRunning: func(i market.Instance) {
			data, err := base64.StdEncoding.DecodeString(i.Data.UserData)
			if err == nil {
				err = fleet.Boot(kubelet.Machine{
					ID: i.ID, ProviderID: "aws:///" + i.Zone + "/" + i.ID, NodeName: i.DNS, InstanceType: i.Type, Zone: i.Zone, Region: "us-west-2",
					UserData: data, Capacity: capacity(types, i.Type),
				})
			}
			if err != nil {
				t.Error(err)
			}
		},
		OnTerminated: func(i market.Instance) { go func() { _ = fleet.Die(context.Background(), i.ID) }() },
	})
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(s.account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-done; fleet.Close() })
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "AWS_ENDPOINT_URL=" + s.gate.serve(t, url, nil, awsWrite), "AWS_REGION=us-west-2",
		"AWS_ACCESS_KEY_ID=" + awsapi.ControllerKey, "AWS_SECRET_ACCESS_KEY=" + awsapi.SecretKey, "AWS_EC2_METADATA_DISABLED=true",
	}
}

func capacity(types *catalog.Catalog, name string) corev1.ResourceList {
	t, _ := types.Type(name)
	return corev1.ResourceList{
		"cpu": *resource.NewQuantity(int64(t.VCPUs), resource.DecimalSI), "memory": *resource.NewQuantity(t.MemoryMiB*97/100<<20, resource.BinarySI),
		"ephemeral-storage": resource.MustParse("20Gi"), "pods": resource.MustParse("58"),
	}
}

// kubeconfig is a file that leads through the gate.
func kubeconfig(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	c := api.NewConfig()
	c.Clusters["gate"], c.AuthInfos["me"] = &api.Cluster{Server: url}, &api.AuthInfo{}
	c.Contexts["gate"], c.CurrentContext = &api.Context{Cluster: "gate", AuthInfo: "me"}, "gate"
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// live keeps a controller running until the test ends: whenever one dies, the next starts.
func (s *stage) live(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.gate.revive()
			cmd := exec.Command(s.program, "controller", "--kubeconfig", kubeconfigOf(s.env), "--cluster-name", clusterName,
				"--disable-leader-election", "--metrics-port", "0", "--health-probe-port", "0", "--log-level", "debug")
			cmd.Env, cmd.Stdout, cmd.Stderr = s.env, s.log, s.log
			s.mu.Lock()
			if err := cmd.Start(); err != nil {
				s.mu.Unlock()
				t.Error(err)
				return
			}
			s.process = cmd
			s.mu.Unlock()
			_ = cmd.Wait()
		}
	}()
	t.Cleanup(func() {
		stop()
		s.kill()
		<-done
	})
}

func kubeconfigOf(env []string) string {
	last := env[len(env)-1]
	return last[len("KUBECONFIG="):]
}

func (s *stage) kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		_ = s.process.Process.Kill()
	}
}

// objects are what the tests' pods live off.
func (s *stage) objects(t *testing.T) {
	t.Helper()
	tags := map[string]string{"karpenter.sh/discovery": clusterName}
	class := &awsv1.EC2NodeClass{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: awsv1.EC2NodeClassSpec{
		Role: "KarpenterNodeRole-" + clusterName, AMISelectorTerms: []awsv1.AMISelectorTerm{{Alias: "al2023@latest"}},
		SubnetSelectorTerms:        []awsv1.SubnetSelectorTerm{{Tags: tags}},
		SecurityGroupSelectorTerms: []awsv1.SecurityGroupSelectorTerm{{Tags: tags}},
	}}
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: v1.NodePoolSpec{
		Disruption: v1.Disruption{ConsolidateAfter: v1.Never, ConsolidationPolicy: v1.WhenEmpty},
		Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
			NodeClassRef: &v1.NodeClassReference{Group: awsv1.Group, Kind: "EC2NodeClass", Name: "default"}, ExpireAfter: v1.Never,
			Requirements: []v1.Requirement{
				{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}},
				{Key: v1.LabelInstanceType, Operator: corev1.NodeSelectorOpIn, Values: []string{"m5.large", "c5.large"}},
			},
		}},
	}}
	for _, o := range []client.Object{class, pool} {
		if err := s.client.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

// apart is a workload each of whose pods needs a machine of its own.
func apart(ns string) *appsv1.Deployment {
	labels, n, none := map[string]string{"app": "apart"}, int32(machines), int64(0)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "apart"}, Spec: appsv1.DeploymentSpec{
		Replicas: &n, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: &none,
			Containers:                    []corev1.Container{{Name: "a", Image: "a", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1")}}}},
			Affinity: &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
				{TopologyKey: v1.LabelHostname, LabelSelector: &metav1.LabelSelector{MatchLabels: labels}},
			}}},
		}},
	}}
}

// life is one story: pods come, machines are bought for them, pods go, the
// nodes are deleted, and the machines are given back.
func (s *stage) life(t *testing.T, at moment) int {
	t.Helper()
	before := len(s.account.Market.Instances())
	ns := kubetest.Namespace(t)
	d := apart(ns)
	s.gate.arm(at)
	if err := s.client.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 90*time.Second, func() error {
		var pods corev1.PodList
		if err := s.client.List(t.Context(), &pods, client.InNamespace(ns)); err != nil {
			return err
		}
		running := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		if running != machines {
			return fmt.Errorf("%d of %d pods run", running, machines)
		}
		return nil
	})
	if bought := len(s.account.Market.Instances()) - before; bought != machines {
		t.Errorf("%d machines were bought, %d are needed", bought, machines)
	}
	if err := s.client.Delete(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if err := s.client.DeleteAllOf(t.Context(), &corev1.Node{}); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, 90*time.Second, func() error { return s.nothingLeft(t) })
	return s.gate.count()
}

func (s *stage) nothingLeft(t *testing.T) error {
	var claims v1.NodeClaimList
	var nodes corev1.NodeList
	if err := errors.Join(s.client.List(t.Context(), &claims), s.client.List(t.Context(), &nodes)); err != nil {
		return err
	}
	alive := 0
	for _, i := range s.account.Market.Instances() {
		if !i.State.Gone() {
			alive++
		}
	}
	if len(claims.Items)+len(nodes.Items)+alive > 0 {
		return fmt.Errorf("%d claims, %d nodes and %d machines are left", len(claims.Items), len(nodes.Items), alive)
	}
	return nil
}

// The controller is killed at its writes: at some of them here, at every one
// with TENON_TEST_CRASH=all.
func TestKilledAtEveryWrite(t *testing.T) {
	s := set(t)
	s.objects(t)
	s.live(t)
	t.Cleanup(func() {
		if t.Failed() {
			if data, err := os.ReadFile(s.log.Name()); err == nil {
				_ = os.WriteFile(filepath.Join(os.TempDir(), "tenon-crash.log"), data, 0o600)
				t.Logf("the controller's log is in %s", filepath.Join(os.TempDir(), "tenon-crash.log"))
			}
		}
	})
	writes := s.life(t, moment{})
	if writes < 10 {
		t.Fatalf("only %d writes in a life: the gate does not see them", writes)
	}
	if os.Getenv("TENON_TEST_CRASH") != "" {
		t.Logf("%d writes in a life: %q", writes, s.gate.writes)
	}
	for _, at := range moments(writes) {
		t.Run(at.String(), func(t *testing.T) {
			s.life(t, at)
			if !s.gate.hit() {
				t.Logf("there was no such write in this life: %q", s.gate.writes)
			}
		})
	}
}

// moments are the writes to die at: those around which most can be lost, or all.
func moments(writes int) []moment {
	var out []moment
	if os.Getenv("TENON_TEST_CRASH") == "all" {
		for n := 1; n <= writes; n++ {
			out = append(out, moment{write: n}, moment{write: n, after: true})
		}
		return out
	}
	return []moment{
		{what: "CreateFleet", after: true},
	}
}
