// Package app puts the system together by hand: settings in, a running controller out. Read from top to bottom it is the wiring diagram.
package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/pprof"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/tenon-sh/tenon/api/autoscaling/v1beta1"
	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	awsv1alpha1 "github.com/tenon-sh/tenon/api/aws/v1alpha1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	engine "github.com/tenon-sh/tenon/engine/disrupt"
	"github.com/tenon-sh/tenon/engine/label"
	decide "github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/cluster"
	"github.com/tenon-sh/tenon/internal/controller/collect"
	"github.com/tenon-sh/tenon/internal/controller/disrupt"
	"github.com/tenon-sh/tenon/internal/controller/initialize"
	"github.com/tenon-sh/tenon/internal/controller/launch"
	"github.com/tenon-sh/tenon/internal/controller/liveness"
	"github.com/tenon-sh/tenon/internal/controller/podevent"
	"github.com/tenon-sh/tenon/internal/controller/provision"
	"github.com/tenon-sh/tenon/internal/controller/register"
	"github.com/tenon-sh/tenon/internal/controller/static"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
	"github.com/tenon-sh/tenon/internal/enact"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/lead"
	"github.com/tenon-sh/tenon/internal/loop"
	"github.com/tenon-sh/tenon/internal/metric"
	"github.com/tenon-sh/tenon/internal/observe"
	"github.com/tenon-sh/tenon/internal/panics"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/statemetrics"
	"github.com/tenon-sh/tenon/internal/web"
	"github.com/tenon-sh/tenon/internal/web/live"
)

// Config is what a controller is made of.
type Config struct {
	Kubernetes *rest.Config
	Driver     cloud.Driver
	Provider   string // the driver's name, for metrics
	Settings   Settings
	Release    string // of the program
	Commit     string // it was built from
	Log        logr.Logger
	LogLevel   *DynamicLevel // how much is logged; nil: that stays as it is
	Fence      *lead.Fence   // that a driver asks before it writes; nil: none does
	Classes    *ClassCache   // from which a driver reads classes; nil: it has a way of its own
	Now        clock.Now
	Clock      *clock.Followed // that is gone by instead, and compared with the dates of the API server's answers; nil: none
}

// maxJournalDecisions is how many decisions the journal keeps at most, within its memory and its day.
const maxJournalDecisions = 1000

// App is a controller that has been put together and can be run once.
type App struct {
	Journal *journal.Journal
	Cluster *cluster.Cluster

	manager ctrl.Manager
	begun   chan struct{} // closed once the manager's caches are there
	hush    func()        // ends the publishing of events
}

// parts are what the controllers share.
type parts struct {
	Config
	m       ctrl.Manager
	cluster *cluster.Cluster
	cloud   *cloud.Cloud
	events  *loop.Events
	hush    func() // ends their publishing
	metrics *metric.Set
	enact   *enact.Enactor
	journal *journal.Journal
	records *record.Recorder // nil: nothing is recorded
	feed    *record.Feed     // of decisions, for those who record elsewhere
	leader  func() string    // that acts, if it is another replica
	pages   http.Handler     // what is seen and decided; nil where there is no port for it
	pods    *statemetrics.Pods
	limits  *statemetrics.Limits
	passes  *statemetrics.Passes

	unpriced     statemetrics.Unpriced
	classKind    bool // the API server has EC2NodeClasses
	provisioners bool // Provisioners are followed
	overlays     bool // NodeOverlays are followed
	buffers      bool // CapacityBuffers are followed
}

