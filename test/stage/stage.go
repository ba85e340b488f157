// Package stage is where tests of the whole product play: a real API server, a simulated account whose machines join it, and controllers to start, stop and kill.
package stage

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Region is where the account is.
const Region = "us-west-2"

// Options are what a test wants to be otherwise.
type Options struct {
	Name   string                  // of the cluster; "stage" by default
	Limits map[string]market.Limit // of calls; nil: none, see RealLimits
	Real   bool                    // the limits are AWS's own
	Boot   time.Duration           // of a machine; a moment by default
	Deaf   bool                    // controllers are not told of notices of interruption
}

// Stage is a cluster and an account.
type Stage struct {
	Client  client.WithWatch
	Account *awsapi.Account
	Fleet   *kubelet.Fleet
	Name    string // of the cluster
	Cloud   string // URL of the account
	Queue   string // of notices of interruption; empty: none is read

	mu     sync.Mutex
	faults map[string]kubelet.Faults // by pool; "": of all others
}

// Set builds a stage. Its account is its own; the cluster is that of the package's tests.
func Set(t testing.TB, o Options) *Stage {
	t.Helper()
	if o.Name == "" {
		o.Name = "stage"
	}
	if o.Limits == nil && !o.Real {
		o.Limits = map[string]market.Limit{}
	}
	if o.Boot == 0 {
		o.Boot = 50 * time.Millisecond
	}
	s := &Stage{Client: kubetest.Client(t, v1.AddToScheme, awsv1.AddToScheme), Name: o.Name, Queue: o.Name}
	if o.Deaf {
		s.Queue = ""
	}
	plain, err := kubernetes.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	types, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	s.Account, err = awsapi.NewAccount(awsapi.Config{
		Region: Region, ClusterName: o.Name, Endpoint: kubetest.Config(t).Host, CA: []byte("certificate"), Now: time.Now, Limits: o.Limits,
		Timing: market.Timing{Boot: o.Boot, ShutDown: 50 * time.Millisecond, Forget: time.Hour, SpotNotice: time.Minute, PricePeriod: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Fleet = kubelet.New(kubelet.Options{Nodes: plain.CoreV1().Nodes(), Say: func(string, string) {}})
	s.Account.Observe(market.Observers{
		OnRunning: func(i market.Instance) {
			if err := s.boot(types, i); err != nil {
				t.Error(err)
			}
		},
		OnTerminated: func(i market.Instance) { go func() { _ = s.Fleet.Die(context.Background(), i.ID) }() },
	})
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(s.Account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Cloud = url
	t.Cleanup(func() { stop(); <-done; s.Fleet.Close() })
	return s
}

func (s *Stage) boot(types *catalog.Catalog, i market.Instance) error {
	data, err := base64.StdEncoding.DecodeString(i.Data.UserData)
	if err != nil {
		return fmt.Errorf("user data of %s: %w", i.ID, err)
	}
	s.mu.Lock()
	faults, ok := s.faults[i.Tags[v1.LabelNodePool]]
	if !ok {
		faults = s.faults[""]
	}
	s.mu.Unlock()
	err = s.Fleet.Boot(kubelet.Machine{
		ID: i.ID, ProviderID: ProviderID(i), NodeName: i.DNS, InstanceType: i.Type, Zone: i.Zone, Region: Region,
		UserData: data, Capacity: capacity(types, i.Type), Faults: faults,
	})
	if errors.Is(err, kubelet.ErrNoJoin) {
		return nil // a machine of somebody else
	}
	return err
}

// ProviderID is how Kubernetes knows a machine.
func ProviderID(i market.Instance) string { return "aws:///" + i.Zone + "/" + i.ID }

// Break has the machines that boot from now on go wrong in a way.
func (s *Stage) Break(f kubelet.Faults) { s.BreakPool("", f) }

// BreakPool is Break for the machines of one pool.
func (s *Stage) BreakPool(pool string, f kubelet.Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults == nil {
		s.faults = map[string]kubelet.Faults{}
	}
	s.faults[pool] = f
}

func capacity(types *catalog.Catalog, name string) corev1.ResourceList {
	t, _ := types.Type(name)
	return corev1.ResourceList{
		"cpu": *resource.NewQuantity(int64(t.VCPUs), resource.DecimalSI), "memory": *resource.NewQuantity(t.MemoryMiB*97/100<<20, resource.BinarySI),
		"ephemeral-storage": resource.MustParse("20Gi"), "pods": resource.MustParse("58"),
	}
}

// env is the environment by which a controller finds the account at a URL, and none but it.
func env(home, url string) map[string]string {
	return map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": home, "AWS_ENDPOINT_URL": url, "AWS_REGION": Region,
		"AWS_ACCESS_KEY_ID": awsapi.ControllerKey, "AWS_SECRET_ACCESS_KEY": awsapi.SecretKey, "AWS_EC2_METADATA_DISABLED": "true",
	}
}

// Alive are the machines that have not ended.
func (s *Stage) Alive() []market.Instance {
	var out []market.Instance
	for _, i := range s.Account.Market.Instances() {
		if !i.State.Gone() {
			out = append(out, i)
		}
	}
	return out
}

// Calls counts the calls of an action of EC2 so far.
func (s *Stage) Calls(action string) int { return s.Account.Market.Counts()["ec2:"+action] }

// Make creates objects.
func (s *Stage) Make(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := s.Client.Create(t.Context(), o); err != nil {
			t.Fatalf("create %s: %v", o.GetName(), err)
		}
	}
}

// Drop deletes objects. Those that are gone already do not matter.
func (s *Stage) Drop(t testing.TB, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := client.IgnoreNotFound(s.Client.Delete(context.Background(), o)); err != nil {
			t.Fatalf("delete %s: %v", o.GetName(), err)
		}
	}
}

// Claims are all that there are.
func (s *Stage) Claims() ([]v1.NodeClaim, error) {
	var list v1.NodeClaimList
	err := s.Client.List(context.Background(), &list)
	return list.Items, err
}

// Nodes are all that there are.
func (s *Stage) Nodes() ([]corev1.Node, error) {
	var list corev1.NodeList
	err := s.Client.List(context.Background(), &list)
	return list.Items, err
}

// Runs waits until so many pods of a namespace run, and no more.
func (s *Stage) Runs(t testing.TB, limit time.Duration, ns string, want int) {
	t.Helper()
	kubetest.Within(t, limit, func() error {
		var pods corev1.PodList
		if err := s.Client.List(t.Context(), &pods, client.InNamespace(ns)); err != nil {
			return err
		}
		running := 0
		for _, p := range pods.Items {
			if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				running++
			}
		}
		if running != want {
			return fmt.Errorf("%d of %d pods run", running, want)
		}
		return nil
	})
}

// Left says what is left of claims, nodes and machines; nil: nothing.
func (s *Stage) Left() error {
	claims, err := s.Claims()
	if err != nil {
		return err
	}
	nodes, err := s.Nodes()
	if err != nil {
		return err
	}
	alive := s.Alive()
	if len(claims)+len(nodes)+len(alive) == 0 {
		return nil
	}
	what := fmt.Sprintf("%d claims, %d nodes and %d machines are left:", len(claims), len(nodes), len(alive))
	for _, c := range claims {
		what += fmt.Sprintf(" %s deleted=%v finalizers=%v;", c.Name, c.DeletionTimestamp, c.Finalizers)
	}
	return errors.New(what)
}
