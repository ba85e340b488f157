package size

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/awsapi"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

var (
	podsOf   = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	nodesOf  = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	claimsOf = schema.GroupVersionResource{Group: v1.Group, Version: "v1", Resource: "nodeclaims"}
)

// cluster is an API server, an account whose machines join it, and a scheduler that follows nominations.
type cluster struct {
	*server

	account *awsapi.Account
	cloud   string // URL of the account

	bind chan *corev1.Pod // nominated pods that wait
}

// newCluster builds a cluster with a class and a pool.
func newCluster(t testing.TB) *cluster {
	t.Helper()
	s, closing, err := newServer()
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{server: s, bind: make(chan *corev1.Pod, 1<<20)}
	c.account, err = awsapi.NewAccount(awsapi.Config{
		Region: region, ClusterName: clusterName, Endpoint: s.URL, CA: []byte("certificate"), Now: time.Now, Limits: map[string]market.Limit{},
		Timing: market.Timing{Boot: time.Second, ShutDown: time.Second, Forget: time.Hour, SpotNotice: time.Minute, PricePeriod: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	url, done, err := awsapi.NewServer(c.account).Listen(ctx, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.cloud = url
	if err := s.add(class(c.image().ID), pool(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}}); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := s.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("team-", i)}}); err != nil {
			t.Fatal(err)
		}
	}
	var running sync.WaitGroup
	running.Go(func() { c.schedule(ctx) })
	t.Cleanup(func() { stop(); <-done; closing(); running.Wait() })
	return c
}

// image is one that machines of the usual kind start from.
func (c *cluster) image() market.Image {
	all := c.account.Market.Images()
	i := slices.IndexFunc(all, func(i market.Image) bool { return i.Arch == "x86_64" && strings.Contains(i.Name, "al2023") })
	return all[i]
}

// settle puts machines there that the controller made long ago, and pods on them; it names no more than waiting pods besides.
func (c *cluster) settle(nodes, podsEach int) error {
	const size = "m5.4xlarge"
	var subnets []market.Subnet
	for _, s := range c.account.Market.Subnets() {
		if s.Tags["karpenter.sh/discovery"] == clusterName {
			subnets = append(subnets, s)
		}
	}
	var groups []string
	for _, g := range c.account.Market.SecurityGroups() {
		if g.Tags["karpenter.sh/discovery"] == clusterName {
			groups = append(groups, g.ID)
		}
	}
	tags := market.Tags{
		"kubernetes.io/cluster/" + clusterName: "owned", "eks:eks-cluster-name": clusterName, "karpenter.sh/nodepool": poolName, "karpenter.k8s.aws/ec2nodeclass": className,
	}
	pods, apps := 0, make([]*app, 3000)
	for n := range apps {
		apps[n] = appOf(1000 + n)
	}
	for made := 0; made < nodes; {
		n := min(100, nodes-made)
		machines, err := c.account.Market.RunInstances(market.RunRequest{
			Data: market.TemplateData{Image: c.image().ID, Type: size, Groups: groups}, Subnet: subnets[made/100%len(subnets)].ID, Min: n, Max: n,
			Tags: []market.TagSpec{{Kind: "instance", Tags: tags}},
		})
		if err != nil {
			return fmt.Errorf("start machines: %w", err)
		}
		for _, i := range machines {
			n, claim := settled(i, c.account.Market.Type(size))
			if err := c.add(n, claim); err != nil {
				return err
			}
			for range podsEach {
				if err := c.add(apps[pods%len(apps)].pod(pods, n.Name)); err != nil {
					return err
				}
				pods++
			}
		}
		made += n
	}
	return nil
}

// wait has pods of so many Deployments wait for nodes.
func (c *cluster) wait(pods, apps int) error {
	for k := range apps {
		a := appOf(k)
		for i := range pods / apps {
			if err := c.add(a.pod(i, "")); err != nil {
				return err
			}
		}
	}
	return nil
}

// open has machines that boot from now on join, and nominated pods be bound.
func (c *cluster) open() {
	c.account.Observe(market.Observers{
		OnRunning: func(i market.Instance) {
			c.mu.Lock()
			defer c.mu.Unlock()
			n := node(i, c.account.Market.Type(i.Type))
			if _, there := c.table(nodesOf).objects[client.ObjectKeyFromObject(n)]; !there {
				c.born(n)
				c.put(nodesOf, watch.Added, n)
			}
		},
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = func(what watch.EventType, o client.Object) {
		if p, ok := o.(*corev1.Pod); ok && what == watch.Modified && p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" {
			c.bind <- p
		}
	}
}

// schedule binds pods that are nominated for nodes, as soon as those take pods.
func (c *cluster) schedule(ctx context.Context) {
	var wait []*corev1.Pod
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case p := <-c.bind:
			wait = append(wait, p)
		case <-tick.C:
			c.mu.Lock()
			wait = slices.DeleteFunc(wait, c.bound)
			c.mu.Unlock()
		}
	}
}

// bound binds a pod if it can be; true also if there is no more need. The lock is held.
func (c *cluster) bound(p *corev1.Pod) bool {
	now, ok := c.table(podsOf).objects[client.ObjectKeyFromObject(p)].(*corev1.Pod)
	if !ok || now.Spec.NodeName != "" || now.Status.NominatedNodeName == "" {
		return true
	}
	n, ok := c.table(nodesOf).objects[client.ObjectKey{Name: now.Status.NominatedNodeName}].(*corev1.Node)
	if !ok || len(n.Spec.Taints) > 0 {
		return false
	}
	next := now.DeepCopy()
	next.Spec.NodeName, next.Status.Phase = n.Name, corev1.PodRunning
	next.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionTrue}, {Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	c.put(podsOf, watch.Modified, next)
	return true
}

