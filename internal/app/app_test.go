package app_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/testr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

func TestMain(m *testing.M) {
	kubetest.Main(m, kubetest.CRDs("../../api/crds"), kubetest.Scheduler, kubetest.Controllers, kubetest.Machines)
}

// fixture is a cluster with a simulated cloud and a running controller.
type fixture struct {
	client client.WithWatch
	market *market.Market
	driver cloud.Driver
	app    *app.App
	ended  chan struct{} // closed when the controller has ended
	counts *calls        // what controllers write; nil: it is not counted

	settings func(*app.Settings) // what it is told beside the defaults
}

// build puts a house together for one test, and counts what its controllers write.
func build(t *testing.T, counts ...*calls) fixture {
	t.Helper()
	m := region(t)
	play(t, m)
	h := fixture{client: kubetest.Client(t, v1.AddToScheme), market: m, driver: driver.New(m, "test")}
	for _, c := range counts {
		h.counts = c
	}
	return h.start(t)
}

func (h fixture) start(t *testing.T) fixture {
	t.Helper()
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.LeaderElection = 0, 0, false
	settings.JournalDir = os.Getenv("JOURNAL") // where every decision is kept, to be looked at with tenon explain and replay
	if h.settings != nil {
		h.settings(&settings)
	}
	log := logr.Discard()
	if os.Getenv("LOG") != "" {
		log = testr.NewWithOptions(t, testr.Options{Verbosity: 1})
	}
	ctrllog.SetLogger(log)
	k := kubetest.Config(t)
	if h.counts != nil {
		k = h.counts.count(k)
	}
	config := app.Config{Kubernetes: k, Driver: h.driver, Provider: "sim", Settings: settings, Log: log}
	a, err := app.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	h.app, h.ended = a, make(chan struct{})
	go func() {
		defer close(h.ended)
		if err := a.Run(ctx); err != nil {
			t.Error("the controller ended with: ", err)
		}
	}()
	t.Cleanup(func() {
		stop()
		<-h.ended
	})
	return h
}

// region is a market of a few types in three zones.
func region(t *testing.T) *market.Market {
	t.Helper()
	all, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := all.Region("us-east-1")
	if err != nil {
		t.Fatal(err)
	}
	var types []market.Type
	for _, typ := range market.TypesOf(r) {
		switch typ.Family {
		case "m5", "c5", "r5":
			types = append(types, typ)
		}
	}
	m := market.New(market.Config{
		Region: "us-east-1", Account: "123456789012", Now: time.Now, Zones: market.ZonesOf(r)[:3], Types: types,
		Timing: market.Timing{Boot: 200 * time.Millisecond, ShutDown: 200 * time.Millisecond, Forget: time.Hour, SpotNotice: 2 * time.Minute, PricePeriod: time.Hour},
	})
	for i, z := range m.Zones() {
		m.AddSubnet(market.Subnet{VPC: "vpc-1", Zone: z.Name, Range: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.0/16", i))})
	}
	return m
}

// play has the market's machines join the cluster.
func play(t *testing.T, m *market.Market) {
	t.Helper()
	plain, err := kubernetes.NewForConfig(kubetest.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	fleet := kubelet.New(kubelet.Options{Nodes: plain.CoreV1().Nodes(), Say: func(machine, what string) {
		if os.Getenv("LOG") != "" {
			fmt.Println("machine", machine, what)
		}
	}})
	m.Observe(market.Observers{
		OnRunning: func(i market.Instance) {
			data, err := base64.StdEncoding.DecodeString(i.Data.UserData)
			if err == nil {
				err = fleet.Boot(kubelet.Machine{
					ID: i.ID, ProviderID: driver.ProviderID(i), NodeName: i.DNS, InstanceType: i.Type, Zone: i.Zone, Region: m.Region(),
					UserData: data, Capacity: capacity(m.Type(i.Type)),
				})
			}
			if err != nil {
				t.Error(err)
			}
		},
		OnTerminated: func(i market.Instance) { _ = fleet.Die(context.Background(), i.ID) },
	})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { m.Run(ctx); close(done) }()
	t.Cleanup(func() {
		stop()
		<-done
		fleet.Close()
	})
}

func capacity(t *market.Type) corev1.ResourceList {
	pods := int64(110)
	if t.ENIs > 0 && t.IPv4PerENI > 1 {
		pods = int64(t.ENIs*(t.IPv4PerENI-1) + 2)
	}
	return corev1.ResourceList{
		"cpu": *resource.NewQuantity(int64(t.VCPUs), resource.DecimalSI), "memory": *resource.NewQuantity(t.MemoryMiB*97/100<<20, resource.BinarySI),
		"ephemeral-storage": resource.MustParse("20Gi"), "pods": *resource.NewQuantity(pods, resource.DecimalSI),
	}
}

func pool(name string) *v1.NodePool {
	return &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: v1.NodePoolSpec{
			Disruption: v1.Disruption{ConsolidateAfter: "2s", ConsolidationPolicy: v1.WhenEmpty},
			Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "sim.tenon.sh", Kind: "Class", Name: "default"},
				Requirements: []v1.Requirement{{Key: v1.LabelCapacityType, Operator: corev1.NodeSelectorOpIn, Values: []string{"on-demand"}}},
				ExpireAfter:  v1.Never,
			}},
		},
	}
}

