package controller_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/internal/cli/controller"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// run starts the controller outside of any cluster, so that it gets no further
// than its settings, and returns its status and what it wrote.
func run(t *testing.T, env map[string]string, args ...string) (status int, out, errs string) {
	t.Helper()
	root := &cobra.Command{Use: "tenon"}
	root.AddCommand(controller.Command(func(name string) string { return env[name] }, "1.0.0", "abc"))
	var stdout, stderr bytes.Buffer
	status = verb.Run(t.Context(), root, append([]string{"controller"}, args...), verb.Streams{In: &bytes.Buffer{}, Out: io.Writer(&stdout), Err: &stderr})
	return status, stdout.String(), stderr.String()
}

// What Karpenter's manifests say is followed, or the log says what is done instead; nothing ends the program that
// would not end Karpenter.
func TestNotFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		why  string
		env  map[string]string
		args []string
		want []string // in the log; nothing: no line says that something is not followed
	}{
		"Plain":         {why: "What the chart always says needs no line.", env: map[string]string{"CPU_REQUESTS": "1000", "MEMORY_LIMIT": "-1", "FEATURE_GATES": "NodeRepair=false,StaticCapacity=false", "IGNORE_DRA_REQUESTS": "true", "AWS_FEATURE_GATES": "NodeClassCEL=false"}},
		"Unknown":       {why: "A flag of a later release is named.", args: []string{"--later=1", "--preference-policy", "Ignore", "--even-later", "5", "-metrics-port=0"}, want: []string{"passed over", "--later, --even-later"}},
		"UnknownLast":   {why: "It may be the last.", args: []string{"--later"}, want: []string{"--later"}},
		"Gate":          {why: "So is a feature.", env: map[string]string{"FEATURE_GATES": "NextThing=true,NodeRepair=true", "AWS_FEATURE_GATES": "OtherThing=true"}, want: []string{"NextThing, OtherThing"}},
		"Unreadable":    {why: "A variable that cannot be read is as if it said nothing, and named.", env: map[string]string{"BATCH_MAX_DURATION": "soon", "LIVE_PAGE": "yes"}, want: []string{`"variable": "BATCH_MAX_DURATION"`, `"value": "soon"`, `"default": "10s"`, `"variable": "LIVE_PAGE"`}},
		"Retired":       {why: "A variable that an earlier release read is named, with what is to be said instead.", env: map[string]string{"AWS_ISOLATED_VPC": "true", "LEADER_ELECT": "false", "ASSUME_ROLE_ARN": "arn:aws:iam::1:role/a"}, want: []string{`"variable": "AWS_ISOLATED_VPC","value": "true","instead": "set ISOLATED_VPC"`, "set DISABLE_LEADER_ELECTION", "role_arn in the file"}},
		"RetiredPlain":  {why: "One that asks for what is done anyway is not.", env: map[string]string{"AWS_ISOLATED_VPC": "false", "LEADER_ELECT": "true", "VM_MEMORY_OVERHEAD": "0.075", "KUBERNETES_MIN_VERSION": "1.19.0-0", "SYSTEM_NAMESPACE": "karpenter"}},
		"DRA":           {why: "Planning for devices is switched on, which needs no line.", env: map[string]string{"IGNORE_DRA_REQUESTS": "false"}},
		"Warmup":        {why: "Followers are warm.", args: []string{"--disable-controller-warmup=true"}, want: []string{"DISABLE_CONTROLLER_WARMUP changes nothing"}},
		"CPU":           {why: "Set by hand, it is meant.", args: []string{"--cpu-requests=4000"}, want: []string{"--cpu-requests changes nothing"}},
		"DefaultSpread": {why: "Each constraint is named.", env: map[string]string{"SCHEDULER_CONFIG": `{"podTopologySpread": {"defaultConstraints": [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway"}]}}`}, want: []string{"as --scheduler-config says", `topologyKey`}},
		"Intervals":     {why: "These are followed.", args: []string{"--ami-refresh-interval=5m", "--subnet-refresh-interval", "2m", "--security-group-refresh-interval=1m", "--eks-control-plane"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errs := run(t, c.env, append([]string{"--cluster-name=demo", "--log-encoding=json"}, c.args...)...)
			if status != verb.Unusable || !strings.HasPrefix(errs, "tenon: this is not a pod of a cluster") || !strings.Contains(errs, "set --kubeconfig") {
				t.Fatalf("%s\nstatus %d: %s\nwant it to get as far as the API server", c.why, status, errs)
			}
			log := strings.ReplaceAll(out, `":`, `": `)
			for _, want := range c.want {
				if !strings.Contains(log, want) {
					t.Errorf("%s\nno %s in\n%s", c.why, want, log)
				}
			}
			if len(c.want) == 0 && out != "" {
				t.Errorf("%s\nthe log says\n%s", c.why, out)
			}
		})
	}
}