// waiting is how many pods have no node.
func (c *cluster) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unbound
}

// process is a controller that runs by itself.
type process struct {
	cmd   *exec.Cmd
	pages string // address of its pages
	log   string
	ended chan struct{}
	why   error
}

// start runs the program as the controller of the cluster until the test ends.
func (c *cluster) start(t testing.TB, program string, env []string, flags ...string) *process {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	k := api.NewConfig()
	k.Clusters["size"], k.AuthInfos["me"] = &api.Cluster{Server: c.URL}, &api.AuthInfo{}
	k.Contexts["size"], k.CurrentContext = &api.Context{Cluster: "size", AuthInfo: "me"}, "size"
	if err := clientcmd.WriteToFile(*k, kubeconfig); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{pages: l.Addr().String(), log: filepath.Join(dir, "log"), ended: make(chan struct{})}
	_, port, _ := net.SplitHostPort(p.pages)
	_ = l.Close()
	log, err := os.Create(p.log)
	if err != nil {
		t.Fatal(err)
	}
	p.cmd = exec.Command(program, append([]string{
		"controller", "--kubeconfig", kubeconfig, "--cluster-name", clusterName, "--interruption-queue", clusterName, "--bind-address", "127.0.0.1", "--metrics-port", port,
		"--health-probe-port", "0", "--disable-leader-election", "--enable-profiling", "--kube-client-qps", "2000", "--kube-client-burst", "3000",
	}, flags...)...)
	p.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "AWS_ENDPOINT_URL=" + c.cloud, "AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=" + awsapi.ControllerKey,
		"AWS_SECRET_ACCESS_KEY=" + awsapi.SecretKey, "AWS_EC2_METADATA_DISABLED=true",
	}, env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.why = p.cmd.Wait()
		_ = log.Close()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if text, err := os.ReadFile(p.log); err == nil && t.Failed() {
			t.Logf("the controller's log ends with:\n%s", text[max(0, len(text)-16<<10):])
		}
	})
	return p
}

// alive fails if the controller has ended.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("the controller has ended: %w", p.why)
	default:
		return nil
	}
}

// memory is what the kernel says that a process holds, in bytes.
type memory struct {
	Resident, Anonymous, Peak int64
}

func (p *process) memory() (memory, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return memory{}, errors.Join(p.alive(), err)
	}
	defer f.Close()
	var m memory
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, value, _ := strings.Cut(lines.Text(), ":")
		to := map[string]*int64{"VmRSS": &m.Resident, "RssAnon": &m.Anonymous, "VmHWM": &m.Peak}[key]
		if to == nil {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return m, err
		}
		*to = kib << 10
	}
	return m, nil
}

// spent is the processor time that the process has used.
func (p *process) spent() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	const user, kernel, tick = 11, 12, 10 * time.Millisecond // counted after the name; the kernel's unit for programs
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	sum := time.Duration(0)
	for _, i := range []int{user, kernel} {
		if i < len(words) {
			n, _ := strconv.Atoi(words[i])
			sum += time.Duration(n) * tick
		}
	}
	return sum
}

// get reads one of the controller's pages.
func (p *process) get(ctx context.Context, path string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.pages+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

// heap is what lives on the controller's heap, and how many goroutines there are.
func (p *process) heap(ctx context.Context) (bytes, goroutines int64, err error) {
	if _, err := p.get(ctx, "/debug/pprof/heap?gc=1"); err != nil {
		return 0, 0, err
	}
	text, err := p.get(ctx, "/debug/pprof/heap?gc=1&debug=1")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "# HeapAlloc = "); ok {
			bytes, err = strconv.ParseInt(strings.TrimSpace(n), 10, 64)
		}
	}
	all, err2 := p.get(ctx, "/debug/pprof/goroutine?debug=1")
	if _, err3 := fmt.Sscanf(string(all), "goroutine profile: total %d", &goroutines); err3 != nil {
		err2 = errors.Join(err2, err3)
	}
	return bytes, goroutines, errors.Join(err, err2)
}

// scraped has the metrics read every fifteen seconds, as a Prometheus does, until the test or the process ends.
func (p *process) scraped(t testing.TB) {
	ctx, stop := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		tick := time.NewTicker(15 * time.Second)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-p.ended:
				return
			case <-tick.C:
			}
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.pages+"/metrics", nil)
			if err != nil {
				continue
			}
			if res, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			}
		}
	})
	t.Cleanup(func() { stop(); reading.Wait() })
}

// series is how many series a scrape has.
func (p *process) series(ctx context.Context) (int, error) {
	text, err := p.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n, nil
}

// kept keeps a profile of the heap with the test's artifacts.
func (p *process) kept(t testing.TB, name string) {
	data, err := p.get(context.Background(), "/debug/pprof/heap?gc=1")
	if err == nil {
		err = os.WriteFile(filepath.Join(t.ArtifactDir(), name), data, 0o600)
	}
	if err != nil {
		t.Log(err)
	}
}

func asJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
