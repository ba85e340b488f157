// Package doctor is the verb `tenon doctor`: what would keep nodes from being launched, found before it does.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/app"
	"github.com/tenon-sh/tenon/internal/aws/examine"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/cloud"
)

// options are the flags.
type options struct {
	app.AWS
	cluster    verb.Cluster
	all        bool
	beforeSwap bool
	gates      string
}

// Command is the verb. getenv reads the environment, release names the build.
func Command(getenv func(string) string, release string) *cobra.Command {
	o := options{}
	o.Version = release
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what would keep nodes from being launched",
		Long: `Examine what pools and their classes rest on in AWS: permissions, subnets,
security groups, images, roles, the queue of interruption notices. Every pool is
compared with its class: whether its requirements and limits leave it anything to
buy. Whatever is missing or wrong is said with what to do about it. Nothing is
changed: calls that would are dry runs, or are not made.

It looks at the cluster of the current kubeconfig context, with the AWS
credentials of the environment. To examine the controller's own permissions, run
it with the controller's role. It exits with status 1 if it finds an error;
warnings, and what could not be found out, do not count.

With --before-swap it also finds what will differ once Tenon takes the place of
the Karpenter that runs: its flags, variables and Helm values, and the nodes and
pods that are treated otherwise. The name of the cluster and the queue are then
those of that controller, unless they are given.`,
		Example: `  tenon doctor --cluster-name demo --interruption-queue demo
  tenon doctor --before-swap
  tenon doctor --cluster-name demo -o json | jq '.[].findings[] | select(.level == "error")'`,
		Args: verb.NoArgs,
	}
	format := verb.FormatFlag(cmd, verb.Text, verb.JSON)
	f := cmd.Flags()
	f.StringVar(&o.cluster.Kubeconfig, "kubeconfig", "", "kubeconfig to use; empty: the usual one")
	f.StringVar(&o.cluster.Context, "context", "", "context of the kubeconfig; empty: the current one")
	f.BoolVar(&o.all, "all", false, "in text, list what is well too")
	f.BoolVar(&o.beforeSwap, "before-swap", false, "find what will differ once Tenon takes the place of the Karpenter that runs")
	s := &o.Settings
	f.StringVar(&s.Cluster, "cluster-name", getenv("CLUSTER_NAME"), "name of the cluster (CLUSTER_NAME)")
	f.StringVar(&s.Endpoint, "cluster-endpoint", getenv("CLUSTER_ENDPOINT"), "where machines find the API server; empty: EKS is asked (CLUSTER_ENDPOINT)")
	f.StringVar(&s.Queue, "interruption-queue", getenv("INTERRUPTION_QUEUE"), "queue of interruption notices (INTERRUPTION_QUEUE)")
	f.BoolVar(&s.Isolated, "isolated-vpc", getenv("ISOLATED_VPC") == "true", "the VPC has no endpoint for the Pricing service (ISOLATED_VPC)")
	f.StringVar(&o.DefaultProfile, "default-instance-profile", getenv("AWS_DEFAULT_INSTANCE_PROFILE"), "instance profile of older classes that name none (AWS_DEFAULT_INSTANCE_PROFILE)")
	f.StringVar(&o.gates, "aws-feature-gates", getenv("AWS_FEATURE_GATES"), "features of AWS that are switched, as Name=true,Other=false (AWS_FEATURE_GATES)")
	f.StringVar(&o.Region, "region", getenv("AWS_REGION"), "region; empty: what the environment says (AWS_REGION)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		report, err := o.examine(cmd.Context())
		if err != nil {
			return err
		}
		if format.Is(verb.JSON) {
			err = verb.WriteJSON(cmd.OutOrStdout(), report)
		} else {
			err = report.print(cmd.OutOrStdout(), o.all)
		}
		return cmp.Or(err, report.verdict())
	}
	return cmd
}

