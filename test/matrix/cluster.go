package matrix

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/apitest"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/sim/driver"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// How long things take that are not the controller's.
const (
	joins   = 20 * time.Second // from a running machine to its node
	starts  = 2 * time.Second  // from a bound pod to one that is ready
	leaves  = 2 * time.Second  // from a pod that is deleted to its end
	silence = 40 * time.Second // of a kubelet, until its node is not ready
	patient = 3 * time.Minute  // for which a pod may wait without a word
)

// testCluster is one cluster, its cloud and its controller.
type testCluster struct {
	t      *testing.T
	api    *apiserver
	market *market.Market
	cloud  *faultyCloud
	skew   atomic.Int64 // of the controller's clock
	queue  *queue       // of notices; nil: the controller is not told of any
	folder string       // of the journal; empty: it is kept in memory
	leases bool         // the controller leads by a Lease
	log    logr.Logger  // what it says

	life    *life   // the controller that runs now
	late    []*life // those that were killed before they had begun
	lives   int
	workers map[string]*workload
	host    map[string]*host // by machine

	mu        sync.Mutex // of what follows, and of host
	serial    int
	barren    bool // machines that are bought now never register
	deaf      bool // no pod can be told anything
	undrained bool // machines may end with pods on them, because the story or the fault says so
	problems  []string
	waits     map[string]time.Time // since when pods wait
}

// workload has pods made, as a Deployment would.
type workload struct {
	name     string
	replicas int
	cpu      string
	edit     func(*corev1.Pod)
}

// host is the machine of a node, and how its kubelet does.
type host struct {
	market.Instance

	since  time.Time // it runs
	node   string
	quiet  time.Time // since when its kubelet is silent; zero: it is not
	mute   bool      // it is cut off
	never  bool      // it does not register
	reason string    // that it gives for being ready
}

// life is one process of the controller.
type life struct {
	stop context.CancelFunc
	done chan struct{}
	dead atomic.Bool
	app  atomic.Pointer[app.App] // once it is put together
}

// begins reports whether it waits for its caches. A manager that is stopped while
// it does keeps time from going by.
func (l *life) begins() bool {
	a := l.app.Load()
	if a == nil {
		return false
	}
	select {
	case <-a.Begun():
		return false
	default:
		return true
	}
}

// deadTransport carries the calls of a process until it is killed. What it reads
// after that makes no difference to anything.
type deadTransport struct {
	*life

	next http.RoundTripper
}

// RoundTrip is http.RoundTripper's.
func (d deadTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.dead.Load() && r.Method != http.MethodGet {
		return nil, errNoAnswer
	}
	return d.next.RoundTrip(r)
}

// region is loaded once, outside of virtual time.
var region = sync.OnceValues(func() (*catalog.Region, error) {
	all, err := catalog.Load()
	if err != nil {
		return nil, err
	}
	return all.Region("us-east-1")
})

// newTestCluster returns a cluster whose controller does not run yet. It must be called in a bubble.
func newTestCluster(t *testing.T, r *catalog.Region) *testCluster {
	t.Helper()
	api, err := newServer()
	if err != nil {
		t.Fatal(err)
	}
	w := &testCluster{t: t, api: api, log: logger(t), workers: map[string]*workload{}, host: map[string]*host{}, waits: map[string]time.Time{}}
	w.market = market.New(market.Config{
		Region: r.Name, Account: "123456789012", Zones: market.ZonesOf(r)[:3], Seed: 1, Now: time.Now,
		Types: slices.DeleteFunc(market.TypesOf(r), func(t market.Type) bool {
			return !slices.Contains([]string{"m5.large", "m5.xlarge", "m5.2xlarge", "c5.large", "c5.xlarge"}, t.Name)
		}),
		Timing: market.Timing{Boot: 8 * time.Second, ShutDown: 20 * time.Second, Forget: 24 * time.Hour, SpotNotice: 2 * time.Minute, PricePeriod: time.Hour},
	})
	for i, z := range w.market.Zones() {
		w.market.AddSubnet(market.Subnet{VPC: "vpc-1", Zone: z.Name, Range: prefix(i)})
	}
	w.cloud = &faultyCloud{Driver: driver.New(w.market, "matrix"), cluster: w, faults: map[string]cloudFault{}}
	w.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}})
	return w
}

