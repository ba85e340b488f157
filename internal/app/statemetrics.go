package app

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	kube "k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/pool"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/statemetrics"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// leads reports whether this process does the work. What is there and what happens is
// counted by the one that does, so that sums over replicas are right.
func (p *parts) leads() bool {
	select {
	case <-p.m.Elected():
		return true
	default:
		return false
	}
}

// observe has what happens to pods counted. It must be called before the cluster state's sources start.
func (p *parts) observe() {
	p.metrics.Put(metric.BuildInfo, 1, p.Release, runtime.Version(), runtime.GOARCH, p.Commit)
	if p.Settings.Unobserved && !p.Settings.Trace.On() {
		return
	}
	if !p.Settings.Unobserved {
		p.cluster.Listen(p.limits.Heard)
	}
	p.cluster.Listen(func(c cluster.Change) {
		if p.leads() {
			p.pods.Heard(c)
		}
	})
}

// conditionEventsPerSecond is how many changes of conditions are reported a second, and at once: more
// would keep verdicts on pods from being heard.
const (
	conditionEventsPerSecond = 10
	conditionEventsAtOnce    = 50
)

// observeConditions has changes of conditions counted, and published as events, as are ends.
func (p *parts) observeConditions(ctx context.Context) error {
	if p.Settings.Unobserved {
		return nil
	}
	pace := rate.NewLimiter(conditionEventsPerSecond, conditionEventsAtOnce)
	publish := func(about any, what []statemetrics.Event) {
		for _, t := range what {
			if o, ok := about.(client.Object); ok && pace.Allow() {
				p.events.Normal(o, t.Reason, "%s", t.Message)
			}
		}
	}
	for _, o := range p.conditioned() {
		informer, err := p.m.GetCache().GetInformer(ctx, o)
		if err != nil {
			return fmt.Errorf("watch conditions of %T: %w", o, err)
		}
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			UpdateFunc: p.cluster.Panics.HandleUpdate("metrics of objects", func(before, after any) {
				was, _ := statemetrics.ObjectOf(before)
				is, ok := statemetrics.ObjectOf(after)
				if !ok || !p.leads() {
					return
				}
				statemetrics.Moved(p.metrics, was, is)
				publish(after, statemetrics.Events(was, is))
			}),
			DeleteFunc: p.cluster.Panics.Handle("metrics of objects", func(last any) {
				if gone, ok := last.(toolscache.DeletedFinalStateUnknown); ok {
					last = gone.Obj
				}
				if o, ok := statemetrics.ObjectOf(last); ok && p.leads() {
					statemetrics.Gone(p.metrics, o, p.Now())
					publish(last, statemetrics.Finalized(o, nil))
				}
			}),
		})
		if err != nil {
			return fmt.Errorf("watch conditions of %T: %w", o, err)
		}
	}
	return nil
}

// conditioned are the kinds with metrics of their conditions that the API server has.
func (p *parts) conditioned() []client.Object {
	out := []client.Object{&v1.NodeClaim{}, &v1.NodePool{}, &corev1.Node{}}
	if p.classKind {
		out = append(out, &awsv1.EC2NodeClass{})
	}
	if p.buffers {
		out = append(out, &v1beta1.CapacityBuffer{})
	}
	return out
}

// scrapeWithin is how long a scrape may take to be written: the next one waits for it.
const scrapeWithin = 30 * time.Second

// scrape answers with all metrics as text. What is counted all the time is gathered; series of single objects are
// made while they are written, since gathered first those of 150,000 pods would take more memory than all else. One
// scrape is answered at a time.
func (p *parts) scrape(gathered http.Handler) http.Handler {
	var one sync.Mutex
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one.Lock()
		defer one.Unlock()
		_ = http.NewResponseController(w).SetWriteDeadline(p.Now().Add(scrapeWithin))
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			z, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // a hundred megabytes are not rare
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			defer func() { _ = z.Close() }()
			w.Header().Set("Content-Encoding", "gzip")
			w = compressed{w, z}
		}
		plain := r.Clone(r.Context())
		open := p.Settings.Trace.On() && strings.Contains(r.Header.Get("Accept"), "application/openmetrics-text")
		if open {
			plain.Header.Set("Accept", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		} else {
			plain.Header.Del("Accept") // only text can be followed by more text
		}
		plain.Header.Del("Accept-Encoding")
		var rest []perObject // if it cannot be had, what is counted is shown without it
		p.cluster.Panics.Do("scrape", func() { rest = p.measure(r.Context()) })
		gathered.ServeHTTP(unterminated{w}, plain)
		out := bufio.NewWriterSize(w, 64<<10)
		for _, one := range rest {
			if err := p.metrics.WriteText(out, one.name, one.samples); err != nil {
				return // the reader has gone
			}
		}
		if open {
			_, _ = out.WriteString(endOfMetrics)
		}
		_ = out.Flush()
	})
}