// New puts a controller together. It talks to the API server only to learn its kinds and version.
func New(ctx context.Context, c Config) (*App, error) {
	if c.Now == nil {
		c.Now = clock.Wall
	}
	if c.Settings.Shadow {
		c = shadowed(c)
	}
	if c.Fence == nil {
		c.Fence = lead.NewFence(c.Now)
	}
	registry := prometheus.NewRegistry()
	metrics, err := metric.New(registry, metric.NodeLabels(nodeLabels()))
	if err != nil {
		return nil, err
	}
	c = c.counted(metrics)
	lock, hush, err := c.elected() // by the own clock, which shows when the computer has slept
	if err != nil {
		return nil, err
	}
	c = c.following()
	m, err := newManager(c, lock)
	if err != nil {
		return nil, err
	}
	p := &parts{
		Config: c, m: m, metrics: metrics, hush: hush,
		pods: statemetrics.NewPods(metrics, c.Now), limits: statemetrics.NewLimits(), passes: statemetrics.NewPasses(c.Now),
	}
	if err := p.readers(); err != nil {
		return nil, err
	}
	if err := p.writers(ctx, lock); err != nil {
		return nil, err
	}
	if err := p.follow(); err != nil {
		return nil, err
	}
	if err := p.traces(ctx); err != nil {
		return nil, err
	}
	p.observe()
	act := p.controllers
	if c.Settings.Shadow {
		act = p.shadow
	}
	for _, add := range []func() error{
		act, func() error { return p.serve(registry) }, p.webhook, p.watch, func() error { return p.observeConditions(ctx) },
	} {
		if err := add(); err != nil {
			return nil, err
		}
	}
	a := &App{Journal: p.journal, Cluster: p.cluster, manager: m, begun: make(chan struct{}), hush: p.hush}
	return a, m.Add(onEveryReplica(func(context.Context) error { close(a.begun); return nil }))
}

// readers makes what knows the cluster, of the kinds that it has, and keeps decisions.
func (p *parts) readers() error {
	sources := cluster.Sources()
	for _, kind := range []struct {
		follows func() (bool, error)
		there   *bool
		source  string
	}{
		{func() (bool, error) {
			return served(p.m.GetRESTMapper(), schema.GroupKind{Group: v1.Group, Kind: "Provisioner"}, "v1alpha5")
		}, &p.provisioners, cluster.Provisioners},
		{func() (bool, error) { return p.followsOverlays(p.m) }, &p.overlays, cluster.Overlays},
		{func() (bool, error) { return p.followsBuffers(p.m) }, &p.buffers, cluster.Buffers},
	} {
		there, err := kind.follows()
		if err != nil {
			return err
		}
		if *kind.there = there; there {
			sources = append(sources, kind.source)
		}
	}
	var err error
	if p.classKind, err = served(p.m.GetRESTMapper(), schema.GroupKind{Group: awsv1.Group, Kind: "EC2NodeClass"}, "v1"); err != nil {
		return err
	}
	p.cluster = cluster.New(p.Now, sources...)
	p.cluster.SetDefaultSpread(observe.ReadDefaultSpread(p.Settings.DefaultSpread))
	follows, err := p.followsDevices(p.m)
	if err != nil {
		return err
	}
	if follows {
		p.cluster.FollowDevices()
	}
	p.cluster.Panics = panics.Teller{Log: p.Log.WithName("cluster"), Metrics: p.metrics}
	p.journal, err = p.keepJournal()
	return err
}

// writers makes what speaks to the cloud, publishes events and carries plans out.
func (p *parts) writers(ctx context.Context, lock *lead.Lock) error {
	driver := p.Driver
	p.leader = func() string { return "" }
	if lock != nil {
		driver = fencedDriver{driver, p.Fence}
		p.leader = lock.Leader
		if err := p.m.Add(replaced(lock)); err != nil {
			return err
		}
	}
	p.cloud = cloud.New(cloud.Config{
		Driver: driver, Provider: p.Provider, Publish: p.cluster.Publish, Withdraw: p.cluster.Withdraw, Now: p.Now, Metrics: p.metrics,
		Panics: p.cluster.Panics, Trouble: troubled(p.Log.WithName("cloud")),
	})
	if !p.Settings.Shadow { // without them nothing is published
		events, end, err := publish(p.m, p.Now)
		if err != nil {
			return err
		}
		hush := p.hush
		p.events, p.hush = events, func() { end(); hush() }
	}
	p.enact = &enact.Enactor{
		Client: p.m.GetClient(), Live: p.m.GetAPIReader(), Cluster: p.cluster, Events: p.events, Metrics: p.metrics, Now: p.Now, Log: p.Log.WithName("controller"), Suffix: suffix, Targets: &enact.Targets{},
	}
	p.journal.Deleted = p.enact.DeletedFor
	if p.Settings.Nominate {
		var err error
		if p.enact.Promises, err = keepsPromises(p.Kubernetes); err != nil {
			return err
		}
	}
	return loop.Index(ctx, p.m.GetFieldIndexer())
}