// prepare makes what a fault or a story needs to be there before the controller starts.
func (w *testCluster) prepare(r *catalog.Region, s story, wrong ...during) (err error) {
	queue := s.queue
	for _, f := range wrong {
		queue, w.leases = queue || f.queue, w.leases || f.leases
		if f.journals {
			w.folder = filepath.Join(w.t.TempDir(), "journal")
		}
		if f.ever {
			f.stage(w)
		}
	}
	if queue {
		if w.queue, err = newQueue(r); err != nil {
			return err
		}
		w.market.Observe(market.Observers{OnNotice: w.queue.heard})
	}
	return nil
}

func (w *testCluster) add(objects ...client.Object) {
	w.t.Helper()
	for _, o := range objects {
		if err := w.api.Add(o); err != nil {
			w.t.Fatal(err)
		}
	}
}

// problem notes what must not be.
func (w *testCluster) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.ContainsFunc(w.problems, func(p string) bool { return strings.HasSuffix(p, text) }) {
		w.problems = append(w.problems, time.Now().UTC().Format(time.TimeOnly)+" "+text)
	}
}

// start starts a process of the controller.
func (w *testCluster) start() {
	w.t.Helper()
	settings := app.Defaults()
	settings.MetricsPort, settings.HealthPort, settings.LeaderElection, settings.LeaseNamespace = 0, 0, w.leases, "default"
	settings.WebhookPort, settings.JournalDir = 0, w.folder
	ctx, stop := context.WithCancel(context.Background())
	l := &life{stop: stop, done: make(chan struct{})}
	w.lives++
	config := app.Config{
		Kubernetes: &rest.Config{Host: "https://matrix.invalid", Transport: deadTransport{l, w.api}},
		Driver:     mortal{w.cloud, l}, Provider: "sim", Settings: settings, Log: w.log, Now: func() time.Time { return apitest.Set(time.Now(), time.Duration(w.skew.Load())) },
	}
	if w.queue != nil {
		config.Driver = w.queue.driver(mortal{w.cloud, l})
	}
	w.life = l
	go func() {
		defer close(l.done)
		for ctx.Err() == nil { // an API server that does not answer ends a process; its pod is started again
			err := l.live(ctx, config)
			if ctx.Err() != nil || l.dead.Load() {
				return
			}
			if err != nil {
				config.Log.Error(err, "the controller ended")
			}
			pause := time.NewTimer(10 * time.Second)
			select {
			case <-ctx.Done():
			case <-pause.C:
			}
			pause.Stop()
		}
	}()
}

// live is the life of a process, as its command has it.
func (l *life) live(ctx context.Context, c app.Config) error {
	l.app.Store(nil)
	time, err := app.Follow(ctx, c.Kubernetes, c.Now, c.Log)
	if err != nil {
		return err
	}
	c.Clock = time
	a, err := app.New(ctx, c)
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	l.app.Store(a)
	return a.Run(ctx)
}

// kill ends the process as kill -9 does: from now on nothing it calls is heard.
func (w *testCluster) kill() {
	w.life.dead.Store(true)
	w.api.CutWatches(false)
	if w.life.begins() {
		w.late = append(w.late, w.life)
		return
	}
	w.life.stop()
	<-w.life.done
}

// end ends the process, and lets go by what it still waits for: when the test of
// a bubble returns its time stands still.
func (w *testCluster) end() {
	w.kill()
	time.Sleep(time.Hour)
	synctest.Wait()
	for _, l := range w.late {
		l.stop()
		<-l.done
	}
	time.Sleep(time.Hour)
	synctest.Wait()
}

