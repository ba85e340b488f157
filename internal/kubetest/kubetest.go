// Package kubetest gives the tests of a package a real control plane of their own.
//
//	func TestMain(m *testing.M) { kubetest.Main(m, kubetest.CRDs("../../api/crds")) }
//
//	func TestIt(t *testing.T) {
//		c := kubetest.Client(t)
//		…
//	}
//
// The control plane starts, in seconds, when the first test asks for it and ends with the tests, so a package may mix
// tests that need one with tests that do not. Run such packages with `go test -p 1`.
package kubetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/tenon-sh/tenon/internal/kube"
)

// An Option changes what the control plane of a package has. Without any it is etcd and the API server.
type Option func(*plane)

// CRDs installs the definitions in a file or in the files of a directory. May be given more than once.
func CRDs(path string) Option { return func(p *plane) { p.crds = append(p.crds, path) } }

// Scheduler adds kube-scheduler.
func Scheduler(p *plane) { p.options.Scheduler = true }

// Controllers adds kube-controller-manager.
func Controllers(p *plane) { p.options.Controllers = true }

// Machines adds kwok, which plays the kubelets of nodes with the annotation kwok.x-k8s.io/node: fake.
func Machines(p *plane) { p.options.Machines = true }

// Grace sets how long a node may be silent before it is NotReady. The default is five minutes, so that nothing of the
// kind happens on a slow computer to a test that did not ask for it.
func Grace(d time.Duration) Option { return func(p *plane) { p.options.Grace = d } }

// The one package variable: TestMain and the tests of a package share nothing else.
var current *plane

// A plane is the control plane of the package under test.
type plane struct {
	crds    []string
	options kube.Options
	control *kube.ControlPlane // nil: that of KUBEBUILDER_ASSETS

	start  sync.Once
	config *rest.Config
	file   string // kubeconfig
	stop   func()
	err    error
}

// handsOut is a goroutine of controller-runtime that now and then outlives its queue: it hands an item to a worker that has gone meanwhile.
const handsOut = "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.(*priorityqueue[...]).handleReadyItems"

// Main runs the tests of a package and ends the process. It fails where a test leaves a goroutine behind.
func Main(m *testing.M, with ...Option) {
	p := &plane{stop: func() {}}
	for _, o := range with {
		o(p)
	}
	current = p
	code := m.Run()
	p.stop()
	if code == 0 {
		if err := goleak.Find(goleak.IgnoreAnyFunction(handsOut)); err != nil {
			fmt.Fprintln(os.Stderr, "kubetest: the tests passed, and left behind what they had started:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// Config returns the access of an administrator to the control plane. Without a binary to run it skips the test, but
// fails it where the environment says CI.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	if current == nil {
		t.Fatal("kubetest: this package has no TestMain that calls kubetest.Main")
	}
	current.start.Do(current.run)
	switch err := current.err; {
	case errors.Is(err, kube.ErrMissing) && os.Getenv("CI") == "":
		t.Skip("kubetest: ", err)
	case err != nil:
		t.Fatal("kubetest: ", err)
	}
	return rest.CopyConfig(current.config)
}

// Kubeconfig returns a file with the access that Config gives.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	Config(t)
	return current.file
}

func (p *plane) run() {
	start := p.runBinary
	if os.Getenv(kube.Env) == "" && os.Getenv("KUBEBUILDER_ASSETS") != "" && !p.options.Scheduler && !p.options.Controllers && !p.options.Machines {
		start = p.runAssets
	}
	if p.err = start(); p.err != nil || len(p.crds) == 0 {
		return
	}
	_, p.err = envtest.InstallCRDs(p.config, envtest.CRDInstallOptions{Paths: p.crds, ErrorIfPathMissing: true})
}

// runBinary runs our own control plane in a directory of its own.
func (p *plane) runBinary() error {
	var err error
	if p.options.Binary, err = kube.Find(); err != nil {
		return err
	}
	if p.options.Dir, err = os.MkdirTemp("", "kubetest-"); err != nil {
		return err
	}
	p.options.Ephemeral = true
	if err := p.up(); err != nil {
		return errors.Join(err, os.RemoveAll(p.options.Dir))
	}
	p.stop = func() { p.control.Stop() }
	p.file = p.control.Kubeconfig
	p.config, err = clientcmd.BuildConfigFromFlags("", p.control.Kubeconfig)
	if err != nil {
		return err
	}
	p.config.QPS = -1 // the server is ours alone
	return nil
}

// up starts our own control plane in its directory.
func (p *plane) up() error {
	log, err := os.OpenFile(filepath.Join(p.options.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	o := p.options
	o.Log = log
	c, err := kube.Start(context.Background(), o)
	if err != nil {
		return err
	}
	p.control = c
	return nil
}

// Restart kills the control plane, API server and etcd and all, as a power
// failure would, and starts it again at the same address with all it kept.
func Restart(t testing.TB) {
	t.Helper()
	Config(t)
	if current.control == nil {
		t.Skip("kubetest: the control plane of KUBEBUILDER_ASSETS is not ours to kill")
	}
	before := current.control.URL
	current.control.Kill()
	if err := current.up(); err != nil {
		t.Fatal("kubetest: start the control plane again: ", err)
	}
	if now := current.control.URL; now != before {
		t.Fatalf("kubetest: the API server was at %s and is now at %s", before, now)
	}
}

// runAssets runs the etcd and kube-apiserver that KUBEBUILDER_ASSETS names.
func (p *plane) runAssets() error {
	e := &envtest.Environment{}
	config, err := e.Start()
	if err != nil {
		return fmt.Errorf("control plane of KUBEBUILDER_ASSETS: %w", err)
	}
	dir, err := os.MkdirTemp("", "kubetest-")
	if err != nil {
		return err
	}
	p.stop = func() {
		_ = e.Stop()
		_ = os.RemoveAll(dir)
	}
	p.config, p.file = config, filepath.Join(dir, "kubeconfig")
	return os.WriteFile(p.file, e.KubeConfig, 0o600)
}