// Begun is closed once the caches are there: from now on it acts when it leads.
func (a *App) Begun() <-chan struct{} { return a.begun }

// Run runs the controller until ctx ends.
//
// The manager waits for its caches, and if its context ends meanwhile it does not:
// it keeps a processor busy until the API server has answered. Before that nothing
// has been begun that would have to be ended in order, so that it is left behind
// then. Should it get its caches after all, it ends instead of beginning.
func (a *App) Run(ctx context.Context) error {
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	over := make(chan error, 1)
	go func() {
		defer a.hush()
		defer stop()
		over <- a.manager.Start(own)
	}()
	var err error
	select {
	case err = <-over:
	case <-ctx.Done():
		select {
		case <-a.begun:
			stop()
			err = <-over
		default:
			go func() {
				defer stop()
				select {
				case <-a.begun:
				case <-own.Done():
				}
			}()
		}
	}
	if err != nil {
		return ended(err)
	}
	return nil
}

// newManager returns what runs controllers once this process leads.
func newManager(c Config, lock *lead.Lock) (ctrl.Manager, error) {
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, v1.AddToScheme, v1alpha1.AddToScheme, v1alpha5.AddToScheme, awsv1.AddToScheme, awsv1alpha1.AddToScheme, v1beta1.AddToScheme} {
		if err := add(known); err != nil {
			return nil, fmt.Errorf("know the kinds: %w", err)
		}
	}
	own := rest.CopyConfig(c.Kubernetes)
	own.QPS, own.Burst = c.Settings.QPS, c.Settings.Burst
	several := true
	health := "0"
	if c.Settings.HealthPort > 0 {
		health = net.JoinHostPort(c.Settings.BindAddress, strconv.Itoa(c.Settings.HealthPort))
	}
	options := ctrl.Options{
		Scheme: known, Logger: Calm(c.Log),
		NewClient: func(k *rest.Config, o client.Options) (client.Client, error) {
			through, err := client.New(k, o)
			if err != nil {
				return nil, err
			}
			live, err := client.New(k, client.Options{HTTPClient: o.HTTPClient, Scheme: o.Scheme, Mapper: o.Mapper})
			if err != nil {
				return nil, err
			}
			return loop.Remember(through, live, c.Now), nil
		},
		Cache: cache.Options{
			DefaultTransform: cache.TransformStripManagedFields(),
			ByObject:         map[client.Object]cache.ByObject{&corev1.Node{}: {Transform: slimNode}},
		},
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: health,
		Controller:             config.Controller{SkipNameValidation: &several}, // several apps may run in one process, in tests
	}
	own.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return mended{next, c.Log.WithName("quantities")}
	})
	if lock != nil {
		c.fenced(own)
		lease, renew, retry := lead.Duration, lead.Deadline, lead.Retry
		options.LeaderElection, options.LeaderElectionID, options.LeaderElectionResourceLockInterface = true, c.Settings.LeaseName, lock
		options.LeaderElectionReleaseOnCancel = true
		options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = &lease, &renew, &retry
	}
	m, err := ctrl.NewManager(own, options)
	if err != nil {
		return nil, fmt.Errorf("set up the manager: %w", err)
	}
	return m, nil
}

// slimNode drops what nothing here reads of a node, the larger part of it.
func slimNode(o any) (any, error) {
	if n, ok := o.(*corev1.Node); ok {
		n.ManagedFields, n.Status.Images = nil, nil
	}
	return o, nil
}

// moving are the settings by which pods are moved.
func (p *parts) moving() disrupt.Moving {
	return disrupt.Moving{Off: !p.Settings.MovePods, Pack: p.options(), SpotToSpot: p.Settings.Gates.SpotToSpotConsolidation, Level: p.Settings.ConsolidationLevel}
}

