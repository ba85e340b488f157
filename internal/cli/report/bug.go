package report

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/internal/cli/page"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
	"github.com/tenon-sh/tenon/internal/scrub"
)

const (
	// mostObjects is how many objects of a kind, and how many events, are collected.
	mostObjects = 5000
	// mostMetrics is how much of the metrics is read.
	mostMetrics = 16 << 20
	// leastLimit is how large the file must be allowed to be: what it says of itself has to fit.
	leastLimit = 64 << 10
	// patience is how long all of it may take.
	patience = 5 * time.Minute
	// reserve is kept for the list of what is in the file.
	reserve = 16 << 10
)

// bugOptions are the flags.
type bugOptions struct {
	source  snapshot.Source
	out     string
	scrub   bool
	limit   int64
	release string
}

func bug(release string) *cobra.Command {
	o := &bugOptions{release: release}
	cmd := &cobra.Command{
		Use:   "bug",
		Short: "Collect what a bug report needs in one file",
		Long: `Bug writes one zip file with what is needed to find a mistake of the controller:
versions, its settings, pools, classes, claims and nodes, its events and metrics,
and its last decisions with all that each was made of. What could not be had, and
why, is in README.txt, which is printed as well: read it before you send the file.

No Secret is read. Of variables and flags only the values of known settings are
told; user data of classes, and annotations that are not Karpenter's or Tenon's,
are left out. With --scrub namespaces, pods and their labels, workloads, volumes,
nodes and claims have other names, alike everywhere in the file, and what cannot
be renamed surely is left out: objects, events, and series with names. Names of
pools, labels and taints of nodes, and what pods ask of nodes stay, since
decisions depend on them.

tenon replay makes the decisions of such a file again.`,
		Example: `  tenon report bug
  tenon report bug --scrub --out bug.zip
  tenon report bug --controller http://127.0.0.1:8080
  tenon replay bug.zip`,
		Args: verb.NoArgs,
		RunE: o.run,
	}
	f := cmd.Flags()
	reach(f, &o.source)
	f.StringVar(&o.out, "out", "", "file to write; default: tenon-bug-TIME.zip")
	f.BoolVar(&o.scrub, "scrub", false, "give namespaces, pods, workloads, nodes and claims other names, and leave out what cannot be renamed")
	f.Int64Var(&o.limit, "limit", 24<<20, "bytes that the file may have; older decisions are left out first")
	return cmd
}

func (o *bugOptions) run(cmd *cobra.Command, _ []string) (err error) {
	if o.limit < leastLimit {
		return verb.BadInputf("--limit is %d, want at least %d: what the file says of itself has to fit", o.limit, leastLimit)
	}
	now := clock.Wall().UTC()
	name := cmp.Or(o.out, "tenon-bug-"+now.Format("20060102-150405")+".zip")
	ctx, end := context.WithTimeout(cmd.Context(), patience)
	defer end()
	config, err := (verb.Cluster{Kubeconfig: o.source.Kubeconfig, Context: o.source.Context}).Connect("")
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 50, 100
	doors, err := o.source.Doors(ctx)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return verb.BadInput(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return verb.BadInput(err)
	}
	to, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return verb.BadInputf("%s is there already, and is not written over: name another file with --out", name)
	} else if err != nil {
		return verb.BadInputf("write the report: %w", err)
	}
	c := &collecting{file: newFile(to, o.limit-reserve, now), scrub: o.scrub, objects: objects, client: client, doors: doors}
	err = c.all(ctx, o.release)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	info, err := os.Stat(name)
	if err != nil {
		return fmt.Errorf("look at the report: %w", err)
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s\nWritten to %s (%d KB).\n", c.readme(), name, (info.Size()+1023)/1024)
	return err
}

// collecting is a report that is being made.
type collecting struct {
	file    *file
	scrub   bool
	objects dynamic.Interface
	client  kubernetes.Interface
	doors   []snapshot.Endpoint

	has, lacks []string
}

