// Package snapshot finds the World that a verb looks at: that of files, of a live cluster, or one that a controller kept.
//
// It only reads. A verb adds the flags of a Source, reads it, and makes the
// World of what was read, with the changes the user supposes, if any.
package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/disrupt/consolidate"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/aws/types"
	"github.com/tenon-sh/tenon/internal/catalog"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/clock"
	"github.com/tenon-sh/tenon/internal/observe"
)

// defaultRegion is the region where none is named and there are no nodes.
const defaultRegion = "us-east-1"

// manyDocuments is how many documents make a user wonder whether anything happens.
const manyDocuments = 50_000

// ignoreDevices is the flag that the controller has as well.
const ignoreDevices = "ignore-dra-requests"

// Source is where to read, as the user says it.
type Source struct {
	Files      []string // none: the cluster of the kubeconfig
	Catalog    string
	Region     string
	Kubeconfig string
	Context    string   // of the kubeconfig; empty: the current one
	Namespaces []string // asked about: a caller who may not list all pods sees the names of those in these
	Controller string   // NAMESPACE/SERVICE or a URL; empty: it is looked for
	NoDevices  bool     // pods with resource claims are refused; read where there are flags

	flags *pflag.FlagSet
}

// Flags adds the flags that choose a source.
func (s *Source) Flags(f *pflag.FlagSet) {
	s.flags = f
	f.StringSliceVarP(&s.Files, "filename", "f", nil, "file or folder of objects, or a world that a controller kept; - for standard input; may be repeated")
	f.StringVar(&s.Catalog, "catalog", "", "catalogue file (tenon-catalog/v1); default: the bundled EC2 catalogue of --region")
	f.StringVar(&s.Region, "region", "", "region of the bundled catalogue; default: that of the nodes, else "+defaultRegion)
	f.StringVar(&s.Kubeconfig, "kubeconfig", "", "kubeconfig of the cluster, when there is no -f")
	f.StringVar(&s.Context, "context", "", "context of the kubeconfig; default: the current one")
	f.StringVar(&s.Controller, "controller", "", "controller to ask, when there is no -f: its Service as NAMESPACE/NAME, or the URL of its pages; default: the chart's Service; none is asked where --catalog, --region or --ignore-dra-requests is given")
	f.BoolVar(&s.NoDevices, ignoreDevices, true, "whether pods with resource claims are refused with the reason; false: they are planned for, with the devices that ResourceSlices publish and NodePools state")
}

// Input is what was read and can be made a World.
type Input struct {
	Notes   []string // what was left out, and why
	Catalog string   // whose types and prices count, for people
	// Availability says what is not known of a live cluster because its controller did not answer, or that it did; empty for files.
	Availability string
	// Partly says what the controller did not tell by its name, because the caller may not read it.
	Partly string
	// Options are what the controller decides by; nil where it did not answer.
	Options *provision.Options
	// Moving is how much it wants saved for pods to be moved, likewise.
	Moving *consolidate.Options

	objects        []object
	devices        bool // they are planned for
	shapes         world.Catalog
	fromController *world.World // by the controller; nil if it did not answer
	// overlays lists the NodeOverlays that the controller decides by; nil if there is none to ask.
	overlays func() ([]observe.Overlay, error)
}

// Read reads the objects and the catalogue.
func (s *Source) Read(ctx context.Context, in io.Reader, progress io.Writer) (*Input, error) {
	var silent error // why the controller of a live cluster did not answer
	if err := errors.Join(checkController(s.Controller), s.undecided()); err != nil {
		return nil, err
	}
	if s.live() {
		config, err := s.connect()
		if err != nil {
			return nil, err
		}
		var out *Input
		if out, silent = s.ask(ctx, config); out != nil {
			return out, nil
		}
	}
	objects, err := s.objects(ctx, in, progress)
	if err != nil {
		if silent != nil {
			err = fmt.Errorf("%w; the cluster's objects were to be listed because %w", err, silent)
		}
		return nil, err
	}
	out := &Input{objects: objects, devices: s.allocates()}
	out.shapes, out.Catalog, err = s.shapes(regionOf(objects))
	if s.live() {
		out.Availability = fmt.Sprintf("prices and availability are those of the catalogue (%s), not the controller's: what is sold out, today's prices, reservations and the controller's settings are not known here, because %v;"+
			" the world of a decision, saved from the controller's pages (/decisions/ on its metrics port) and given with -f, has them as well", out.Catalog, silent)
	}
	return out, verb.BadInput(err)
}