// controllers adds every controller. Those that listen to the cluster state come before its sources.
func (p *parts) controllers() error {
	c := p.m.GetClient()
	evictor := enact.NewEvictor(p.enact)
	machines, passes := terminate.NewMachines(p.cloud, p.metrics, p.Now), newReconciled(p.passes)
	buy := &provision.Controller{
		Cluster: p.cluster, Enact: p.enact, Journal: p.journal, Metrics: p.metrics, Now: p.Now, Log: p.Log.WithName("controller.provisioner"),
		Batch: provision.Batch{Idle: p.Settings.BatchIdle, Max: p.Settings.BatchMax}, Options: p.options(), Verdicts: p.pods, Passes: passes,
	}
	buy.Listen()
	giveBack := &disrupt.Controller{
		Client: c, Cluster: p.cluster, Enact: p.enact, Journal: p.journal, Metrics: p.metrics, Events: p.events, Now: p.Now,
		Log:    p.Log.WithName("controller.disruption"),
		Moving: p.moving(),
		Passes: passes,
	}
	giveBack.Listen()
	number := &static.Controller{
		Client: c, Cluster: p.cluster, Enact: p.enact, Journal: p.journal, Metrics: p.metrics, Events: p.events, Now: p.Now,
		Log: p.Log.WithName("controller." + static.Name), Options: p.options(),
	}
	number.Listen()
	keepers, err := p.keepers()
	if err != nil {
		return err
	}
	for _, r := range append(keepers, []registrar{
		&launch.Reconciler{Client: c, Cloud: p.cloud.For("nodeclaim.lifecycle"), Cluster: p.cluster, Enact: p.enact, Events: p.events, Metrics: p.metrics, Now: p.Now},
		&register.Reconciler{Client: c, Live: p.m.GetAPIReader(), Cluster: p.cluster, Pods: p.enact, Events: p.events, Metrics: p.metrics, Now: p.Now, Hold: p.hold()},
		&initialize.Reconciler{Client: c, Live: p.m.GetAPIReader(), Cluster: p.cluster, Events: p.events, Now: p.Now},
		&liveness.Reconciler{Client: c, Enact: p.enact, Now: p.Now, InitializeWithin: p.Settings.InitializeWithin},
		&podevent.Reconciler{Client: c, Cluster: p.cluster, Now: p.Now},
		&terminate.Nodes{Client: c, Cluster: p.cluster, Machines: machines, Evictor: evictor, Events: p.events, Metrics: p.metrics, Now: p.Now, Log: p.Log.WithName("controller.termination")},
		&terminate.Claims{Client: c, Cluster: p.cluster, Machines: machines, Events: p.events, Metrics: p.metrics, Now: p.Now},
	}...) {
		if err := r.Register(p.m); err != nil {
			return fmt.Errorf("add %T: %w", r, err)
		}
	}
	if err := p.m.Add(newTemplates(c, p.cloud, p.cluster, p.Log.WithName("controller.nodeclass"), p.provisioners)); err != nil {
		return err
	}
	lookAfter := &collect.Controller{
		Client: c, Cloud: p.cloud.For(collect.Spec().Name), Cluster: p.cluster, Enact: p.enact, Now: p.Now,
		Log: p.Log.WithName("controller." + collect.Spec().Name),
	}
	lookAfter.Listen()
	for _, r := range []manager.Runnable{giveBack, number, lookAfter} {
		if err := p.m.Add(r); err != nil {
			return err
		}
	}
	return p.m.Add(buy)
}

// hold is for how long nodes that have joined may be kept closed to pods. It keeps
// places for pods that are nominated, and does nothing where none is.
func (p *parts) hold() time.Duration {
	if !p.enact.Promises {
		return 0
	}
	return p.Settings.HoldNodes
}

// options are what settings say to decisions.
func (p *parts) options() decide.Options {
	o := decide.Options{SpotPremium: p.Settings.SpotPremium, Charge: p.Settings.NodeCharge, Nominated: p.enact.Promises}
	if p.Settings.IgnorePreferences {
		o.PreferencePolicy = "Ignore"
	}
	o.UnhealthyLast = p.Settings.UnhealthyLast
	if p.Settings.BestEffort {
		o.MinValuesPolicy = "BestEffort"
	}
	return o
}

// watch has the cluster state fed, whether this process leads or not, so that it can lead at once.
func (p *parts) watch() error {
	typed := rest.CopyConfig(p.Kubernetes)
	typed.ContentType, typed.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	plain, err := kubernetes.NewForConfig(typed)
	if err != nil {
		return fmt.Errorf("set up the watches: %w", err)
	}
	classes := func(kind string) bool {
		version := "v1"
		if kind == "AWSNodeTemplate" {
			version = "v1alpha1"
		}
		ok, err := served(p.m.GetRESTMapper(), schema.GroupKind{Group: awsv1.Group, Kind: kind}, version)
		return ok && err == nil
	}
	if err := p.followLevel(plain); err != nil {
		return err
	}
	return p.m.Add(onEveryReplica(func(ctx context.Context) error {
		if err := p.followClasses(ctx, classes); err != nil {
			return err
		}
		if err := p.cluster.Watch(ctx, plain, p.m.GetCache()); err != nil {
			return err
		}
		<-ctx.Done()
		return nil
	}))
}

