package app_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
)

// calls counts what a controller writes to the API server, by verb and kind.
type calls struct {
	mu sync.Mutex
	n  map[string]int
}

// name is the part of an object's path that names the object itself.
var name = regexp.MustCompile(`^/apis?/(?:[^/]+/)?v[^/]+/(?:namespaces/[^/]+/)?([a-z]+)(?:/[^/]+(/[a-z]+)?)?$`)

func (c *calls) count(k *rest.Config) *rest.Config {
	k.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodGet {
				c.add(r.Method + " " + name.ReplaceAllString(r.URL.Path, "$1$2"))
			}
			return next.RoundTrip(r)
		})
	})
	return k
}

func (c *calls) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[what]++
}

// take returns what was counted since it was last called.
func (c *calls) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := c.n
	c.n = map[string]int{}
	return out
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// With NODES=500 in the environment this measures how so many nodes come and
// go, each for one pod: it asserts nothing but that they do, and says what it saw.
func TestNodesAtScale(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("NODES"))
	if err != nil {
		t.Skip("set NODES to how many are to come")
	}
	counted := &calls{n: map[string]int{}}
	h := build(t, counted)
	ns := kubetest.Namespace(t)
	p, d := pool("scale"), deployment(ns, "web", 1, "900m")
	p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "100%"}}
	d.Spec.Template.Spec.Affinity = apart(d)
	labels := map[string]string{"app": "web"}
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Labels: labels}, Spec: d.Spec.Template.Spec}
	start := time.Now()
	many(n, func(i int) {
		one := pod.DeepCopy()
		one.Name = fmt.Sprint("web-", i)
		if err := h.client.Create(t.Context(), one); err != nil {
			t.Error(err)
		}
	})
	t.Logf("%d pods made after %v", n, time.Since(start))
	counted.take()
	h.make(t, p)
	start, cpu := time.Now(), used()
	until := func(what string, done func(claims []v1.NodeClaim) bool) {
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 10*time.Minute, true, func(context.Context) (bool, error) {
			claims, err := h.claims()
			return err == nil && done(claims), nil
		})
		if err != nil {
			t.Fatal(what, err)
		}
		t.Logf("%d claims %s after %v, %v of processor time", n, what, time.Since(start).Round(time.Millisecond), (used() - cpu).Round(time.Millisecond))
	}
	reached := func(kind string) {
		until(kind, func(claims []v1.NodeClaim) bool {
			have := 0
			for i := range claims {
				if kind == "" || claims[i].Conditions().Is(kind) {
					have++
				}
			}
			return have >= n
		})
	}
	for _, kind := range []string{"", v1.ConditionLaunched, v1.ConditionRegistered, v1.ConditionInitialized} {
		reached(kind)
	}
	h.allRun(t, ns, n)
	t.Logf("all pods run after %v; %d machines were bought", time.Since(start).Round(time.Millisecond), len(h.market.Instances()))
	pause(5 * time.Second) // for what follows the last pod
	report(t, "to come", n, counted.take())

	start, cpu = time.Now(), used()
	pause(10 * time.Second)
	report(t, "while nothing happens", n, counted.take())
	t.Logf("%.3f processors while nothing happens", (used()-cpu).Seconds()/time.Since(start).Seconds())

	start, cpu = time.Now(), used()
	kubetest.Within(t, 5*time.Minute, func() error { // a busy API server gives up on so many at once
		return h.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(ns))
	})
	until("were left", func(claims []v1.NodeClaim) bool { return len(claims) == 0 })
	report(t, "to go", n, counted.take())
	h.clear(t, p)
}

// allRun waits until so many pods run. That takes long where a pod has been
// forgotten: kube-scheduler looks at those again after five minutes.
func (h fixture) allRun(t *testing.T, ns string, n int) {
	t.Helper()
	start, told := time.Now(), false
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 7*time.Minute, true, func(context.Context) (bool, error) {
		have, err := h.running(ns)
		if !told && have < n && time.Since(start) > 30*time.Second {
			told = true
			t.Logf("after 30 s %d of %d pods run:\n%s", have, n, h.left(ns))
		}
		return err == nil && have == n, nil
	})
	if err != nil || told {
		t.Errorf("pods were left for %v: %v\n%s", time.Since(start), err, h.left(ns))
	}
}

// report says what was written, for each of n nodes.
func report(t *testing.T, when string, n int, what map[string]int) {
	t.Helper()
	total := 0
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(what)) {
		if !strings.Contains(k, "events") {
			total += what[k]
		}
		lines = append(lines, fmt.Sprintf("%7.2f %s", float64(what[k])/float64(n), k))
	}
	t.Logf("%s, %.2f writes a node, events apart:\n%s", when, float64(total)/float64(n), strings.Join(lines, "\n"))
}

// many does something n times, several at a time.
func many(n int, do func(int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 32)
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			do(i)
		})
	}
	wg.Wait()
}

// pause lets time pass that is measured itself.
func pause(d time.Duration) { <-time.After(d) }

// used is the processor time of this process, the simulated machines included.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