// World reads what is to be looked at as it is now, and by what options the controller decides; those of none where it
// did not answer. What is not known then, or counts for nothing in what was given, is noted on notes.
func (s *Source) World(ctx context.Context, in io.Reader, notes io.Writer) (*world.World, provision.Options, error) {
	read, err := s.Read(ctx, in, notes)
	if err != nil {
		return nil, provision.Options{}, err
	}
	w, err := read.World(clock.Wall().Unix())
	if read.Partly != "" {
		fmt.Fprintf(notes, "note: %s\n", read.Partly)
	}
	if read.Options != nil {
		return w, *read.Options, verb.BadInput(err)
	}
	for _, n := range read.Notes {
		fmt.Fprintf(notes, "note: %s\n", n)
	}
	return w, provision.Options{}, verb.BadInput(err)
}

// undecided refuses flags of a cluster where files are looked at: one of the two would be passed over.
func (s *Source) undecided() error {
	if s.live() || s.flags == nil {
		return nil
	}
	for _, name := range []string{"kubeconfig", "context", "controller"} {
		if !s.flags.Changed(name) {
			continue
		}
		if s.flags.Lookup("add") != nil {
			return verb.BadInputf("-f has files looked at and --%s a cluster: leave one of them out, or say --add for what the cluster would be with these objects", name)
		}
		return verb.BadInputf("-f has files looked at and --%s a cluster: leave one of them out", name)
	}
	return nil
}

// live reports whether a cluster is looked at, and not files.
func (s *Source) live() bool {
	return len(s.Files) == 0 && (s.flags == nil || !s.flags.Changed("filename"))
}

// allocates reports whether pods with resource claims are planned for.
func (s *Source) allocates() bool { return s.flags != nil && !s.NoDevices }

// ask asks the controller of the cluster for what it decides by; where there is no answer it returns why.
func (s *Source) ask(ctx context.Context, config *rest.Config) (*Input, error) {
	if s.Catalog != "" || s.Region != "" {
		return nil, errors.New("--catalog or --region was given")
	}
	if s.flags != nil && s.flags.Changed(ignoreDevices) {
		return nil, errors.New("--" + ignoreDevices + " was given")
	}
	e, door, err := fromController(ctx, config, s.Controller, s.asked())
	if err != nil {
		return nil, fmt.Errorf("the controller could not be asked (%s)", strings.ReplaceAll(err.Error(), "\n", "; ")) // each way to it has failed, on a line of its own
	}
	from := door.Name
	out := &Input{fromController: e.World, Options: &e.Options.Provision, Moving: &e.Options.Disrupt.Consolidate, Catalog: "controller " + from}
	out.overlays = func() ([]observe.Overlay, error) { return overlays(ctx, config) }
	out.Availability = fmt.Sprintf("Decided as the controller %s would now: by its prices, what it knows to be sold out, reservations and its settings.", from)
	if hidden := Hidden(e.World); hidden > 0 {
		out.Partly = fmt.Sprintf("you may not list the pods of all namespaces: those of %s are there under other names, such as hidden_1/pod_1", amount.Count(hidden, "namespace"))
		out.Availability += " But " + out.Partly + "."
	}
	region := defaultRegion
	for _, p := range e.World.Places() {
		if r := p.Labels()[label.Region]; r != "" {
			region = r
			break
		}
	}
	if out.shapes, _, err = s.shapes(region); err != nil { // only for pools that are supposed
		out.shapes, _, err = s.shapes(defaultRegion)
	}
	return out, err
}

// asked are the namespaces that are asked about.
func (s *Source) asked() []string {
	if len(s.Namespaces) > 0 {
		return s.Namespaces
	}
	return []string{verb.Cluster{Kubeconfig: s.Kubeconfig, Context: s.Context}.Namespace()}
}