// onEveryReplica runs on followers as well.
type onEveryReplica func(context.Context) error

// Start is the manager's.
func (f onEveryReplica) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is the manager's.
func (f onEveryReplica) NeedLeaderElection() bool { return false }

// state is the cluster as it is seen now; nil before it has been seen.
func (p *parts) state() *world.World {
	if ok, _ := p.cluster.Synced(); !ok {
		return nil
	}
	return p.cluster.World()
}

// next is what would be decided of now; false where another replica leads, or nothing is known yet.
func (p *parts) next() (journal.Entry, bool) {
	select {
	case <-p.m.Elected():
	default:
		return journal.Entry{}, false
	}
	w := p.state()
	return journal.Entry{Kind: journal.Buy, World: w, Options: journal.Options{Provision: p.options(), Disrupt: engine.Options{Consolidate: p.moving().Options()}}, Release: p.Release}, w != nil
}

// maxScrapes is how many may read the metrics at a time: each has gauges made of all that there is.
const maxScrapes = 4

// serve adds the endpoints for health and metrics.
func (p *parts) serve(registry *prometheus.Registry) error {
	alive := func(*http.Request) error { return nil }
	ready := func(*http.Request) error {
		if ok, _ := p.cluster.Synced(); !ok {
			return fmt.Errorf("waiting for the first list of %v", p.cluster.Missing())
		}
		return nil
	}
	if err := p.m.AddHealthzCheck("healthz", alive); err != nil {
		return err
	}
	if err := p.m.AddReadyzCheck("cluster", ready); err != nil {
		return err
	}
	if p.Settings.MetricsPort <= 0 {
		return nil
	}
	mux := http.NewServeMux()
	var history *live.History
	if p.Settings.LivePage {
		history = live.NewHistory(p.state, panics.Teller{Log: p.Log.WithName("pages"), Metrics: p.metrics})
		if err := p.m.Add(history); err != nil {
			return err
		}
	}
	p.pages = web.Handler(web.Config{Decisions: p.journal, World: p.state, Deleted: p.enact.WhyDeleted, Next: p.next, History: history, Leader: p.leader})
	mux.Handle("/", p.pages)
	p.serveRecording(mux)
	mux.Handle("/metrics", web.Bounded(maxScrapes, p.scrape(promhttp.HandlerFor(prometheus.Gatherers{registry, ctrlmetrics.Registry}, promhttp.HandlerOpts{
		ErrorHandling:     promhttp.ContinueOnError, // one bad series of a library does not hide all others
		EnableOpenMetrics: p.Settings.Trace.On(),    // the form that has ids of traces
	}))))
	if p.Settings.Profiling {
		mux.HandleFunc("/debug/pprof/", pprof.Index)
		mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
		mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
		mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	}
	s := &http.Server{Addr: net.JoinHostPort(p.Settings.BindAddress, strconv.Itoa(p.Settings.MetricsPort)), Handler: mux, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	return p.m.Add(onEveryReplica(func(ctx context.Context) error {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.Addr)
		if err != nil {
			return fmt.Errorf("serve metrics: %w", err)
		}
		stop := context.AfterFunc(ctx, func() { _ = s.Close() })
		defer stop()
		if err := s.Serve(listener); ctx.Err() == nil {
			return fmt.Errorf("serve metrics: %w", err)
		}
		return nil
	}))
}

// nodeLabels are the labels of nodes that metrics show.
func nodeLabels() []string {
	return []string{label.Zone, label.Region, label.InstanceType, label.Arch, label.OS, label.CapacityType, label.NodePool, label.WindowsBuild}
}

// suffix is five letters by which claims of a pool are distinguished.
func suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789" // none that make words
	b := make([]byte, 5)
	for i := range b {
		b[i] = letters[rand.IntN(len(letters))] //nolint:gosec // a name, not a secret
	}
	return string(b)
}
