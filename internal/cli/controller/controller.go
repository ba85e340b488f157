// Package controller is the verb that runs the controller.
package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/lead"
)

// options are the flags.
type options struct {
	app.Settings
	app.AWS

	kubeconfig            string
	noElection, noWarmup  bool
	logLevel, logEncoding string
	logOut, logErr        string
	preferences           string
	nodeCharge            string
	minValues             string
	gates, awsGates       string
	schedulerConfig       string
	otlp                  string
	ignoreDRA             bool
	cpu                   int
	commit                string

	getenv func(string) string
	notes  []note // what was given and is not followed
}

// Command is `tenon controller`. getenv reads the environment; release and commit name the build.
func Command(getenv func(string) string, release, commit string) *cobra.Command {
	o := options{Settings: app.Defaults(), commit: commit, getenv: getenv}
	o.AWS.Version = release
	cmd := o.command(getenv)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.notes = append(o.notes, passedOver(cmd)...)
		return o.run(cmd.Context(), cmd.OutOrStdout(), cmd.ErrOrStderr())
	}
	return cmd
}

// command is the verb with its flags, which does nothing yet.
func (o *options) command(getenv func(string) string) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "controller",
		Short: "Run the controller that asks for nodes and gives them back",
		Long: `Run the controller in the foreground until it is stopped.

Every flag can also be set by the environment variable that its help names. A
flag wins over the environment, and the environment over the default. Flags and
features that other releases know are passed over; the log names them.`,
		Args: verb.NoArgs,
	}
	verb.PassOver(cmd)
	o.flags(cmd, getenv)
	return cmd
}

// run puts the controller together and runs it.
func (o *options) run(ctx context.Context, out, errs io.Writer) error {
	level, err := app.ParseLevel(o.logLevel)
	if err != nil {
		return verb.BadInput(err)
	}
	if err := o.check(); err != nil {
		return verb.BadInput(err)
	}
	outputs, closeLogs, err := open(o.logOut, out, errs)
	if err != nil {
		return err
	}
	defer closeLogs()
	errors, closeErrors, err := open(o.logErr, out, errs)
	if err != nil {
		return err
	}
	defer closeErrors()
	logLevel := app.NewDynamicLevel(level)
	log := app.NewLog(app.LogConfig{Out: outputs, Err: errors, JSON: o.logEncoding == "json", Level: logLevel, Commit: o.commit, Now: clock.Wall})
	ctrllog.SetLogger(log)
	klog.SetLogger(app.Calm(log.WithName("client")))
	for _, n := range o.notes {
		log.Info(n.text, n.fields...)
	}
	limitMemory(o.MemoryLimit, o.getenv, os.ReadFile)
	defer untilReturned(ctx, log)()
	k, err := o.cluster()
	if err != nil {
		return err
	}
	time, err := app.Follow(ctx, k, clock.Wall, log)
	if err != nil {
		return err
	}
	o.AWS.ReadOnly, o.AWS.Settings.NoReserved, o.AWS.Cache = o.Shadow, !o.Gates.ReservedCapacity, &app.ClassCache{}
	fence := lead.NewFence(clock.Wall)
	if o.LeaderElection && !o.Shadow {
		o.AWS.Acts = fence.Wait
	}
	driver, err := app.OnAWS(ctx, k, o.AWS, log.WithName("controller.aws"), time.Now)
	if err != nil {
		return err
	}
	a, err := app.New(ctx, app.Config{Kubernetes: k, Driver: driver, Provider: "aws", Settings: o.Settings, Release: o.AWS.Version, Commit: o.commit, Log: log, LogLevel: logLevel, Fence: fence, Classes: o.AWS.Cache, Now: clock.Wall, Clock: time})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}

// cluster is how to reach the API server: what the flag says, or what a pod is given.
func (o *options) cluster() (*rest.Config, error) {
	var k *rest.Config
	var err error
	if o.kubeconfig == "" {
		k, err = rest.InClusterConfig()
		switch {
		case errors.Is(err, rest.ErrNotInCluster):
			return nil, verb.BadInputf("this is not a pod of a cluster, as KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: set --kubeconfig to a file that says how to reach one")
		case err != nil:
			return nil, fmt.Errorf("read what the pod is given to reach the API server: %w; let its service account's token be mounted, or set --kubeconfig", err)
		}
	} else if k, err = (verb.Cluster{Kubeconfig: o.kubeconfig}).Connect(""); err != nil {
		return nil, err
	}
	k.UserAgent = "karpenter/" + o.AWS.Version
	return k, nil
}

// open returns a writer to each of the paths in a list; stdout and stderr are those of the program.
func open(paths string, out, errs io.Writer) (io.Writer, func(), error) {
	var to []io.Writer
	var files []*os.File
	closeAll := func() {
		for _, f := range files {
			_ = f.Close()
		}
	}
	for p := range strings.SplitSeq(paths, ",") {
		switch p = strings.TrimSpace(p); p {
		case "":
		case "stdout":
			to = append(to, out)
		case "stderr":
			to = append(to, errs)
		default:
			f, err := os.OpenFile(p, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				closeAll()
				return nil, nil, verb.BadInputf("open log: %w", err)
			}
			files = append(files, f)
			to = append(to, f)
		}
	}
	return io.MultiWriter(to...), closeAll, nil
}