// Hidden counts the namespaces of which a controller told pods under other names.
func Hidden(w *world.World) int {
	n := map[string]bool{}
	for _, p := range w.Pods() {
		if strings.HasPrefix(p.Namespace, "hidden_") { // no namespace can be called so
			n[p.Namespace] = true
		}
	}
	return len(n)
}

// Name says where it was read from.
func (s *Source) Name() string { return strings.Join(s.Files, ",") }

func (s *Source) objects(ctx context.Context, in io.Reader, progress io.Writer) ([]object, error) {
	if len(s.Files) == 0 && s.flags != nil && s.flags.Changed("filename") {
		return nil, verb.BadInputf("-f names no file; without -f it would be the cluster of the kubeconfig that is looked at")
	}
	if len(s.Files) == 0 {
		config, err := s.connect()
		if err != nil {
			return nil, err
		}
		return live(ctx, config, s.allocates(), progress)
	}
	objects, err := objectsOf(s.Files, in, progress)
	return objects, verb.BadInput(err)
}

// objectsOf reads the objects of files.
func objectsOf(files []string, in io.Reader, progress io.Writer) ([]object, error) {
	docs, err := documents(files, in)
	if err != nil {
		return nil, err
	}
	if len(docs) > manyDocuments {
		fmt.Fprintf(progress, "reading %d documents\n", len(docs))
	}
	return decodeAll(docs)
}

// World makes the World of what was read, as of at.
func (i *Input) World(at int64) (*world.World, error) {
	kept, err := i.kept()
	if i.fromController != nil && i.Availability != "" {
		i.Notes = []string{i.Availability}
	}
	if kept != nil || err != nil {
		return kept, err
	}
	var d *devices
	if i.devices {
		d = newDevices()
	}
	in, err := load(world.NewBuilder(), i.objects, d)
	if err == nil {
		err = in.imply(nil)
	}
	if err == nil {
		err = in.sell(i.shapes)
	}
	if err != nil {
		return nil, err
	}
	i.Notes = in.notes
	if i.Availability != "" {
		i.Notes = append([]string{i.Availability}, i.Notes...)
	}
	return in.builder.Snapshot(at), nil
}

// kept returns the World that is among the objects, or that the controller told; nil if there is none.
func (i *Input) kept() (*world.World, error) {
	if i.fromController != nil {
		return i.fromController, nil
	}
	for _, o := range i.objects {
		data, ok := o.v.(replay)
		if !ok {
			continue
		}
		if n := i.worlds(); n > 1 {
			return nil, fmt.Errorf("%s: it is the first of %d kept worlds, and one is asked about at a time; tenon replay makes all decisions of a journal again", o.from.where(), n)
		}
		if len(i.objects) > 1 {
			return nil, fmt.Errorf("%s: a kept world is decided about alone, without other objects", o.from.where())
		}
		w, err := world.Read(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.from.where(), err)
		}
		return w, nil
	}
	return nil, nil
}

// worlds counts the kept worlds among the objects.
func (i *Input) worlds() int {
	n := 0
	for _, o := range i.objects {
		if _, ok := o.v.(replay); ok {
			n++
		}
	}
	return n
}

// shapes reads the catalogue the user named, or the bundled one, and what it is called.
func (s *Source) shapes(region string) (world.Catalog, string, error) {
	if s.Catalog != "" {
		c, err := readCatalog(s.Catalog, template)
		return c, s.Catalog, err
	}
	name := s.Region
	if name == "" {
		name = region
	}
	all, err := catalog.Load()
	if err != nil {
		return world.Catalog{}, "", err
	}
	sold, err := all.Region(name)
	if err != nil {
		return world.Catalog{}, "", fmt.Errorf("--region: %w", err)
	}
	c := types.Bundled(sold, types.Default(name))
	c.Template = template
	closeLabels(c.Shapes)
	return c, "bundled " + name, nil
}

// regionOf is the region of the first node that names one, or home.
func regionOf(objects []object) string {
	for _, o := range objects {
		if n, ok := o.v.(*corev1.Node); ok && n.Labels[label.Region] != "" {
			return n.Labels[label.Region]
		}
	}
	return defaultRegion
}