// What cannot be meant is refused, all of it at once, with what to write.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want string
	}{
		"Preferences": {env: map[string]string{"PREFERENCE_POLICY": "respect"}, want: `invalid PREFERENCE_POLICY "respect": write Respect or Ignore`},
		"MinValues":   {args: []string{"--min-values-policy=Loose"}, want: `invalid MIN_VALUES_POLICY "Loose": write Strict or BestEffort`},
		"LogLevel":    {args: []string{"--log-level=loud"}, want: `log level "loud"`},
		"Encoding":    {args: []string{"--log-encoding=xml"}, want: `invalid LOG_ENCODING "xml"`},
		"Level":       {env: map[string]string{"CONSOLIDATION_LEVEL": "brave"}, want: `invalid CONSOLIDATION_LEVEL "brave": write cautious or normal or eager`},
		"Images":      {env: map[string]string{"AMI_REFRESH_INTERVAL": "30s"}, want: "--ami-refresh-interval is 30s, want at least 1m"},
		"Subnets":     {args: []string{"--subnet-refresh-interval=1s"}, want: "--subnet-refresh-interval is 1s"},
		"Groups":      {env: map[string]string{"SECURITY_GROUP_REFRESH_INTERVAL": "59s"}, want: "--security-group-refresh-interval is 59s"},
		"OverheadNaN": {args: []string{"--vm-memory-overhead-percent=NaN"}, want: "--vm-memory-overhead-percent is NaN"},
		"OverheadAll": {args: []string{"--vm-memory-overhead-percent=7.5"}, want: "--vm-memory-overhead-percent is 7.5"},
		"QPS":         {args: []string{"--kube-client-qps=NaN"}, want: "--kube-client-qps is NaN"},
		"Overhead":    {args: []string{"--vm-memory-overhead-percent=-0.1"}, want: "--vm-memory-overhead-percent is -0.1"},
		"Interfaces":  {args: []string{"--reserved-enis", "-1"}, want: "--reserved-enis is -1"},
		"Endpoint":    {args: []string{"--cluster-endpoint=abc.eks.amazonaws.com"}, want: "--cluster-endpoint is"},
		"Gate":        {args: []string{"--feature-gates=NodeRepair"}, want: `feature gate "NodeRepair"`},
		"AWSGate":     {args: []string{"--aws-feature-gates=NodeClassCEL=maybe"}, want: "NodeClassCEL=maybe"},
		"Scheduler":   {env: map[string]string{"SCHEDULER_CONFIG": "/etc/scheduler.yaml"}, want: "--scheduler-config is the document itself"},
		"Bool":        {args: []string{"--eks-control-plane=perhaps"}, want: "eks-control-plane"},
		"Number":      {args: []string{"--metrics-port=many"}, want: "metrics-port"},
		"Argument":    {args: []string{"extra"}, want: `takes no argument and got "extra"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, errs := run(t, c.env, append([]string{"--cluster-name=demo"}, c.args...)...)
			if status != verb.Unusable || !strings.Contains(errs, c.want) {
				t.Errorf("status %d: %s\nwant %d and %q", status, errs, verb.Unusable, c.want)
			}
		})
	}
	status, _, errs := run(t, nil, "--min-values-policy=Loose")
	if status != verb.Unusable || !strings.Contains(errs, "no name") || !strings.Contains(errs, "Loose") {
		t.Errorf("status %d: %s\nwant both mistakes told at once", status, errs)
	}
}