// flags declares every flag, with what the environment says as its default.
func (o *options) flags(cmd *cobra.Command, getenv func(string) string) {
	f := flags{cmd: cmd, getenv: getenv, notes: &o.notes}
	f.text(&o.kubeconfig, "kubeconfig", "KUBECONFIG_PATH", "file that says how to reach the cluster; in a pod none is needed")
	f.number(&o.MetricsPort, "metrics-port", "METRICS_PORT", "port of metrics, and of profiles if enabled; 0: none")
	f.number(&o.HealthPort, "health-probe-port", "HEALTH_PROBE_PORT", "port of the liveness and readiness probes; 0: none")
	f.text(&o.BindAddress, "bind-address", "BIND_ADDRESS", "address that metrics and probes are served on; empty: all there are")
	f.number(&o.WebhookPort, "webhook-port", "WEBHOOK_PORT", "port of the webhook for Provisioners and AWSNodeTemplates; 0: none")
	f.text(&o.WebhookService, "karpenter-service", "KARPENTER_SERVICE", "name of the Service by which the API server reaches the webhook")
	f.rate(&o.QPS, "kube-client-qps", "KUBE_CLIENT_QPS", "calls a second to the API server")
	f.number(&o.Burst, "kube-client-burst", "KUBE_CLIENT_BURST", "calls at once to the API server")
	f.flag(&o.Profiling, "enable-profiling", "ENABLE_PROFILING", "serve profiles")
	f.flag(&o.LivePage, "live-page", "LIVE_PAGE", "show the cluster as it changes, and answer questions about it, to everyone who reaches the port of metrics")
	f.flag(&o.ViewAPI, "view-api", "VIEW_API", "answer for the API group view.tenon.sh on the port of the webhook: what callers of the API server ask, with no more pods than they may list")
	f.flag(&o.noWarmup, "disable-controller-warmup", "DISABLE_CONTROLLER_WARMUP", "accepted; followers always read the cluster before they lead, so that they can lead at once")
	f.flag(&o.noElection, "disable-leader-election", "DISABLE_LEADER_ELECTION", "lead without asking others; nothing keeps two from acting at the same time then")
	f.text(&o.LeaseName, "leader-election-name", "LEADER_ELECTION_NAME", "name of the Lease")
	f.text(&o.LeaseNamespace, "leader-election-namespace", "LEADER_ELECTION_NAMESPACE", "namespace of the Lease; empty: the pod's own")
	f.size(&o.MemoryLimit, "memory-limit", "MEMORY_LIMIT", "bytes of memory to stay below; negative: those that the container is limited to, if it is")
	f.number(&o.cpu, "cpu-requests", "CPU_REQUESTS", "accepted; how much is done side by side does not depend on it")
	f.text(&o.logLevel, "log-level", "LOG_LEVEL", "debug, info or error")
	f.text(&o.logEncoding, "log-encoding", "LOG_ENCODING", "console or json")
	f.textOr(&o.logOut, "stdout", "log-output-paths", "LOG_OUTPUT_PATHS", "where the log goes: stdout, stderr or files, between commas")
	f.textOr(&o.logErr, "stderr", "log-error-output-paths", "LOG_ERROR_OUTPUT_PATHS", "where errors go")
	f.span(&o.BatchMax, "batch-max-duration", "BATCH_MAX_DURATION", "longest wait for further pods before a decision")
	f.span(&o.BatchIdle, "batch-idle-duration", "BATCH_IDLE_DURATION", "decide once no further pod has come for this long")
	f.textOr(&o.preferences, "Respect", "preference-policy", "PREFERENCE_POLICY", "Respect or Ignore what pods prefer")
	f.textOr(&o.minValues, "Strict", "min-values-policy", "MIN_VALUES_POLICY", "Strict, or BestEffort to lower minValues")
	f.number(&o.SpotPremium, "spot-premium", "SPOT_PREMIUM", "percent of its price that spot counts as costing more, because it may be taken back")
	f.textOr(&o.nodeCharge, "0.02", "node-charge", "NODE_CHARGE", "what a node counts beside its price, an hour in the currency of prices, such as what an agent costs for each: with more of it plans have fewer and larger nodes; no part of any price that is told")
	f.flag(&o.UnhealthyLast, "unhealthy-pools-last", "UNHEALTHY_POOLS_LAST", "buy last from pools whose machines were launched and did not register, whatever they weigh")
	f.flag(&o.Nominate, "nominate-pods", "NOMINATE_PODS", "nominate pods for the nodes they are planned for, so that kube-scheduler follows the plan; needs Kubernetes 1.35")
	f.span(&o.InitializeWithin, "initialization-timeout", "INITIALIZATION_TIMEOUT", "how long a node that has registered may take to be initialized before it is drained and given up; 0: for ever")
	f.span(&o.HoldNodes, "hold-nodes-for", "HOLD_NODES_FOR", "how long a node that has joined may take no pods, until all of its own that are spread over zones can be bound; 0: no time; needs pods to be nominated")
	f.flag(&o.MovePods, "move-pods", "MOVE_PODS", "move pods where their pools say so: to make the cluster cheaper, and to replace nodes that have drifted; otherwise only nodes that are empty or too old are given back")
	f.text(&o.ConsolidationLevel, "consolidation-level", "CONSOLIDATION_LEVEL", "how much has to be saved for a pod to be moved, where its pool does not say: cautious, normal or eager")
	f.text(&o.gates, "feature-gates", "FEATURE_GATES", "features to switch, as Name=true,Other=false")
	f.flag(&o.Shadow, "shadow", "SHADOW", "decide and report, and change nothing: no lease, no events, no write to the API server, no call to AWS that does more than look")
	f.text(&o.JournalDir, "journal-dir", "JOURNAL_DIR", "folder in which every decision is kept with all that it was made of, for tenon replay; empty: none")
	f.size(&o.JournalLimit, "journal-limit", "JOURNAL_LIMIT", "bytes that the journal may have; the oldest decisions make room")
	f.text(&o.RecordFile, "record-file", "RECORD_FILE", "file in which decisions are recorded, each World as what changed since the one before, for tenon replay; empty: none")
	f.size(&o.RecordLimit, "record-limit", "RECORD_LIMIT", "bytes that the recording may have; the oldest decisions make room")
	f.text(&o.otlp, "otlp-endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT", "URL of an OpenTelemetry collector that takes OTLP over HTTP, such as http://collector:4318: spans are sent to it of how pods came to run; empty: none")
	o.ignoreDRA = true
	f.flag(&o.ignoreDRA, "ignore-dra-requests", "IGNORE_DRA_REQUESTS", "whether pods with resource claims are refused with the reason; false: they are planned for, with the devices that drivers publish and NodePools state")
	f.text(&o.schedulerConfig, "scheduler-config", "SCHEDULER_CONFIG", "document with podTopologySpread.defaultConstraints, in YAML or JSON, as kube-scheduler's configuration has them: pods that state no topology spread constraint are planned with these")
	f.flag(&o.Unobserved, "disable-cluster-state-observability", "DISABLE_CLUSTER_STATE_OBSERVABILITY", "no metrics of single pods, nodes, pools and conditions")
	o.awsFlags(f)
}

