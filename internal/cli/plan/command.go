// Package plan is the verb that shows what would be bought for the waiting pods of files or of a live cluster, and buys nothing.
package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/pack"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
)

// wide is the text form that names every pod and every type.
const wide = "wide"

// options are what the user asks for.
type options struct {
	files       []string
	catalog     string
	region      string
	kubeconfig  string
	mode        string
	out         string
	preferences string
	minValues   string
	steps       int
	version     string
	format      *verb.Format
}

// Command returns the verb. version is the program's, for the result.
func Command(version string) *cobra.Command {
	o := options{version: version}
	cmd := &cobra.Command{
		Use:   "plan [-f FILE|DIR|-]...",
		Short: "Show what would be bought for the waiting pods, and why",
		Long: `Plan decides what nodes the waiting pods need and prints it. It buys nothing
and changes nothing.

With -f it reads Kubernetes objects from files: pods, workloads, nodes,
NodePools, Provisioners and what else a decision depends on. Without -f it
reads the cluster of the current kubeconfig. A world that the controller kept
(its page /decisions/ offers them) is decided about again, as it was.`,
		Example: `  tenon plan -f manifests/
  kubectl get pods,nodes,nodepools -A -o yaml | tenon plan -f - -o json
  tenon plan                        # the current cluster, read only`,
		Args: verb.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	f := cmd.Flags()
	f.StringSliceVarP(&o.files, "filename", "f", nil, "file or folder of objects, - for standard input; may be repeated")
	f.StringVar(&o.catalog, "catalog", "", "catalogue file (tenon-catalog/v1); default: the bundled EC2 catalogue of --region")
	f.StringVar(&o.region, "region", "us-east-1", "region of the bundled catalogue")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the cluster, when there is no -f")
	f.StringVar(&o.mode, "mode", "provision", "what to decide: provision")
	f.StringVar(&o.out, "out", "", "write the plan to this file instead of standard output")
	f.StringVar(&o.preferences, "preference-policy", "Respect", "soft terms of pods: Respect or Ignore")
	f.StringVar(&o.minValues, "min-values-policy", "Strict", "minValues that cannot be met: Strict refuses, BestEffort lowers them")
	f.IntVar(&o.steps, "steps", 0, "bound on the counted work; 0: the default")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	return cmd
}

func (o *options) run(cmd *cobra.Command) error {
	decide, err := o.decideOptions()
	if err != nil {
		return err
	}
	begin := clock.Wall()
	objects, shapes, err := o.read(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	loaded, before := clock.Wall(), usageNow()
	picture, notes, err := pictureOf(objects, shapes, loaded.Unix())
	if err != nil {
		return verb.BadInput(err)
	}
	p := provision.Decide(picture, decide)
	spent := usageNow().minus(before)

	r := p.Result(picture)
	r.Version, r.Scenario, r.Catalog = o.version, strings.Join(o.files, ","), o.catalogName()
	r.LoadSeconds, r.Decision = loaded.Sub(begin).Seconds(), spent
	r.SolveSeconds = spent.WallSeconds
	if spent.CPUSeconds > 0 {
		r.PodsPerSecond = float64(p.Waiting) / spent.CPUSeconds
	}
	for _, n := range notes {
		fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", n)
	}
	return o.print(cmd.OutOrStdout(), p, r)
}

// decideOptions reads the flags that the decision depends on.
func (o *options) decideOptions() (provision.Options, error) {
	var out provision.Options
	switch o.mode {
	case "provision":
	case "disrupt":
		return out, verb.BadInputf("--mode disrupt is not built yet: tenon decides what to buy, not yet what to consolidate; use --mode provision")
	default:
		return out, verb.BadInputf("--mode is %q, want provision", o.mode)
	}
	switch o.preferences {
	case "Respect", "Ignore":
		out.PreferencePolicy = pack.Policy(o.preferences)
	default:
		return out, verb.BadInputf("--preference-policy is %q, want Respect or Ignore", o.preferences)
	}
	switch o.minValues {
	case "Strict", "BestEffort":
		out.MinValuesPolicy = pack.Policy(o.minValues)
	default:
		return out, verb.BadInputf("--min-values-policy is %q, want Strict or BestEffort", o.minValues)
	}
	if o.steps < 0 {
		return out, verb.BadInputf("--steps is %d, want zero or more", o.steps)
	}
	out.Steps = o.steps
	return out, nil
}

// pictureOf builds the World of objects, or takes the one that is among them.
func pictureOf(objects []object, shapes world.Catalog, at int64) (*world.World, []string, error) {
	for _, o := range objects {
		data, ok := o.v.(replay)
		if !ok {
			continue
		}
		if len(objects) > 1 {
			return nil, nil, fmt.Errorf("%s: a kept world is decided about alone, without other objects", o.from.where())
		}
		w, err := world.Read(data)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", o.from.where(), err)
		}
		return w, nil, nil
	}
	in, err := load(objects)
	if err == nil {
		err = in.sell(shapes)
	}
	if err != nil {
		return nil, nil, err
	}
	return in.builder.Snapshot(at), in.notes, nil
}

// read reads the objects and the catalogue.
func (o *options) read(ctx context.Context, in io.Reader, progress io.Writer) ([]object, world.Catalog, error) {
	objects, err := o.objects(ctx, in, progress)
	if err != nil {
		return nil, world.Catalog{}, err
	}
	shapes, err := o.shapes()
	return objects, shapes, verb.BadInput(err)
}

func (o *options) objects(ctx context.Context, in io.Reader, progress io.Writer) ([]object, error) {
	if len(o.files) == 0 {
		config, err := connect(o.kubeconfig)
		if err != nil {
			return nil, verb.BadInput(err)
		}
		return live(ctx, config, progress)
	}
	docs, err := readAll(o.files, in)
	if err != nil {
		return nil, verb.BadInput(err)
	}
	if len(docs) == 0 {
		return nil, verb.BadInput(errors.New(strings.Join(o.files, ", ") + ": no document in it: give Kubernetes objects as YAML or JSON"))
	}
	if len(docs) > 50_000 {
		fmt.Fprintf(progress, "reading %d documents\n", len(docs))
	}
	objects, err := decodeAll(docs)
	return objects, verb.BadInput(err)
}

// shapes reads the catalogue the user named, or the bundled one.
func (o *options) shapes() (world.Catalog, error) {
	if o.catalog != "" {
		return readCatalog(o.catalog, template)
	}
	all, err := catalog.Load()
	if err != nil {
		return world.Catalog{}, err
	}
	region, err := all.Region(o.region)
	if err != nil {
		return world.Catalog{}, fmt.Errorf("--region: %w", err)
	}
	c := types.Bundled(region, types.Default(o.region))
	c.Template = template
	closeLabels(c.Shapes)
	return c, nil
}

func (o *options) catalogName() string {
	if o.catalog != "" {
		return o.catalog
	}
	return "bundled " + o.region
}

// print writes the plan where the user wants it.
func (o *options) print(out io.Writer, p plan.Plan, r plan.Result) (err error) {
	if o.out != "" {
		f, err := os.Create(o.out)
		if err != nil {
			return fmt.Errorf("write plan: %w", err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	switch {
	case o.format.Is(verb.JSON):
		return verb.WriteJSON(out, r)
	default:
		_, err := io.WriteString(out, p.Text(o.format.Is(wide)))
		return err
	}
}
