package playground

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/kube"
	"github.com/tenon-sh/tenon/internal/playground/document"
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
	root.PersistentFlags().StringVar(&dir, "dir", DefaultDir, "`directory` of the playground; verbs but up find that of a folder above, too")
	root.AddCommand(upCommand(&dir), downCommand(&dir), simCommand(&dir))
	return root
}

const (
	upLong = `Runs a real Kubernetes control plane on the loopback interface, a simulated AWS
account whose machines join it, and Tenon. It stays in the foreground and tells
what happens, until Ctrl-C; what is in the cluster is there again the next time.
Your own kubeconfig and cloud credentials are neither read nor changed.

The controller is installed by its chart, with helm, and its pods run as
processes on a node of the playground's own. With --controller=none the cluster
waits for you to install it: neither kinds nor controller, and a repository of
charts. With --bare there is nothing of Tenon at all.

A new cluster gets a pool of nodes and a Deployment, and a demo shows nodes come
and go. With --no-demo it has the kinds and the controller and nothing else; the
file default.yaml in its directory makes the pool.

With --document it prepares what surrounds one of five public documents about
Karpenter, types that document's commands as they stand, and shows what there is
to be seen; docs/documents.md has them item by item. Detached it prepares, and
the commands are yours to type, in another --region or --cluster-name if you like.`
	upExample = `  tenon up
  tenon up --controller=none
  tenon up --dir /tmp/other --detach --no-demo
  tenon up --dir /tmp/gpus --document 004
  tenon up --reset --region eu-central-1 --managed-nodes m5.large=3 --daemons`
)

func upCommand(dir *string) *cobra.Command {
	o := Options{Now: clock.Wall, Delays: kubelet.Delays{Boot: 3 * time.Second, Ready: 2 * time.Second, Devices: 3 * time.Second}}
	var detach, noDemo bool
	var way, follow string
	cmd := &cobra.Command{
		Use:     "up [flags]",
		Short:   "Run a Kubernetes cluster with simulated machines on this computer",
		Long:    upLong,
		Example: upExample,
		Args:    verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settle(way); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return verb.BadInput(err)
			}
			o.Timing = market.Usual()
			o.Timing.Boot, o.Timing.ShutDown = o.Delays.Boot, o.Delays.Boot
			o.Dir, o.Demo = Dir(*dir), !noDemo && !o.Bare
			if follow != "" {
				return followed(cmd, follow, o, detach)
			}
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
	f.StringVar(&follow, "document", "", "`number` of the document to follow: "+strings.Join(document.IDs(), ", "))
	f.StringVar(&o.ClusterName, "cluster-name", "playground", "`name` of the cluster in the simulated account")
	f.StringVar(&o.KubernetesVersion, "kubernetes-version", "1.32", "`version` that the simulated EKS says the cluster has, and its machines' images are for")
	f.StringToIntVar(&o.Surroundings.Managed, "managed-nodes", nil, "machines of a managed node group, by `type`: m5.large=3")
	f.StringToStringVar(&o.ExtraTypes, "extra-types", nil, "types that AWS does not have, each like one that the region sells but for its `name`: c-4x-amd64-linux=c5.xlarge")
	f.IntVar(&o.Surroundings.Fargate, "fargate-nodes", 0, "`number` of nodes of Fargate")
	f.BoolVar(&o.Surroundings.Daemons, "daemons", false, "run aws-node and kube-proxy on every machine, as EKS does")
	f.StringVar(&way, "controller", "chart", "how the controller runs: chart installs it with helm, process runs it as a child, none leaves it to you")
	f.StringVar(&o.Charts, "charts", "", "serve the charts of this `directory` instead of the built-in ones, under every version that is asked for")
	f.StringVar(&o.Chart, "chart", "", "install the chart in this `directory` instead of the built-in one")
	f.StringVar(&o.Host, "host", "", "the node that runs the controller's pods is as large as this `type`, or fargate for those of --fargate-nodes; without it, m5.large")
	f.StringVar(&o.Tenon, "tenon", "", "`program` to run as the controller; without it the one beside this")
	f.StringVar(&o.Region, "region", "us-west-2", "`region` that the machines are in")
	f.DurationVar(&o.Grace, "grace", 40*time.Second, "how long a node may be silent before it is NotReady")
	f.DurationVar(&o.Delays.Boot, "boot", o.Delays.Boot, "how long a machine takes to start, its node from there to register, and a machine to end")
	f.DurationVar(&o.Delays.Ready, "ready", o.Delays.Ready, "how long its node takes from there until it is ready")
	f.DurationVar(&o.Delays.Devices, "devices", o.Delays.Devices, "how long GPUs and devices of dynamic resources take from there to be reported")
	return cmd
}