func deployment(ns, name string, replicas int32, cpu string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					Containers: []corev1.Container{{Name: "web", Image: "web", Resources: corev1.ResourceRequirements{
						Requests: corev1.ResourceList{"cpu": resource.MustParse(cpu)},
					}}},
				},
			},
		},
	}
}

// apart wants every pod of a deployment on a node of its own.
func apart(d *appsv1.Deployment) *corev1.Affinity {
	return &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: v1.LabelHostname, LabelSelector: d.Spec.Selector}},
	}}
}

func (h fixture) make(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := h.client.Create(t.Context(), o); err != nil {
			t.Fatalf("create %s: %v", o.GetName(), err)
		}
	}
}

// running counts the pods of a namespace that run.
func (h fixture) running(ns string) (int, error) {
	var pods corev1.PodList
	if err := h.client.List(context.Background(), &pods, client.InNamespace(ns)); err != nil {
		return 0, err
	}
	n := 0
	for _, p := range pods.Items {
		if p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
			n++
		}
	}
	return n, nil
}

// runs waits until so many pods of a namespace run.
func (h fixture) runs(t *testing.T, ns string, want int) {
	t.Helper()
	kubetest.Within(t, time.Minute, func() error {
		n, err := h.running(ns)
		if err == nil && n != want {
			err = fmt.Errorf("%d pods run, want %d", n, want)
		}
		return err
	})
}

func (h fixture) claims() ([]v1.NodeClaim, error) {
	var list v1.NodeClaimList
	err := h.client.List(context.Background(), &list)
	return list.Items, err
}

// empty waits until nothing is left of a test: no claim, no node of ours, no machine.
func (h fixture) empty(t *testing.T) {
	t.Helper()
	kubetest.Within(t, time.Minute, func() error {
		claims, err := h.claims()
		if err != nil {
			return err
		}
		var nodes corev1.NodeList
		if err := h.client.List(context.Background(), &nodes); err != nil {
			return err
		}
		alive := 0
		for _, i := range h.market.Instances() {
			if !i.State.Gone() {
				alive++
			}
		}
		if len(claims)+len(nodes.Items)+alive > 0 {
			return fmt.Errorf("%d claims, %d nodes and %d machines are left", len(claims), len(nodes.Items), alive)
		}
		return nil
	})
}

// Pods that wait get nodes, and a pool that is deleted takes its nodes with it.
func TestFromPendingPodToNodeAndBack(t *testing.T) {
	h := build(t)
	ns := kubetest.Namespace(t)
	p, d := pool("default"), deployment(ns, "web", 5, "900m")
	h.make(t, p, d)
	h.runs(t, ns, 5)
	claims, err := h.claims()
	if err != nil || len(claims) == 0 {
		t.Fatal("no claims: ", err)
	}
	kubetest.Within(t, 20*time.Second, func() error {
		claims, err := h.claims()
		for i := range claims {
			if !claims[i].Conditions().Is(v1.ConditionInitialized) {
				err = errors.Join(err, fmt.Errorf("claim %s is not initialized: %+v", claims[i].Name, claims[i].Status.Conditions))
			}
		}
		return err
	})
	h.decided(t, "provisioner", "disruption")
	h.clear(t, d, p)
}

// decided waits until each of these has made a decision that counts as a reconciliation of controller-runtime's.
func (h fixture) decided(t *testing.T, controllers ...string) {
	t.Helper()
	kubetest.Within(t, 20*time.Second, func() error {
		families, err := ctrlmetrics.Registry.Gather()
		for _, c := range controllers {
			n := 0.0
			for _, f := range families {
				for _, m := range f.GetMetric() {
					l := m.GetLabel()
					if f.GetName() == "controller_runtime_reconcile_total" && l[0].GetValue() == c && l[1].GetValue() == "success" {
						n = m.GetCounter().GetValue()
					}
				}
			}
			if n == 0 {
				err = errors.Join(err, fmt.Errorf("no reconciliation of %s is counted", c))
			}
		}
		return err
	})
}

// Nodes on which nothing runs any more go by themselves.
func TestEmptyNodesAreGivenBack(t *testing.T) {
	h := build(t)
	ns := kubetest.Namespace(t)
	p, d := pool("empty"), deployment(ns, "web", 4, "900m")
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}} // by a tenth of four nodes they would go one after the other
	d.Spec.Template.Spec.Affinity = apart(d)
	h.make(t, p, d)
	h.runs(t, ns, 4)
	scale := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":1}}`))
	if err := h.client.Patch(t.Context(), d, scale); err != nil {
		t.Fatal(err)
	}
	kubetest.Within(t, time.Minute, func() error {
		claims, err := h.claims()
		if err == nil && len(claims) != 1 {
			err = fmt.Errorf("%d claims are left, want 1", len(claims))
		}
		return err
	})
	h.runs(t, ns, 1)
	h.clear(t, d, p)
}

// clear deletes objects and waits until nothing of theirs is left.
func (h fixture) clear(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := h.client.Delete(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	h.empty(t)
}
