package convert

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
)

// conversion rewrites the objects of a cluster.
type conversion struct {
	failing   string                                                              // what is said of objects that stand in the way
	to        string                                                              // the version that they are written in
	node      func(*unstructured.Unstructured) (*unstructured.Unstructured, bool) // what becomes of a node, and whether that is anything
	closed    func(kind) bool                                                     // whether nothing of a kind can be stored otherwise any more
	api       dynamic.Interface
	discovery discovery.ServerResourcesInterface
	now       clock.Now
	out       io.Writer
	path      string // of the backup
	dryRun    bool
	settle    time.Duration

	crds   map[kind]*unstructured.Unstructured // as they are
	before map[kind]*unstructured.Unstructured // as they were before this run opened them
	found  stored
	plan   planned
	backup *backup
}

// inCluster is what the flags say of objects in a cluster.
type inCluster struct {
	asked, dryRun bool
	cluster       verb.Cluster
	backup        string
	settle        time.Duration
	restore       string // a backup that is to be put back
	overwrite     bool
}

func (i *inCluster) flags(f *pflag.FlagSet) {
	f.BoolVar(&i.asked, "cluster", false, "rewrite what the cluster stores as v1beta1")
	f.StringVar(&i.backup, "backup", "v1beta1-backup.yaml", "with --cluster, file for what was there before; one that exists is not written over")
	f.StringVar(&i.restore, "restore", "", "with --cluster, put back what this backup has: objects are v1beta1 again, and definitions as they were; --backup is then v1-backup.yaml by default")
	f.BoolVar(&i.overwrite, "overwrite", false, "with --restore, put back also what was changed since the conversion: the changes are lost")
	f.BoolVar(&i.dryRun, "dry-run", false, "with --cluster, say what would be done, and change nothing")
	f.DurationVar(&i.settle, "settle", 10*time.Second, "with --cluster, how long to wait before objects are written, and once more before definitions are closed, for API servers and the garbage collector, which may not have heard yet")
	f.StringVar(&i.cluster.Kubeconfig, "kubeconfig", "", "with --cluster, kubeconfig to use; empty: the usual one")
	f.StringVar(&i.cluster.Context, "context", "", "with --cluster, context of the kubeconfig; empty: the current one")
}

// misused refuses flags that do not go together.
func (i *inCluster) misused(f *pflag.FlagSet, files []string) error {
	switch {
	case i.asked && (len(files) > 0 || f.Changed("instance-profile") || f.Changed("role")):
		return verb.BadInputf("--cluster converts what the cluster stores: -f, --instance-profile and --role are for files, leave them out")
	case i.overwrite && i.restore == "":
		return verb.BadInputf("--overwrite goes with --restore, which is missing")
	case f.Changed("restore") && i.restore == "":
		return verb.BadInputf("--restore names no file: name the backup that the conversion wrote")
	case i.asked && i.settle < 0:
		return verb.BadInputf("--settle is %s: say how long to wait, such as 10s, or 0", i.settle)
	case i.asked:
		return nil
	case i.restore != "" || f.Changed("backup") || f.Changed("dry-run") || f.Changed("settle") || f.Changed("kubeconfig") || f.Changed("context"):
		return verb.BadInputf("--backup, --restore, --dry-run, --settle, --kubeconfig and --context go with --cluster, which is missing; files are only read")
	case len(files) == 0:
		return verb.BadInputf("what is to be converted: name a file with -f, or - for standard input, or --cluster for what a cluster stores")
	}
	return nil
}

// convert is the verb with --cluster.
func (i *inCluster) convert(ctx context.Context, f *pflag.FlagSet, out io.Writer) error {
	if i.restore != "" && !f.Changed("backup") {
		i.backup = "v1-backup.yaml"
	}
	config, err := i.cluster.Connect(", or files with -f")
	if err != nil {
		return err
	}
	const perSecond = 50 // a cluster of a thousand nodes is done in minutes
	config.QPS, config.Burst = perSecond, 2*perSecond
	api, err := dynamic.NewForConfig(config)
	if err != nil {
		return verb.BadInput(err)
	}
	names, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return verb.BadInput(err)
	}
	c := &conversion{
		to: latest, node: renewedNode, failing: "cannot be converted", api: api, discovery: names, now: clock.Wall, out: out, path: i.backup, dryRun: i.dryRun, settle: i.settle,
		crds: map[kind]*unstructured.Unstructured{}, before: map[kind]*unstructured.Unstructured{},
	}
	c.closed = func(k kind) bool { return !old(c.crds[k]) }
	if i.restore != "" {
		return restore(ctx, c, i.restore, i.overwrite)
	}
	return c.run(ctx)
}