// awsFlags declares the flags of what is AWS' own.
func (o *options) awsFlags(f flags) {
	a := &o.AWS.Settings
	f.text(&a.Cluster, "cluster-name", "CLUSTER_NAME", "name of the cluster, by which its machines are known")
	f.text(&a.Endpoint, "cluster-endpoint", "CLUSTER_ENDPOINT", "where machines find the API server; empty: EKS is asked")
	f.text(&a.CA, "cluster-ca-bundle", "CLUSTER_CA_BUNDLE", "certificate of the API server in base64; empty: EKS is asked")
	f.flag(&a.Isolated, "isolated-vpc", "ISOLATED_VPC", "do not call AWS services that have no endpoint in the VPC")
	f.flag(&a.EKSVersion, "eks-control-plane", "EKS_CONTROL_PLANE", "take the version of the cluster from EKS alone; otherwise the API server's stands in where EKS does not answer")
	a.ImagesFresh, a.SubnetsFresh, a.GroupsFresh = time.Minute, time.Minute, 5*time.Minute
	f.span(&a.ImagesFresh, "ami-refresh-interval", "AMI_REFRESH_INTERVAL", "how long what EC2 said of images is used, at least 1m")
	f.span(&a.SubnetsFresh, "subnet-refresh-interval", "SUBNET_REFRESH_INTERVAL", "how long what EC2 said of subnets is used, at least 1m")
	f.span(&a.GroupsFresh, "security-group-refresh-interval", "SECURITY_GROUP_REFRESH_INTERVAL", "how long what EC2 said of security groups is used, at least 1m")
	f.text(&o.awsGates, "aws-feature-gates", "AWS_FEATURE_GATES", "features of AWS to switch, as Name=true,Other=false")
	f.flag(&a.ZonalShift, "enable-zonal-shift", "ENABLE_ZONAL_SHIFT", "launch nothing in zones that the cluster's traffic is shifted away from")
	f.flag(&a.NoDryRun, "disable-dry-run", "DISABLE_DRY_RUN", "do not ask EC2 by dry runs whether machines of a class could be launched")
	a.MemoryOverhead = 0.075
	f.share(&a.MemoryOverhead, "vm-memory-overhead-percent", "VM_MEMORY_OVERHEAD_PERCENT", "share of memory that machines are counted without")
	f.text(&a.Queue, "interruption-queue", "INTERRUPTION_QUEUE", "queue of interruption notices; empty: none")
	f.number(&a.ReservedENIs, "reserved-enis", "RESERVED_ENIS", "network interfaces that pods cannot use")
	f.text(&o.DefaultProfile, "default-instance-profile", "AWS_DEFAULT_INSTANCE_PROFILE", "instance profile of older classes that name none")
	f.text(&o.Region, "region", "AWS_REGION", "region; empty: what the environment says")
}