// examine finds pools and classes in the cluster and has AWS asked about them.
func (o *options) examine(ctx context.Context) (Report, error) {
	if o.Settings.Cluster == "" && !o.beforeSwap {
		return nil, verb.BadInputf("the cluster has no name: set --cluster-name or CLUSTER_NAME")
	}
	k, err := o.cluster.Connect("")
	if err != nil {
		return nil, err
	}
	c, err := reader(k)
	if err != nil {
		return nil, err
	}
	asked, err := find(ctx, c)
	if err != nil {
		return nil, err
	}
	var first Report
	if o.beforeSwap {
		r, err := runningIn(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("find the controller that runs: %w", err)
		}
		first = Report{{Subject: "swap", Findings: swap(ctx, c, r, asked)}}
		if r != nil {
			o.Settings.Cluster = cmp.Or(o.Settings.Cluster, r.env["CLUSTER_NAME"])
			o.Settings.Queue = cmp.Or(o.Settings.Queue, r.env["INTERRUPTION_QUEUE"])
			o.DefaultProfile = cmp.Or(o.DefaultProfile, r.env["AWS_DEFAULT_INSTANCE_PROFILE"])
			o.gates = cmp.Or(o.gates, r.env["AWS_FEATURE_GATES"])
		}
		if o.Settings.Cluster == "" {
			return nil, verb.BadInputf("the cluster has no name, nor does a controller that runs say one: set --cluster-name or CLUSTER_NAME")
		}
	}
	gates, _, err := app.ParseAWSGates(o.gates)
	if err != nil {
		return nil, verb.BadInputf("--aws-feature-gates: %w", err)
	}
	o.Settings.Expressions = gates.NodeClassCEL
	driver, err := app.OnAWS(ctx, k, o.AWS, logr.Discard(), clock.Wall)
	if err != nil {
		return nil, err
	}
	return append(first, reportOf(ctx, driver, asked)...), nil
}

// examiner is the driver.
type examiner interface {
	ExamineAccount(ctx context.Context) []examine.Finding
	ExamineClass(ctx context.Context, ref cloud.ClassRef) []examine.Finding
	Catalog(ctx context.Context, t cloud.Template) (world.Catalog, error)
}

// reportOf puts a report together: the account, the pools, then every class. Where the account cannot be asked, the rest is left out.
func reportOf(ctx context.Context, d examiner, a asked) Report {
	account := d.ExamineAccount(ctx)
	out := Report{{Subject: "account", Findings: account}}
	if examine.Futile(account) {
		return out
	}
	if pools := append(slices.Clone(a.pools), compare(ctx, d, a)...); len(pools) > 0 {
		out = append(out, Part{Subject: "pools", Findings: pools})
	}
	for _, c := range a.classes {
		found := d.ExamineClass(ctx, c)
		if wrong, ok := a.wrong[c]; ok {
			found = append([]examine.Finding{wrong}, found...)
		}
		out = append(out, Part{Subject: c.Kind + "/" + c.Name, Findings: found})
	}
	return out
}

// Report is what was found, part by part.
type Report []Part

// Part is what was found of one subject.
type Part struct {
	Subject  string            `json:"subject"`
	Findings []examine.Finding `json:"findings"`
}

func (r Report) count(l examine.Level) int {
	n := 0
	for _, p := range r {
		for _, f := range p.Findings {
			if f.Level == l {
				n++
			}
		}
	}
	return n
}

// verdict is an error if anything found is one.
func (r Report) verdict() error {
	n := r.count(examine.Bad)
	switch n {
	case 0:
		return nil
	case 1:
		return errors.New("1 error was found")
	}
	return fmt.Errorf("%d errors were found", n)
}

// print writes the report for people. What is well is counted unless all is to be seen.
func (r Report) print(w io.Writer, all bool) error {
	for _, p := range r {
		if _, err := fmt.Fprintf(w, "%s\n", p.Subject); err != nil {
			return err
		}
		well := 0
		for _, f := range p.Findings {
			if f.Level == examine.Good && !all {
				well++
				continue
			}
			fmt.Fprintf(w, "  %-8s %s: %s\n", f.Level, f.Check, f.Says)
			if f.Fix != "" {
				fmt.Fprintf(w, "           → %s\n", f.Fix)
			}
		}
		if well > 0 {
			fmt.Fprintf(w, "  %-8s %s\n", examine.Good, amount.Count(well, "check"))
		}
	}
	_, err := fmt.Fprintf(w, "\n%s, %s, %d unclear, %d ok\n", amount.Count(r.count(examine.Bad), "error"), amount.Count(r.count(examine.Warning), "warning"), r.count(examine.Unclear), r.count(examine.Good))
	return err
}