func (c *conversion) say(format string, args ...any) { fmt.Fprintf(c.out, format+"\n", args...) }

// run looks, refuses what cannot be, and then writes. Whatever ends it in between, the next run goes on from there.
func (c *conversion) run(ctx context.Context) error {
	if err := c.look(ctx); err != nil {
		return err
	}
	if !slices.ContainsFunc(kinds(), func(k kind) bool { return old(c.crds[k]) }) {
		c.say("nothing to do: no kind has objects of %s", beta)
		return nil
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	whole := true
	for _, k := range kinds() {
		_, ok := readable(c.crds[k])
		whole = whole && ok
	}
	if whole || c.dryRun {
		if err := c.think(ctx); err != nil {
			return err
		}
	}
	if c.dryRun {
		return c.preview()
	}
	if err := c.save(whole); err != nil {
		return err
	}
	if err := c.open(ctx); err != nil {
		return c.undo(ctx, err)
	}
	if !whole {
		if err := c.think(ctx); err != nil {
			return c.undo(ctx, err)
		}
		if err := c.save(true); err != nil {
			return c.undo(ctx, err)
		}
	}
	if err := c.check(ctx); err != nil {
		return c.undo(ctx, err)
	}
	if err := c.await(ctx); err != nil {
		return c.undo(ctx, err)
	}
	if err := c.write(ctx); err != nil {
		return fmt.Errorf("%w; what is written is whole: run the same command again, and it goes on", err)
	}
	return nil
}

// await gives every API server the time to hear that the version is served. One that has not answers that a pool is not found under it, and the garbage
// collector, which asks one of them, deletes the claims that name it as their owner.
func (c *conversion) await(ctx context.Context) error {
	return c.pause(ctx, "all API servers to serve "+c.to)
}

// forget gives the garbage collector the time to see that nothing names the version any more that is to be closed. It asks for the owner that it has
// read, and one that it has not found it takes for gone until it is restarted: what names that version ever again it deletes.
func (c *conversion) forget(ctx context.Context) error {
	return c.pause(ctx, "the garbage collector to see the owners that were written")
}

// pause waits where there is something that the garbage collector could delete.
func (c *conversion) pause(ctx context.Context, what string) error {
	if c.settle == 0 || len(c.found.claims) == 0 {
		return nil
	}
	c.say("waiting %s for %s", c.settle, what)
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.settle):
		return nil
	}
}

// look reads the definitions.
func (c *conversion) look(ctx context.Context) error {
	for _, k := range kinds() {
		crd, err := c.api.Resource(definitions()).Get(ctx, k.definition(), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return fmt.Errorf("the cluster has no %s, so no Karpenter of v0.32 to v0.37 has run in it: nothing to convert", k.definition())
		}
		if err != nil {
			return fmt.Errorf("read the definition of %s: %w; %s", k.definition(), err, verb.Remedy(err))
		}
		c.crds[k] = crd
		for _, v := range storedIn(crd) {
			if v != beta && v != latest {
				return fmt.Errorf("%s has objects stored as %s, which is not known here: only %s is converted", k.definition(), v, beta)
			}
		}
	}
	return nil
}

// identity tells the cluster from others.
func (c *conversion) identity(ctx context.Context) (string, error) {
	space, err := c.api.Resource(core("namespaces")).Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", fmt.Errorf("find out which cluster it is: %w", err)
	}
	return string(space.GetUID()), nil
}

