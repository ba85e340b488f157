package up

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/tenon-sh/tenon/controlplane/internal/apiserver"
	"github.com/tenon-sh/tenon/controlplane/internal/controllers"
	"github.com/tenon-sh/tenon/controlplane/internal/etcd"
	"github.com/tenon-sh/tenon/controlplane/internal/kwok"
	"github.com/tenon-sh/tenon/controlplane/internal/pki"
	"github.com/tenon-sh/tenon/controlplane/internal/scheduler"
)

// Ready is what is said once the cluster can be used.
type Ready struct {
	URL        string `json:"url"`
	Kubeconfig string `json:"kubeconfig"` // of an administrator
}

// A part is one of the long-running pieces. The parts stop in the reverse order of their start.
type part struct {
	name string
	stop context.CancelFunc
	done chan error
}

// start runs a part until its own stop is called, whatever becomes of the parent's context.
func start(ctx context.Context, name string, run func(context.Context) error) *part {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &part{name: name, stop: cancel, done: make(chan error, 1)}
	go func() { p.done <- run(ctx) }()
	return p
}

// Run runs a control plane until ctx ends, and calls ready once.
func Run(ctx context.Context, o Options, ready func(Ready)) error {
	for _, d := range []string{"etcd", "pki"} {
		if err := os.MkdirAll(filepath.Join(o.Dir, d), 0o700); err != nil {
			return err
		}
	}
	if o.Remove {
		defer os.RemoveAll(o.Dir)
	}
	// Sockets get relative names, see etcd.Endpoint, in a directory that no other user may enter.
	if err := os.Chdir(filepath.Join(o.Dir, "etcd")); err != nil {
		return err
	}
	unlock, err := lock(ctx, filepath.Join(o.Dir, "etcd", "lock"))
	if err != nil {
		return err
	}
	defer unlock()
	files, err := pki.Ensure(filepath.Join(o.Dir, "pki"), time.Now())
	if err != nil {
		return err
	}
	listener, err := listen(o)
	if err != nil {
		return err
	}
	defer listener.Close()
	store, err := etcd.Start(ctx, filepath.Join(o.Dir, "etcd"))
	if err != nil {
		return err
	}
	defer store.Close()
	return serve(ctx, o, files, listener, ready)
}

func serve(ctx context.Context, o Options, files pki.Files, listener net.Listener, ready func(Ready)) error {
	c, err := writeConfigs(o.Dir, "https://"+listener.Addr().String(), files)
	if err != nil {
		return err
	}
	parts := []*part{start(ctx, "kube-apiserver", func(ctx context.Context) error {
		return apiserver.Run(ctx, listener, files, o.APIServer)
	})}
	defer func() {
		for i := len(parts) - 1; i >= 0; i-- {
			parts[i].stop()
			<-parts[i].done
		}
	}()
	if err := waitReady(ctx, c.admin, parts[0]); err != nil || ctx.Err() != nil {
		return err
	}
	if o.Scheduler {
		parts = append(parts, start(ctx, "kube-scheduler", func(ctx context.Context) error {
			return scheduler.Run(ctx, c.scheduler, nil)
		}))
	}
	if o.Controllers {
		parts = append(parts, start(ctx, "kube-controller-manager", func(ctx context.Context) error {
			return controllers.Run(ctx, c.controllers, files, o.Grace, nil)
		}))
	}
	if o.Machines {
		if err := kwok.Run(ctx, c.machines, o.Grace, os.Stderr); err != nil {
			return err
		}
	}
	r := Ready{URL: "https://" + listener.Addr().String(), Kubeconfig: filepath.Join(o.Dir, "kubeconfig")}
	if err := files.WriteKubeconfig(r.Kubeconfig, r.URL, files.Admin); err != nil {
		return err
	}
	ready(r)
	return wait(ctx, parts)
}

// wait returns when ctx ends, or with an error as soon as one part has ended by itself.
func wait(ctx context.Context, parts []*part) error {
	died := make(chan error, len(parts))
	var watchers sync.WaitGroup
	for _, p := range parts {
		watchers.Go(func() {
			select {
			case err := <-p.done:
				p.done <- err // read by what stops the parts
				died <- fmt.Errorf("%s ended: %w", p.name, errors.Join(err, errEnded))
			case <-ctx.Done():
			}
		})
	}
	select {
	case err := <-died:
		return err
	case <-ctx.Done():
		watchers.Wait()
		return nil
	}
}

var errEnded = errors.New("it should run until the control plane is stopped")

type configs struct{ admin, scheduler, controllers, machines string }

func writeConfigs(dir, url string, f pki.Files) (configs, error) {
	at := func(name string) string { return filepath.Join(dir, "pki", name+".kubeconfig") }
	c := configs{admin: at("admin"), scheduler: at("scheduler"), controllers: at("controllers"), machines: at("machines")}
	return c, errors.Join(
		f.WriteKubeconfig(c.admin, url, f.Admin),
		f.WriteKubeconfig(c.scheduler, url, f.Scheduler),
		f.WriteKubeconfig(c.controllers, url, f.Controllers),
		f.WriteKubeconfig(c.machines, url, f.Machines),
	)
}

// listen opens the port of the API server, before anything else can take it. Without a wish it is the port of the run
// before, so that kubeconfigs that were copied elsewhere stay good.
func listen(o Options) (net.Listener, error) {
	file := filepath.Join(o.Dir, "port")
	if o.Port != 0 {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(o.Port))
		if err != nil {
			return nil, fmt.Errorf("port of the API server: %w; choose another or 0 for any", err)
		}
		return l, os.WriteFile(file, []byte(strconv.Itoa(o.Port)), 0o600)
	}
	if old, err := os.ReadFile(file); err == nil {
		if l, err := net.Listen("tcp", "127.0.0.1:"+strings.TrimSpace(string(old))); err == nil {
			return l, nil
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("port of the API server: %w", err)
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, err
	}
	return l, os.WriteFile(file, []byte(port), 0o600)
}

// waitReady returns when the API server answers that it is ready, which includes the default roles.
func waitReady(ctx context.Context, kubeconfig string, server *part) error {
	c, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(c)
	if err != nil {
		return err
	}
	late := time.After(startTimeout)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-server.done:
			server.done <- err
			return fmt.Errorf("kube-apiserver ended while starting: %w", errors.Join(err, errEnded))
		case <-late:
			return fmt.Errorf("kube-apiserver was not ready after %s", startTimeout)
		case <-tick.C:
			if err := client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err == nil {
				return nil
			}
		}
	}
}