// settle makes the rest fit the way in which the controller is to run.
func (o *Options) settle(way string) error {
	switch way {
	case "chart":
		o.Controller = ByChart
	case "process":
		o.Controller = AsChild
	case "none":
		o.Controller, o.Bare = ByHand, true
	default:
		return verb.BadInputf("--controller=%s: it is chart, process or none", way)
	}
	switch {
	case o.Chart != "" && o.Controller != ByChart:
		return verb.BadInputf("--chart names what --controller=chart installs")
	case o.Bare && o.Controller == ByChart:
		o.Controller = AsChild // that there is none of either
	}
	if o.Controller != AsChild && o.Host == "" {
		o.Host = "m5.large"
	}
	return nil
}

// contextName is what the context in the playground's kubeconfig is called.
const contextName = "tenon"

// welcome says what there is and what to try, in words that can be copied.
func welcome(out io.Writer, o Options, c Contact) {
	at := ""
	if o.Dir != DefaultDir {
		at = " --dir " + string(o.Dir)
	}
	kubectl, tenon, helm := program("kubectl"), program("tenon"), program("helm")
	lines := [][2]string{{"use it in this shell", "export KUBECONFIG=" + c.Kubeconfig}}
	switch {
	case o.Document != "":
		lines = append(lines,
			[2]string{"and the document's files", "cd " + filepath.Join(filepath.Dir(c.Kubeconfig), "document") + "; export PATH=$PWD/bin:$PATH; . ../aws.env"},
			[2]string{"then type document " + o.Document, "from its helm commands on; oci://public.ecr.aws/karpenter is oci://" + c.Charts + " --plain-http here, and https://charts.karpenter.sh/ is http://" + c.Charts + "/"},
		)
	case o.Controller == ByHand:
		lines = append(lines, [2]string{"install the controller", fmt.Sprintf(byHand, helm, c.Charts, o.ClusterName)})
		if !c.Pools {
			lines = append(lines, [2]string{"then a pool of nodes", kubectl + " apply -f " + o.Dir.pool()})
		}
	case o.Bare:
		lines = append(lines, [2]string{"machines that join", tenon + " sim add-machine" + at + " --type m5.large --count 2"})
	case o.Demo:
		lines = append(lines, [2]string{"let nodes come; 0: go", kubectl + " scale -n demo deployment web --replicas 40"})
	case !c.Pools:
		lines = append(lines, [2]string{"a pool of nodes", kubectl + " apply -f " + o.Dir.pool()})
	}
	if !o.Bare {
		lines = append(lines,
			[2]string{"what there is", kubectl + " get nodepools,nodeclaims,nodes -o wide"},
			[2]string{"what it would buy, why", tenon + " plan --kubeconfig " + c.Kubeconfig + askPages(c)},
		)
	}
	if c.Pages != "" {
		lines = append(lines,
			[2]string{"nodes, in a browser", c.Pages},
			[2]string{"and in this terminal", tenon + " top --kubeconfig " + c.Kubeconfig + askPages(c)},
			[2]string{"what was decided, why", c.Pages + "decisions/"},
		)
	}
	if !o.Bare || o.Host != "" {
		lines = append(lines, [2]string{"what the controller says", o.readLog(kubectl)})
	}
	if o.Controller == ByChart {
		lines = append(lines, [2]string{"change a setting", fmt.Sprintf(change, helm, c.Charts)})
	}
	lines = append(lines,
		[2]string{"pull a machine's plug", tenon + " sim kill" + at + " NODE"},
		[2]string{"an AWS client for it", ". " + o.Dir.awsEnvironment()},
		[2]string{"if kubectl is Unauthorized", "`aws eks update-kubeconfig` wrote a context that only EKS takes; back: export KUBECONFIG=" + c.Kubeconfig + "; " + kubectl + " config use-context " + contextName},
		[2]string{"stop, as Ctrl-C does", tenon + " down" + at},
	)
	w := tabwriter.NewWriter(out, 0, 0, 4, ' ', 0)
	fmt.Fprintf(w, "\nThe cluster is ready. In another terminal:\n\n")
	for _, line := range lines {
		fmt.Fprintf(w, "  %s\t%s\n", line[0], line[1])
	}
	fmt.Fprintln(w)
	_ = w.Flush() // a terminal that is gone cannot be told so
}

// askPages has a verb ask the controller for what it decides by, also where no Service leads to it.
func askPages(c Contact) string {
	if c.Pages == "" {
		return ""
	}
	return " --controller " + c.Pages
}

// How the controller is installed from the playground's registry, and changed.
const (
	byHand = "%s upgrade --install karpenter oci://%s/karpenter/karpenter --plain-http -n karpenter --create-namespace --set settings.clusterName=%s --wait"
	change = "%s upgrade karpenter oci://%s/karpenter/karpenter --plain-http -n karpenter --reset-then-reuse-values --set logLevel=debug"
)

// readLog is how to read the controller's log.
func (o Options) readLog(kubectl string) string {
	if o.Controller != AsChild {
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
		Args:  verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := withTimeout(cmd.Context(), 30*time.Second)
			defer cancel()
			was, err := Stop(ctx, near(*dir))
			if err == nil && !was {
				fmt.Fprintf(cmd.OutOrStdout(), "no playground runs in %s\n", *dir)
			}
			return err
		},
	}
}