// ready refuses while something is in the way, or a right is missing. What a dry run finds in the way it only says.
func (c *conversion) ready(ctx context.Context, more ...right) error {
	id, err := c.identity(ctx)
	if err == nil {
		c.backup, err = readBackup(c.path, id)
	}
	err = errors.Join(allowed(ctx, c.api, more...), quiet(ctx, c.api, c.now), unguarded(ctx, c.api), err)
	if err == nil || c.dryRun {
		if err != nil {
			c.say("it would be refused now:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
		}
		return nil
	}
	return fmt.Errorf("nothing was changed, because of what is in the way:\n  %s", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

// think reads all objects and plans what becomes of them.
func (c *conversion) think(ctx context.Context) error {
	err := c.find(ctx, func(k kind) (string, bool) { return readable(c.crds[k]) })
	if err != nil {
		return err
	}
	c.plan = planOf(c.found, c.now())
	for _, n := range c.plan.notes {
		if !n.Fatal {
			c.say("# %s", n)
		}
	}
	return c.refusal(c.plan.refused())
}

// find reads all objects, each kind in the version that shows what is stored, if there is one.
func (c *conversion) find(ctx context.Context, shown func(kind) (string, bool)) error {
	into := map[kind]*[]unstructured.Unstructured{classKind(): &c.found.classes, poolKind(): &c.found.pools, claimKind(): &c.found.claims}
	for _, k := range kinds() {
		version, ok := shown(k)
		if !ok {
			version = beta
		}
		list, err := c.api.Resource(k.at(version)).List(ctx, metav1.ListOptions{})
		if err != nil && !ok {
			return fmt.Errorf("list %s: %w: they are stored in two versions, and the webhook that converts them is not there; a dry run can be had while Karpenter runs", k.plural, err)
		}
		if err != nil {
			return fmt.Errorf("list %s: %w; %s", k.plural, err, verb.Remedy(err))
		}
		*into[k] = list.Items
	}
	list, err := c.api.Resource(core("nodes")).List(ctx, metav1.ListOptions{})
	if err != nil {
		return fmt.Errorf("list nodes: %w; %s", err, verb.Remedy(err))
	}
	c.found.nodes = list.Items
	return nil
}

// refusal names every object that stands in the way, and what is to be done with it.
func (c *conversion) refusal(all []Note) error {
	if len(all) == 0 {
		return nil
	}
	var b strings.Builder
	for _, n := range all {
		fmt.Fprintf(&b, "\n  %s", n)
	}
	return fmt.Errorf("no object was changed, because these %s; change them and run the command again:%s", c.failing, b.String())
}

// preview says what would be done.
func (c *conversion) preview() error {
	c.say("back up to %s: %d definitions, %s", c.path, len(kinds()), c.plan.sum(c.found))
	for _, k := range kinds() {
		if old(c.crds[k]) {
			c.say("open    %s: no webhook, every version shows what is stored", k.definition())
		}
	}
	for _, ch := range c.plan.changes {
		switch {
		case ch.isNew:
			c.say("create  %s", ch)
		case ch.moved:
			c.say("write   %s as %s", ch, latest)
		default:
			c.say("write   %s as %s: it says the same", ch, latest)
		}
	}
	for _, n := range c.plan.nodes {
		c.say("write   Node/%s: its owner references", n.GetName())
	}
	for _, k := range kinds() {
		if old(c.crds[k]) {
			c.say("close   %s: %s only, and this release's definition", k.definition(), latest)
		}
	}
	c.say("nothing was changed (dry run)")
	return nil
}

// save writes the backup: of the definitions alone as long as objects cannot be read.
func (c *conversion) save(objects bool) error {
	var all []*unstructured.Unstructured
	for _, k := range kinds() {
		crd := c.crds[k]
		if b := c.before[k]; b != nil {
			crd = b
		}
		if !open(crd) && !reopened(crd) {
			all = append(all, crd)
		}
	}
	if objects {
		were := map[string]*unstructured.Unstructured{}
		for _, list := range [][]unstructured.Unstructured{c.found.classes, c.found.pools, c.found.claims} {
			for i := range list {
				all = append(all, &list[i])
				were[string(list[i].GetUID())] = &list[i]
			}
		}
		if others := c.backup.changed(c.plan.changes, were); len(others) > 0 {
			return verb.BadInputf("%s is a backup of another state, in which %s said something else: it is not written over, name another file with --backup", c.path, strings.Join(others, ", "))
		}
		for i := range c.plan.nodes {
			at := slices.IndexFunc(c.found.nodes, func(n unstructured.Unstructured) bool { return n.GetUID() == c.plan.nodes[i].GetUID() })
			all = append(all, partOfNode(&c.found.nodes[at]))
		}
	}
	if err := c.backup.add(all...); err != nil {
		return err
	}
	if objects {
		c.say("backed up to %s: %d definitions, %s", c.path, len(kinds()), c.plan.sum(c.found))
	}
	return nil
}
