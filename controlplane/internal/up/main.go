// Package up runs a whole control plane in one process on the loopback interface.
package up

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"
)

const (
	startTimeout = 2 * time.Minute
	stopTimeout  = 15 * time.Second
)

// Options say what runs, and where.
type Options struct {
	Dir         string        // everything the control plane keeps
	Port        int           // of the API server; 0: the one it had before in Dir, or any that is free
	Scheduler   bool          // run kube-scheduler
	Controllers bool          // run kube-controller-manager
	Machines    bool          // play the kubelets of nodes annotated for it
	Grace       time.Duration // how long a node may be silent before it is NotReady
	Remove      bool          // remove Dir at the end
	Verbosity   int           // of the Kubernetes log
	APIServer   arguments     // extra arguments
}

type arguments []string

func (a *arguments) String() string     { return fmt.Sprint(*a) }
func (a *arguments) Set(s string) error { *a = append(*a, s); return nil }

// Main runs a control plane until it is told to stop by a signal, or, with -while-stdin, by the end of its standard
// input. It prints one line of JSON when the cluster is ready.
func Main(args []string) int {
	o, leash, err := parse(args)
	if err != nil {
		return 2 // the flag set has said why
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if leash {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		// The parent holds the other end. However it dies, the kernel closes that end, and no orphan is left.
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			cancel()
		}()
	}
	// Whatever hangs while stopping must not keep the process: the data is safe without a clean end.
	context.AfterFunc(ctx, func() {
		time.AfterFunc(stopTimeout, func() {
			fmt.Fprintln(os.Stderr, "controlplane: parts did not stop in", stopTimeout)
			os.Exit(1)
		})
	})
	quiet(o.Verbosity)
	if err := Run(ctx, o, func(r Ready) { _ = json.NewEncoder(os.Stdout).Encode(r) }); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		return 1
	}
	return 0
}

func parse(args []string) (Options, bool, error) {
	f := flag.NewFlagSet("controlplane up", flag.ContinueOnError)
	o := Options{}
	var leash bool
	f.StringVar(&o.Dir, "dir", "", "`directory` for everything the control plane keeps (required)")
	f.IntVar(&o.Port, "port", 0, "port of the API server; 0 takes the one it had before, or any that is free")
	f.BoolVar(&o.Scheduler, "scheduler", true, "run kube-scheduler")
	f.BoolVar(&o.Controllers, "controllers", true, "run kube-controller-manager")
	f.BoolVar(&o.Machines, "machines", true, "play the kubelets of nodes with the annotation kwok.x-k8s.io/node=fake")
	f.DurationVar(&o.Grace, "grace", 5*time.Minute, "how long a node may be silent before it is NotReady")
	f.BoolVar(&o.Remove, "remove", false, "remove the directory at the end")
	f.IntVar(&o.Verbosity, "v", 0, "verbosity of the Kubernetes log on standard error")
	f.Var(&o.APIServer, "apiserver-arg", "an extra `argument` for kube-apiserver; may be repeated")
	f.BoolVar(&leash, "while-stdin", false, "stop when standard input ends")
	if err := f.Parse(args[1:]); err != nil {
		return o, false, err
	}
	if o.Dir == "" || f.NArg() > 0 || o.Grace < time.Second {
		fmt.Fprintln(f.Output(), "controlplane up: -dir is required, -grace is at least 1s, and nothing follows the flags")
		f.Usage()
		return o, false, flag.ErrHelp
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		fmt.Fprintln(f.Output(), "controlplane up:", err)
	}
	o.Dir = dir
	return o, leash, err
}

// quiet sets the one log that all parts share. Each part would set it up for itself, which the library allows only
// when nothing changes.
func quiet(verbosity int) {
	logsapi.ReapplyHandling = logsapi.ReapplyHandlingIgnoreUnchanged
	rest.SetDefaultWarningHandler(rest.NoWarnings{})
	f := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(f)
	_ = f.Set("logtostderr", "true")
	_ = f.Set("v", fmt.Sprint(verbosity))
}
