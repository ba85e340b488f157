package playground

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/sim/kubelet"
	"github.com/tenon-sh/tenon/internal/sim/market"
)

// Command is the tree of verbs of the playground. People call them by way of `tenon`, so help says so.
func Command() *cobra.Command {
	root := &cobra.Command{
		Use: "tenon", Short: "A cluster with simulated machines to play with",
		SilenceErrors: true, SilenceUsage: true, DisableFlagsInUseLine: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	var dir string
	root.PersistentFlags().StringVar(&dir, "dir", DefaultDir, "`directory` of the playground")
	root.AddCommand(upCommand(&dir), downCommand(&dir), simCommand(&dir))
	return root
}

func upCommand(dir *string) *cobra.Command {
	o := Options{Now: clock.Wall, Delays: kubelet.Delays{Boot: 3 * time.Second, Ready: 2 * time.Second, Devices: 3 * time.Second}}
	var detach, noDemo bool
	cmd := &cobra.Command{
		Use:   "up [flags]",
		Short: "Run a Kubernetes cluster with simulated machines on this computer",
		Long: `Runs a real Kubernetes control plane on the loopback interface, a simulated AWS
account whose machines join it, and Tenon. It stays in the foreground and tells
what happens, until Ctrl-C; what is in the cluster is there again the next time.
Your own kubeconfig and cloud credentials are neither read nor changed.

A new cluster gets a pool of nodes and a Deployment, and a demo shows nodes come
and go. With --no-demo it has the kinds and the controller and nothing else; the
file default.yaml in its directory makes the pool. With --bare there is no Tenon.`,
		Example: `  tenon up
  tenon up --dir /tmp/other --detach --no-demo
  tenon up --reset --region eu-central-1 --managed-nodes m5.large=3 --daemons`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Timing = market.Usual()
			if o.Chart != "" && o.Host == "" {
				o.Host = "m5.2xlarge"
			}
			o.Timing.Boot, o.Timing.ShutDown = o.Delays.Boot, o.Delays.Boot
			o.Dir, o.Demo = Dir(*dir), !noDemo && !o.Bare
			if detach {
				return detached(cmd.Context(), o, cmd.OutOrStdout(), os.Args[1:])
			}
			o.Life = cmd.OutOrStdout()
			err := Run(cmd.Context(), o, func(c Contact) { welcome(cmd.OutOrStdout(), o, c) })
			if errors.Is(err, kube.ErrMissing) {
				return fmt.Errorf("%w (or `make up`, which does both)", err)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&detach, "detach", false, "return when the cluster is ready and leave it running; 'tenon down' stops it")
	f.BoolVar(&noDemo, "no-demo", false, "begin without the pool and the workload of the demo")
	f.BoolVar(&o.Story, "story", true, "let the demo of a new cluster play: nodes come and go; detached it does not")
	f.BoolVar(&o.Reset, "reset", false, "forget what was in the cluster")
	f.BoolVar(&o.Bare, "bare", false, "without Tenon: the cluster, its machines and the simulated account alone")
	f.StringVar(&o.ClusterName, "cluster-name", "playground", "`name` of the cluster in the simulated account")
	f.StringVar(&o.KubernetesVersion, "kubernetes-version", "", "`version` that the simulated EKS says the cluster has, and its machines' images are for")
	f.StringToIntVar(&o.Surroundings.Managed, "managed-nodes", nil, "machines of a managed node group, by `type`: m5.large=3")
	f.IntVar(&o.Surroundings.Fargate, "fargate-nodes", 0, "`number` of nodes of Fargate")
	f.BoolVar(&o.Surroundings.Daemons, "daemons", false, "run aws-node and kube-proxy on every machine, as EKS does")
	f.StringVar(&o.Charts, "charts", "", "serve the charts of this `directory` on the loopback interface, under every version that is asked for")
	f.StringVar(&o.Chart, "chart", "", "install the controller by the chart in this `directory`, with helm, as pods of a node of the playground's own")
	f.StringVar(&o.Host, "host", "", "have a node of this `type` that runs pods of the image "+ourImage+" as processes, for charts installed by hand")
	f.StringVar(&o.Tenon, "tenon", "", "`program` to run as the controller; without it the one beside this")
	f.StringVar(&o.Region, "region", "us-west-2", "`region` that the machines are in")
	f.DurationVar(&o.Grace, "grace", 5*time.Minute, "how long a node may be silent before it is NotReady")
	f.DurationVar(&o.Delays.Boot, "boot", o.Delays.Boot, "how long a machine takes to start, its node from there to register, and a machine to end")
	f.DurationVar(&o.Delays.Ready, "ready", o.Delays.Ready, "how long its node takes from there until it is ready")
	f.DurationVar(&o.Delays.Devices, "devices", o.Delays.Devices, "how long GPUs take from there to be reported")
	return cmd
}

// welcome says what there is and what to try, in words that can be copied.
func welcome(out io.Writer, o Options, c Contact) {
	at := ""
	if o.Dir != DefaultDir {
		at = " --dir " + string(o.Dir)
	}
	kubectl, tenon := program("kubectl"), program("tenon")
	lines := [][2]string{{"export KUBECONFIG=" + c.Kubeconfig, "use this cluster in this shell"}}
	switch {
	case o.Bare:
		lines = append(lines, [2]string{tenon + " sim add-machine" + at + " --type m5.large --count 2", "machines that join by themselves"})
	case o.Demo:
		lines = append(lines, [2]string{kubectl + " scale -n demo deployment web --replicas 40", "let nodes come; 0 lets them go"})
	default:
		lines = append(lines, [2]string{kubectl + " apply -f " + o.Dir.pool(), "a pool of nodes; now pods that wait get some"})
	}
	if !o.Bare {
		lines = append(lines,
			[2]string{kubectl + " get nodepools,nodeclaims,nodes -o wide", "what there is"},
			[2]string{o.readLog(kubectl), "what the controller says"},
		)
	}
	if c.Charts != "" {
		lines = append(lines,
			[2]string{"helm repo add karpenter http://" + c.Charts, "the charts, under every version"},
			[2]string{"helm pull --plain-http oci://" + c.Charts + "/karpenter/karpenter", "the same as a registry"},
		)
	}
	lines = append(lines,
		[2]string{tenon + " sim kill" + at + " NODE", "pull the plug of a machine"},
		[2]string{". " + o.Dir.awsEnvironment(), "point an AWS client at the simulated account"},
		[2]string{tenon + " down" + at, "stop; Ctrl-C does it, too"},
	)
	w := tabwriter.NewWriter(out, 0, 0, 4, ' ', 0)
	fmt.Fprintf(w, "\nThe cluster is ready. In another terminal:\n\n")
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a terminal that is gone cannot be told so
}

// readLog is how to read the controller's log.
func (o Options) readLog(kubectl string) string {
	if o.Chart != "" {
		return kubectl + " logs -f -n karpenter -l app.kubernetes.io/name=karpenter -c controller"
	}
	return "tail -f " + o.Dir.Log("controller")
}

// program is how to call the program of that name that stands beside this one: by its name if that finds one, or else
// by its path.
func program(name string) string {
	if _, err := exec.LookPath(name); err == nil {
		return name
	}
	self, err := os.Executable()
	if err != nil {
		return name
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return name
	}
	if wd, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(wd, path); err == nil && len(short) < len(path) {
			return short
		}
	}
	return path
}

func downCommand(dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "down [flags]",
		Short: "Stop the playground; what is in its cluster is kept",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := withTimeout(cmd.Context(), 30*time.Second)
			defer cancel()
			was, err := Stop(ctx, Dir(*dir))
			if err == nil && !was {
				fmt.Fprintf(cmd.OutOrStdout(), "no playground runs in %s\n", *dir)
			}
			return err
		},
	}
}
