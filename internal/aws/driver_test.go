package aws_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws"
	"github.com/tenon-sh/tenon/internal/aws/access"
	"github.com/tenon-sh/tenon/internal/aws/nodeclass"
	"github.com/tenon-sh/tenon/internal/aws/say"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

var loaded = sync.OnceValues(catalog.Load)

// account is a simulated account and a driver that works in it.
type account struct {
	*awsapi.Account
	*aws.Driver
	calls map[string]int
	mu    sync.Mutex
	said  []string
}

// open serves an account with a class called default and returns a driver for it.
func open(t *testing.T, change func(*awsapi.Config), class func(*nodeclass.Class)) *account {
	t.Helper()
	return openWith(t, aws.Settings{Cluster: "demo"}, change, class)
}

// openWith is open for a driver with settings of its own.
func openWith(t *testing.T, settings aws.Settings, change func(*awsapi.Config), class func(*nodeclass.Class)) *account {
	t.Helper()
	all, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	cfg := awsapi.Config{
		Region: "us-west-2", ClusterName: "demo", KubernetesVersion: "1.34", CA: []byte("certificate"), Endpoint: "https://demo.example", Now: time.Now,
		Limits: map[string]market.Limit{},
		Timing: market.Timing{Boot: time.Millisecond, ShutDown: time.Millisecond, Forget: time.Hour, SpotNotice: time.Millisecond, PricePeriod: time.Hour},
	}
	if change != nil {
		change(&cfg)
	}
	if cfg.Catalog, err = all.Region(cfg.Region); err != nil {
		t.Fatal(err)
	}
	a := &account{calls: map[string]int{}}
	if a.Account, err = awsapi.NewAccount(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(a.Account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(); <-done })
	t.Setenv("AWS_ENDPOINT_URL", url)
	t.Setenv("AWS_ACCESS_KEY_ID", awsapi.ControllerKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", awsapi.SecretKey)
	clients, err := access.Connect(context.Background(), access.Options{Region: cfg.Region, Version: "test", OnCall: func(service, action string, input any) {
		shaped(t)(service, action, input)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls[action]++
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.Driver = aws.New(aws.Config{
		Clients: clients, Catalog: all, Settings: settings,
		Said: func(s say.Line) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.said = append(a.said, s.Message)
		},
		Classes: func(_ context.Context, ref cloud.ClassRef) (nodeclass.Class, error) {
			c := defaultClass(ref)
			if class != nil {
				class(&c)
			}
			return c, nil
		},
	})
	return a
}

func defaultClass(ref cloud.ClassRef) nodeclass.Class {
	tagged := []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "karpenter.sh/discovery", Values: []string{"demo"}}}}}
	return nodeclass.Class{
		Ref: ref, UID: "uid", Family: "AL2023", Subnets: tagged, Groups: tagged, Role: "KarpenterNodeRole-demo", Hash: "1", HashVersion: "v",
		Images:   []nodeclass.ImageSelector{{Alias: "al2023@latest"}},
		Metadata: nodeclass.Metadata{Endpoint: "enabled", IPv6: "disabled", Tokens: "required", HopLimit: 1},
	}
}

func templateOf() cloud.Template {
	return cloud.Template{ID: "t", Class: cloud.ClassRef{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: "default"}}
}

func order(token string, count int, kinds ...string) cloud.Order {
	return cloud.Order{
		Token: token, Template: templateOf(), Pool: world.PoolID{Kind: world.NodePool, Name: "general"}, Count: count,
		Menu:         []string{"c5.large", "m5.large", "m5a.large"},
		Requirements: label.SetOf(label.Is(label.CapacityType, kinds...)),
		Requests:     amount.Of(amount.Entry{Name: amount.CPU, Value: 1000}, amount.Entry{Name: amount.Pods, Value: 3000}),
		Labels:       map[string]string{"karpenter.sh/nodepool": "general"},
	}
}

func TestLaunchAndEnd(t *testing.T) {
	ctx := context.Background()
	a := open(t, nil, nil)
	c, err := a.Catalog(ctx, templateOf())
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Shapes) < 700 {
		t.Errorf("only %d types to choose from", len(c.Shapes))
	}
	out := a.Launch(ctx, []cloud.Order{order("first", 3, label.OnDemand)})[0]
	if out.Err != nil || len(out.Machines) != 3 {
		t.Fatalf("want 3 machines, got %+v", out)
	}
	m := out.Machines[0]
	if m.Shape != "c5.large" || m.Labels["karpenter.k8s.aws/instance-family"] != "c5" || m.Capacity.Value(amount.CPU) != 2000 ||
		!strings.HasPrefix(m.ProviderID, "aws:///us-west-2") || !strings.HasPrefix(m.Name, "ip-") || m.Annotations["karpenter.k8s.aws/ec2nodeclass-hash"] != "1" {
		t.Errorf("the machine is not described: %+v", m)
	}
	if a.calls["CreateFleet"] != 1 {
		t.Errorf("%d fleet requests for one order", a.calls["CreateFleet"])
	}
	again := a.Launch(ctx, []cloud.Order{order("first", 3, label.OnDemand)})[0]
	if again.Err != nil || len(again.Machines) != 3 || again.Machines[0].ID != m.ID {
		t.Errorf("the same token gave other machines: %+v", again)
	}
	ids := []cloud.MachineID{m.ID, "i-00000000000000000", out.Machines[1].ID}
	for i, err := range a.Terminate(ctx, ids) {
		if err != nil {
			t.Errorf("terminate %s: %v", ids[i], err)
		}
	}
	left, err := a.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	alive := 0
	for _, m := range left {
		if !m.Ending {
			alive++
		}
	}
	if alive != 1 {
		t.Errorf("%d machines left, want 1: %+v", alive, left)
	}
}