// endOfMetrics is the last line of OpenMetrics.
const endOfMetrics = "# EOF\n"

// unterminated leaves the last line of OpenMetrics out, so that more can follow.
type unterminated struct{ http.ResponseWriter }

// Write is http.ResponseWriter's.
func (e unterminated) Write(b []byte) (int, error) {
	if text, last := bytes.CutSuffix(b, []byte(endOfMetrics)); last {
		n, err := e.ResponseWriter.Write(text)
		if err != nil {
			return n, err
		}
		return len(b), nil
	}
	return e.ResponseWriter.Write(b)
}

// compressed is an answer that is compressed on its way.
type compressed struct {
	http.ResponseWriter

	z *gzip.Writer
}

// Write is http.ResponseWriter's.
func (s compressed) Write(b []byte) (int, error) { return s.z.Write(b) }

// perObject is a metric of single objects, and what makes its series.
type perObject struct {
	name    string
	samples iter.Seq[metric.Sample]
}

// measure brings the gauges up to date, and returns the metrics of single objects.
func (p *parts) measure(ctx context.Context) []perObject {
	synced, since := p.cluster.Synced()
	if !synced {
		p.metrics.Put(metric.ClusterStateUnsynced, p.Now.Since(since).Seconds())
		return nil
	}
	p.metrics.Put(metric.ClusterStateSynced, 1)
	p.metrics.Put(metric.ClusterStateUnsynced, 0)
	if !p.leads() { // or sums over replicas would count everything twice
		return nil
	}
	w := p.cluster.World()
	p.metrics.Put(metric.ClusterStateNodes, float64(len(w.Places())))
	if p.Settings.Unobserved {
		return nil
	}
	p.unpriced.Look(p.metrics, w)
	live.Measure(p.metrics, w)
	if d, ok := p.Driver.(author); ok {
		var sizes []metric.Sample
		for class, bytes := range d.UserData() {
			sizes = append(sizes, metric.Sample{Labels: []string{class}, Value: float64(bytes)})
		}
		p.metrics.Replace(metric.UserDataBytes, sizes)
	}
	var out []perObject
	for _, few := range []statemetrics.Samples{statemetrics.Of(w, pool.Usage(w)), p.pods.Samples(), p.passes.Samples()} {
		for _, name := range slices.Sorted(maps.Keys(few)) {
			out = append(out, perObject{name, slices.Values(few[name])})
		}
	}
	for _, name := range statemetrics.EachNames() {
		out = append(out, perObject{name, statemetrics.Each(w, nodeLabels(), name)})
	}
	for _, name := range statemetrics.LimitNames() {
		out = append(out, perObject{name, p.limits.Each(w, nodeLabels(), name)})
	}
	objects, now := p.objects(ctx), p.Now()
	for _, name := range statemetrics.ConditionNames() {
		out = append(out, perObject{name, statemetrics.Conditions(objects, now, name)})
	}
	return out
}

// objects are all that have conditions.
func (p *parts) objects(ctx context.Context) []statemetrics.Object {
	var out []statemetrics.Object
	lists := []client.ObjectList{&v1.NodeClaimList{}, &v1.NodePoolList{}, &corev1.NodeList{}}
	if p.classKind {
		lists = append(lists, &awsv1.EC2NodeClassList{})
	}
	if p.buffers {
		lists = append(lists, &v1beta1.CapacityBufferList{})
	}
	for _, list := range lists {
		if err := p.m.GetCache().List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			continue // the cache does not fail but while it starts or stops
		}
		_ = meta.EachListItem(list, func(item kube.Object) error {
			if o, ok := statemetrics.ObjectOf(item); ok {
				out = append(out, o)
			}
			return nil
		})
	}
	return out
}