// all collects everything there is. Only that the file cannot be written is an error.
func (c *collecting) all(ctx context.Context, release string) error {
	for _, part := range []func(context.Context) error{
		func(ctx context.Context) error { return c.versions(ctx, release) }, c.settings, c.kinds, c.events, c.metrics, c.decisions,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	c.file.room += reserve
	if err := c.file.add("README.txt", []byte(c.readme())); err != nil {
		return err
	}
	if err := c.file.zip.Close(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// readme says what the file contains.
func (c *collecting) readme() string {
	var b strings.Builder
	b.WriteString("This file is for those who look for a mistake of Tenon. It contains:\n")
	for _, h := range c.has {
		b.WriteString("  " + h + "\n")
	}
	if len(c.has) == 0 {
		b.WriteString("  nothing\n")
	}
	if len(c.lacks) > 0 {
		b.WriteString("It lacks:\n")
		for _, l := range c.lacks {
			b.WriteString("  " + l + "\n")
		}
	}
	if c.scrub {
		b.WriteString("Namespaces, pods and their labels, workloads, volumes, nodes and claims have made-up names.\nNames of pools, labels and taints of nodes, and what pods ask of nodes are as they were.\n")
	} else {
		b.WriteString("It names pods, namespaces, nodes and pools with their labels, and holds no Secrets and no user data. --scrub replaces names.\n")
	}
	return page.Printable(b.String())
}

// keep adds a part, and says that it is there, or why it is not.
func (c *collecting) keep(name, what string, v any) error {
	data, ok := v.([]byte)
	if !ok {
		var err error
		if data, err = json.MarshalIndent(v, "", " "); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	switch err := c.file.add(name, data); {
	case errors.Is(err, errFull):
		c.lack(what, err)
		return nil
	case err != nil:
		return err
	}
	c.has = append(c.has, name+": "+what)
	return nil
}

func (c *collecting) lack(what string, err error) {
	text, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	switch {
	case !c.scrub || errors.Is(err, errFull):
	case apierrors.IsForbidden(err):
		text = "there is no right to read it"
	default: // what others say may name anything
		text = "it could not be had; without --scrub this file says why"
	}
	c.lacks = append(c.lacks, what+": "+text)
}

func (c *collecting) versions(ctx context.Context, release string) error {
	out := map[string]string{"tenon": release}
	if v, err := c.client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw(); err != nil {
		c.lack("version of Kubernetes", err)
	} else {
		var server struct {
			GitVersion string `json:"gitVersion"`
		}
		if json.Unmarshal(v, &server) == nil {
			out["kubernetes"] = server.GitVersion
		}
	}
	return c.keep("versions.json", "versions of this program and of Kubernetes", out)
}

// running is a Deployment of a controller, with what it is told.
type running struct {
	Deployment string            `json:"deployment,omitempty"`
	Replicas   int32             `json:"ready"`
	Image      string            `json:"image"`
	Env        map[string]string `json:"env"`
	Args       []string          `json:"args"`
}

func (c *collecting) settings(ctx context.Context) error {
	list, err := c.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=karpenter", Limit: mostObjects})
	if err != nil {
		c.lack("settings of the controller", err)
		return nil
	}
	out := []running{}
	for _, d := range list.Items {
		out = append(out, runningOf(d, c.scrub)...)
	}
	if len(out) == 0 {
		c.lack("settings of the controller", errors.New("no Deployment has the label app.kubernetes.io/name=karpenter"))
		return nil
	}
	return c.keep("settings.json", "settings of the controller: values of known settings, names of others", out)
}

func runningOf(d appsv1.Deployment, scrubbed bool) (out []running) {
	for _, container := range d.Spec.Template.Spec.Containers {
		r := running{Deployment: d.Namespace + "/" + d.Name, Replicas: d.Status.ReadyReplicas, Image: container.Image}
		if scrubbed { // of an image the name may be that of a company's registry
			r.Deployment, r.Image = "", container.Image[strings.LastIndexAny(container.Image, "/")+1:]
		}
		r.Env, r.Args = settings(container, scrubbed)
		out = append(out, r)
	}
	return out
}

// kinds collects the objects of which decisions are made, but for pods: these are in the decisions.
func (c *collecting) kinds(ctx context.Context) error {
	if c.scrub {
		c.lacks = append(c.lacks, "objects: they name too much; decisions have what counts of them")
		return nil
	}
	for _, r := range []schema.GroupVersionResource{
		{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
		{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
		{Group: "karpenter.sh", Version: "v1alpha1", Resource: "nodeoverlays"},
		{Group: "karpenter.sh", Version: "v1alpha5", Resource: "provisioners"},
		{Group: "karpenter.k8s.aws", Version: "v1", Resource: "ec2nodeclasses"},
		{Group: "karpenter.k8s.aws", Version: "v1alpha1", Resource: "awsnodetemplates"},
		{Version: "v1", Resource: "nodes"},
	} {
		list, err := c.objects.Resource(r).List(ctx, metav1.ListOptions{Limit: mostObjects})
		if apierrors.IsNotFound(err) {
			continue // the cluster does not have the kind
		}
		if err != nil {
			c.lack(r.Resource, err)
			continue
		}
		out := make([]map[string]any, 0, len(list.Items))
		for _, o := range list.Items {
			out = append(out, cleaned(o))
		}
		what := fmt.Sprintf("%d %s, without user data and the annotations of others", len(out), r.Resource)
		if list.GetContinue() != "" {
			what = "the first " + what
		}
		if err := c.keep("objects/"+r.Resource+".json", what, out); err != nil {
			return err
		}
	}
	return nil
}

func (c *collecting) events(ctx context.Context) error {
	if c.scrub {
		c.lacks = append(c.lacks, "events: their messages name too much")
		return nil
	}
	list, err := c.client.CoreV1().Events("").List(ctx, metav1.ListOptions{FieldSelector: "source=karpenter", Limit: mostObjects})
	if err != nil {
		c.lack("events", err)
		return nil
	}
	for i := range list.Items {
		list.Items[i].ManagedFields = nil
	}
	slices.SortFunc(list.Items, func(a, b corev1.Event) int { return a.LastTimestamp.Compare(b.LastTimestamp.Time) })
	return c.keep("events.json", amount.Count(len(list.Items), "event")+" of the controller", list.Items)
}

func (c *collecting) metrics(ctx context.Context) error {
	body, err := snapshot.Open(ctx, c.doors, "metrics", nil)
	if err != nil {
		c.lack("metrics", err)
		return nil
	}
	defer func() { _ = body.Close() }()
	data, err := io.ReadAll(io.LimitReader(body, mostMetrics))
	if err != nil {
		c.lack("metrics", err)
		return nil
	}
	what := "metrics of the controller"
	if c.scrub {
		data, what = []byte(scrubMetrics(string(data))), what+", without series that have names"
	}
	return c.keep("metrics.txt", what, data)
}

// decisions collects what the controller has kept: the latest first, for as long as there is room.
func (c *collecting) decisions(ctx context.Context) error {
	entries, err := c.journal(ctx)
	if err != nil {
		c.lack("decisions", err)
		return nil
	}
	names := &scrub.Names{Machines: true}
	kept, again, other := 0, 0, 0
	for i, e := range slices.Backward(entries) {
		if c.scrub {
			var same record.Again
			if e, same, err = record.Renamed(e, names); err != nil {
				c.lack(fmt.Sprintf("decision %d", i+1), err)
				continue
			}
			switch same {
			case record.Alike:
				again++
			case record.Otherwise:
				other++
			}
		}
		var b bytes.Buffer
		if err := e.Write(&b); err != nil {
			c.lack(fmt.Sprintf("decision %d", i+1), err)
			continue
		}
		err := c.file.add(fmt.Sprintf("decisions/%05d.json", i+1), b.Bytes())
		if errors.Is(err, errFull) {
			c.lack(fmt.Sprintf("the %d oldest decisions", i+1), err)
			break
		}
		if err != nil {
			return err
		}
		kept++
	}
	if kept == 0 {
		c.lack("decisions", errors.New("the controller has kept none that fits"))
		return nil
	}
	what := fmt.Sprintf("decisions/: the last %d decisions of the controller with all that they were made of, for tenon replay", kept)
	if c.scrub {
		what += fmt.Sprintf("; made again with other names. With their own names this release decides %d of them as the controller did, and %d otherwise", again, other)
	}
	c.has = append(c.has, what)
	return nil
}

// journal reads what the controller has kept, the oldest first; where it has kept nothing, what it would decide of now.
func (c *collecting) journal(ctx context.Context) ([]journal.Entry, error) {
	var out []journal.Entry
	read := func(path string) error {
		body, err := snapshot.Open(ctx, c.doors, path, nil)
		if err != nil {
			return err
		}
		defer func() { _ = body.Close() }()
		return journal.Read(body, func(e journal.Entry) error {
			out = append(out, e)
			return nil
		})
	}
	if err := read("journal"); err != nil {
		return nil, err
	}
	if len(out) > 0 {
		return out, nil
	}
	return out, read("now")
}