// logger is what the controller says: nothing, unless LOG is set.
func logger(t *testing.T) logr.Logger {
	if os.Getenv("LOG") == "" {
		return funcr.New(func(string, string) {}, funcr.Options{})
	}
	return funcr.New(func(prefix, args string) { t.Log(time.Now().UTC().Format(time.TimeOnly), prefix, args) }, funcr.Options{})
}

// live lets time go by, second by second, until done holds; false if it does not within limit.
func (w *testCluster) live(limit time.Duration, done func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		time.Sleep(time.Second)
		synctest.Wait()
		w.step()
		synctest.Wait()
		if done() {
			return true
		}
	}
	return false
}

func (w *testCluster) pass(d time.Duration) { w.live(d, func() bool { return false }) }

// step is one second of everything but the controller.
func (w *testCluster) step() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.market.Tick()
	if w.queue != nil {
		if err := w.queue.step(); err != nil {
			w.t.Fatal(err)
		}
	}
	w.machines()
	w.kubelets()
	w.own()
	w.bind()
	w.watch()
}

// machines takes over what has become of machines.
func (w *testCluster) machines() {
	for _, i := range w.market.Instances() {
		h := w.host[i.ID]
		if h == nil {
			h = &host{never: w.barren}
			w.host[i.ID] = h
		}
		if h.Instance = i; i.State == market.Running && h.since.IsZero() {
			h.since = time.Now()
		}
		if i.State.Gone() {
			h.mute = true
		}
	}
}

// watch looks for what must not be at any time.
func (w *testCluster) watch() {
	now := time.Now()
	there := map[string]bool{}
	for _, p := range all[corev1.Pod](w.api) {
		if p.Spec.NodeName != "" || p.DeletionTimestamp != nil {
			continue
		}
		there[p.Name] = true
		since, ok := w.waits[p.Name]
		if !ok || w.deaf { // while nothing can be told, patience has not begun
			w.waits[p.Name] = now
			continue
		}
		if now.Sub(since) > patient && w.api.Told(p.UID) == 0 {
			w.problem("no word about pod %s, which waits for %v", p.Name, patient)
		}
	}
	for name := range w.waits {
		if !there[name] {
			delete(w.waits, name)
		}
	}
}

// terminating is called before machines end by the controller's hand.
func (w *testCluster) terminating(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	h := w.host[id]
	if h == nil || h.node == "" || w.undrained {
		return
	}
	for _, p := range all[corev1.Pod](w.api) {
		if p.Spec.NodeName == h.node && p.DeletionTimestamp == nil && !h.mute {
			w.problem("machine %s ends with pod %s on it", id, p.Name)
		}
	}
}

// unsettled says what is not as it should be when all is quiet; empty: nothing.
func (w *testCluster) unsettled() string {
	claims, nodes := all[v1.NodeClaim](w.api), all[corev1.Node](w.api)
	byID := map[string]int{}
	for _, c := range claims {
		byID[c.Status.ProviderID]++
		switch {
		case c.DeletionTimestamp != nil:
			return "claim " + c.Name + " is on its way out"
		case !c.Conditions().Is(v1.ConditionInitialized):
			return "claim " + c.Name + " is not initialized"
		}
	}
	running := 0
	for _, i := range w.market.Instances() {
		if i.State.Gone() {
			continue
		}
		running++
		if byID[driver.ProviderID(i)] != 1 {
			return fmt.Sprintf("machine %s has %d claims", i.ID, byID[driver.ProviderID(i)])
		}
	}
	if running != len(claims) || running != len(nodes) {
		return fmt.Sprintf("%d machines, %d claims, %d nodes", running, len(claims), len(nodes))
	}
	for _, p := range all[corev1.Pod](w.api) {
		if p.DeletionTimestamp != nil || !ready(p) {
			return "pod " + p.Name + " does not run"
		}
	}
	return ""
}