// Sold out in one zone, the next choice comes in the same pass; sold out
// everywhere, the answer says so in EC2's words.
func TestSoldOut(t *testing.T) {
	ctx := context.Background()
	a := open(t, nil, nil)
	for _, shape := range []string{"c5.large", "m5.large"} {
		a.Market.SetCapacity(market.Capacity{Type: shape, Left: 0})
	}
	out := a.Launch(ctx, []cloud.Order{order("one", 2, label.Spot, label.OnDemand)})[0]
	if out.Err != nil || len(out.Machines) != 2 || out.Machines[0].Shape != "m5a.large" {
		t.Fatalf("want two m5a.large, got %+v", out)
	}
	a.Market.SetCapacity(market.Capacity{Type: "m5a.large", Left: 0})
	out = a.Launch(ctx, []cloud.Order{order("two", 1, label.OnDemand)})[0]
	if cloud.CodeOf(out.Err) != cloud.Capacity {
		t.Fatalf("want no capacity, got %+v", out)
	}
	if len(out.Failed) == 0 {
		t.Error("no offer is told to have failed")
	}
	for _, f := range out.Failed {
		if f.Zone == "" || f.ZoneID == "" || f.CapacityType != label.OnDemand || f.Reason != "LaunchFailed" {
			t.Errorf("an offer that failed has no zone, or another reason: %+v", f)
		}
	}
	c, err := a.Catalog(ctx, templateOf())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range c.Shapes {
		for _, o := range s.Offers {
			if s.Name == "m5a.large" && o.CapacityType == label.OnDemand && !o.Gone {
				t.Errorf("%s in %s is still on offer", s.Name, o.Zone)
			}
		}
	}
}

func TestClassThatSelectsNothing(t *testing.T) {
	nothing := []nodeclass.Selector{{Tags: []nodeclass.Tag{{Key: "no", Values: []string{"such"}}}}}
	tests := map[string]struct {
		change func(*nodeclass.Class)
		reason string
	}{
		"Subnets": {func(c *nodeclass.Class) { c.Subnets = nothing }, "SubnetsNotFound"},
		"Groups":  {func(c *nodeclass.Class) { c.Groups = nothing }, "SecurityGroupsNotFound"},
		"Images": {func(c *nodeclass.Class) {
			c.Images = []nodeclass.ImageSelector{{Selector: nodeclass.Selector{IDs: []string{"ami-0123"}}}}
		}, "AMINotFound"},
		"Kubelet": {func(c *nodeclass.Class) { c.Kubelet = []byte(`{"maxPods":[]}`) }, "InvalidKubeletConfiguration"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a := open(t, nil, tc.change)
			_, err := a.Catalog(context.Background(), templateOf())
			e, ok := err.(*cloud.Error) //nolint:errorlint // the driver returns it as it is
			if !ok || e.Code != cloud.NotReady || e.Reason != tc.reason {
				t.Errorf("got %v, want reason %s", err, tc.reason)
			}
		})
	}
}

// Launch templates that nothing starts from are deleted; those in use are not made twice.
func TestTemplates(t *testing.T) {
	ctx := context.Background()
	a := open(t, nil, nil)
	a.Launch(ctx, []cloud.Order{order("one", 1, label.OnDemand)})
	made := a.calls["CreateLaunchTemplate"]
	a.Launch(ctx, []cloud.Order{order("two", 1, label.OnDemand)})
	if made == 0 || a.calls["CreateLaunchTemplate"] != made {
		t.Errorf("%d templates for the first order, %d after the second", made, a.calls["CreateLaunchTemplate"])
	}
	if err := a.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if err := a.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if a.calls["DeleteLaunchTemplate"] != 0 {
		t.Errorf("templates were deleted while in use")
	}
}

// A launch template is kept while machines of its kind come again, and for an hour after the last.
func TestTemplatesAreKept(t *testing.T) {
	credentials(t)
	synctest.Test(t, func(t *testing.T) {
		w := &virtual{t: t}
		d := w.start()
		launch := func(token string) {
			t.Helper()
			if out := d.Launch(t.Context(), []cloud.Order{order(token, 1, label.OnDemand)})[0]; out.Err != nil || len(out.Machines) != 1 {
				t.Fatalf("%d machines, %v", len(out.Machines), out.Err)
			}
		}
		sweep := func() {
			t.Helper()
			if err := d.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		launch("first")
		made := w.calls("CreateLaunchTemplate")
		for i := range 4 {
			time.Sleep(50 * time.Minute)
			sweep()
			launch(fmt.Sprint("again-", i))
		}
		if n := w.calls("CreateLaunchTemplate"); made == 0 || n != made {
			t.Errorf("%d templates for the first machine, %d for five that came 50 minutes apart", made, n)
		}
		time.Sleep(61 * time.Minute)
		sweep()
		if left := w.account().Market.Templates(); len(left) > 0 {
			t.Errorf("%d templates are left that nothing was started from for an hour", len(left))
		}
	})
}
