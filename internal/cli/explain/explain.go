// Package explain is the verb that answers why: why a pod waits and where it will run, why a node is there and what keeps it.
package explain

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/provision"
	"github.com/tenon-sh/tenon/engine/suppose"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
)

// wide is the text form that names every pod.
const wide = "wide"

// options are the flags.
type options struct {
	source    snapshot.Source
	namespace string
	story     bool
	decisions []string
	format    *verb.Format
}

// Command is the verb.
func Command() *cobra.Command {
	o := options{}
	cmd := &cobra.Command{
		Use:   "explain pod|pods|node|nodes|nodeclaim|nodepool [NAME]",
		Short: "Say why a pod waits, why a node is there, what a pool may buy",
		Long: `Explain answers a question about one pod, node, claim or pool, with the same
decisions that the controller makes. It changes nothing.

  pod NAME        where it runs or will, or what every node and pool has against it
  pods            one line for each pod that waits
  nodes           one line for each node: what it costs, how full it is, what keeps it,
                  whether its pods would fit on the others
  node NAME       what it was bought for, what runs there, what keeps it from being
                  given back, and what would happen if it went
  nodeclaim NAME  the same, by the name of the claim
  nodepool NAME   limits, budgets, what it may buy; a Provisioner answers here too

It looks at the cluster of the current kubeconfig, or with -f at files, or at a
world that the controller kept.

With --history it tells a pod's whole story instead: when it was made, waited,
ran and moved, what was decided about it and why, how its machine came, and the
events of both, as far as the controller and the cluster have kept them, or as
recordings and journals have that are named with --decisions.`,
		Example: `  tenon explain pod web-7d4b9c-x2x4z -n shop
  tenon explain pods
  tenon explain node ip-10-0-1-12.ec2.internal
  tenon explain nodepool general -f manifests/ -o json
  tenon explain pod web-7d4b9c-x2x4z -n shop --history
  tenon explain pod web-7d4b9c-x2x4z -n shop --history --decisions monday.rec`,
		Args: arguments,
		RunE: o.run,
	}
	o.source.Flags(cmd.Flags())
	cmd.Flags().StringVarP(&o.namespace, "namespace", "n", "", "namespace of the pod, or of the pods; default: default, or all")
	cmd.Flags().BoolVar(&o.story, "history", false, "show what happened to the pod, and why")
	cmd.Flags().StringArrayVar(&o.decisions, "decisions", nil, "recording, journal or folder of decisions to read the history from, instead of the cluster; may be given several times, in the order of time")
	o.format = verb.FormatFlag(cmd, verb.Text, verb.JSON, wide)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"pod", "pods", "node", "nodes", "nodeclaim", "nodepool"}, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// kinds are what can be asked about, by what people call it.
func kinds() map[string]string {
	return map[string]string{
		"pod": "pod", "po": "pod", "pods": "pods", "node": "node", "no": "node", "nodes": "nodes",
		"nodeclaim": "node", "claim": "node", "nodeclaims": "node", "nodepool": "pool", "pool": "pool", "nodepools": "pool", "provisioner": "provisioner",
	}
}

// question is what is asked about.
type question struct{ kind, name string }

// ask reads the arguments: pod NAME, pod/NAME, or pods.
func ask(args []string) (question, error) {
	if len(args) == 1 {
		args = strings.SplitN(args[0], "/", 2)
	}
	var q question
	if len(args) > 0 {
		q.kind = kinds()[strings.ToLower(args[0])]
	}
	if len(args) > 1 {
		q.name = args[1]
	}
	switch {
	case len(args) == 0:
		return q, fmt.Errorf("name what to explain: pod NAME, pods, node NAME, nodes, nodeclaim NAME or nodepool NAME")
	case len(args) > 2:
		return q, fmt.Errorf("explain takes a kind and a name and got %q as well", args[2])
	case q.kind == "":
		return q, fmt.Errorf("there is nothing to say about a %q: ask about a pod, pods, node, nodes, nodeclaim or nodepool", args[0])
	case q.name != "":
		q.kind = strings.TrimSuffix(q.kind, "s")
	case q.kind != "pods" && q.kind != "nodes":
		return q, fmt.Errorf("which %s? Give its name", args[0])
	}
	return q, nil
}

func arguments(_ *cobra.Command, args []string) error {
	_, err := ask(args)
	return err
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	q, err := ask(args)
	if err != nil {
		return verb.BadInput(err)
	}
	switch {
	case len(o.decisions) > 0 && !o.story:
		return verb.BadInputf("--decisions is for a history: say --history as well")
	case o.story && q.kind != "pod":
		return verb.BadInputf("--history is of a pod: name one, as in tenon explain pod NAME --history")
	case o.story && len(o.source.Files) > 0:
		return verb.BadInputf("--history reads decisions: name their files with --decisions, not -f")
	case o.story:
		return o.history(cmd, q)
	}
	if o.namespace != "" {
		o.source.Namespaces = []string{o.namespace}
	}
	w, decides, err := o.source.World(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	a, err := o.answer(w, decides, q)
	if err != nil {
		return err
	}
	if o.format.Is(verb.JSON) {
		a.Format, a.Digest, a.At = explain.Format, w.Digest(), w.At()
		return verb.WriteJSON(cmd.OutOrStdout(), a)
	}
	return a.print(cmd.OutOrStdout(), o.format.Is(wide))
}

// answer is one answer as programs read it.
type answer struct {
	Format string        `json:"format"`
	Digest string        `json:"digest"` // of the World that was asked about
	At     int64         `json:"at"`
	Pod    *explain.Pod  `json:"pod,omitempty"`
	Pods   []explain.Pod `json:"pods,omitempty"`
	Nodes  []explain.Row `json:"nodes,omitempty"`
	Node   *explain.Node `json:"node,omitempty"`
	Pool   *explain.Pool `json:"nodePool,omitempty"`

	History []Moment `json:"history,omitempty"`

	listed bool
}

// answer asks the question about w, of which is decided by those options.
func (o *options) answer(w *world.World, decides provision.Options, q question) (answer, error) {
	e := explain.New(w, decides)
	switch q.kind {
	case "pods":
		if err := o.inNamespace(w); err != nil {
			return answer{}, err
		}
		a := answer{Pods: []explain.Pod{}, listed: true}
		for _, p := range e.Pods() {
			if o.namespace == "" || p.Namespace == o.namespace {
				a.Pods = append(a.Pods, p)
			}
		}
		return a, nil
	case "nodes":
		return answer{Nodes: e.Nodes()}, nil
	case "pod":
		key, err := o.pod(q.name)
		if err != nil {
			return answer{}, err
		}
		p, ok := e.Pod(key)
		if !ok {
			return answer{}, noPod(w, key)
		}
		return answer{Pod: &p}, nil
	case "node":
		n, ok := e.Node(q.name)
		if !ok {
			err := suppose.Missing(w, q.name)
			if !strings.HasSuffix(err.Error(), "?") {
				err = fmt.Errorf("%w; `tenon explain nodes` lists those there are", err)
			}
			return answer{}, err
		}
		return answer{Node: &n}, nil
	}
	ids := e.FindPools(q.name) // NodePools first
	if q.kind == "provisioner" {
		slices.Reverse(ids)
	}
	if len(ids) == 0 {
		return answer{}, fmt.Errorf("there is no pool %q%s", q.name, known(w, q.name))
	}
	p, _ := e.Pool(ids[0])
	return answer{Pool: &p}, nil
}

// pod is the key of the pod that is asked about.
func (o *options) pod(name string) (world.Key, error) {
	namespace, short, both := strings.Cut(name, "/") // as it is printed everywhere
	switch {
	case !both:
		return world.Key{Namespace: cmp.Or(o.namespace, "default"), Name: name}, nil
	case o.namespace != "" && o.namespace != namespace:
		return world.Key{}, verb.BadInputf("%s is not of the namespace %s that -n names: leave one of them out", name, o.namespace)
	}
	return world.Key{Namespace: namespace, Name: short}, nil
}

// inNamespace is an error where -n names a namespace that is not there, so that a slip does not look like a cluster without waiting pods.
func (o *options) inNamespace(w *world.World) error {
	names := []string{"default"} // is in every cluster, and files need not say so
	for _, n := range w.Namespaces() {
		names = append(names, n.Name)
	}
	for _, p := range w.Pods() {
		names = append(names, p.Namespace)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if o.namespace == "" || slices.Contains(names, o.namespace) {
		return nil
	}
	if snapshot.Hidden(w) > 0 {
		return fmt.Errorf("there is no namespace %q among those whose pods you may list: kubectl auth can-i list pods -n %s", o.namespace, o.namespace)
	}
	return fmt.Errorf("there is no namespace %q%s", o.namespace, orMeant(o.namespace, names, ": there is "+plan.Some(names, false)))
}

// noPod says why nothing is known of a pod. One of a DaemonSet that waits may well be there.
func noPod(w *world.World, key world.Key) error {
	for _, d := range w.DaemonSets() {
		if rest, ours := strings.CutPrefix(key.Name, d.Name+"-"); ours && d.Namespace == key.Namespace && !strings.Contains(rest, "-") {
			return fmt.Errorf("pod %s is on no node: if it is there, DaemonSet %s made it for a single one, and no other is bought for it; `kubectl describe pod -n %s %s` names that node and says what it lacks", key, d.Name, key.Namespace, key.Name)
		}
	}
	return fmt.Errorf("there is no pod %s%s", key, likePod(w, key))
}

// likePod names pods that may be meant: those of that name in other namespaces, or else one whose name is almost that.
func likePod(w *world.World, key world.Key) string {
	var like []string
	for _, p := range w.Pods() {
		if p.Name == key.Name {
			like = append(like, p.Namespace)
		}
	}
	if len(like) == 0 && snapshot.Hidden(w) > 0 && !slices.ContainsFunc(w.Pods(), func(p *world.Pod) bool { return p.Namespace == key.Namespace }) {
		return fmt.Sprintf(" among those whose names you may read; kubectl auth can-i list pods -n %s says whether its namespace is one of them", key.Namespace)
	}
	if len(like) == 0 {
		var names []string
		for _, p := range w.Pods() {
			names = append(names, p.Key.String())
		}
		return orMeant(key.String(), names, "; `tenon explain pods` lists those that wait, kubectl get pods all")
	}
	return "; one of that name is in namespace " + strings.Join(like, ", ") + ": say -n"
}

// orMeant is the name that may be meant, or else where names are to be found.
func orMeant(name string, names []string, lists string) string {
	if like := label.Meant(name, names); like != "" {
		return ": did you mean " + like + "?"
	}
	return lists
}

// known names the pool that may be meant, or else those there are.
func known(w *world.World, name string) string {
	var names []string
	for _, p := range w.Pools() {
		names = append(names, p.ID.Name)
	}
	if len(names) == 0 {
		return ": there is none at all"
	}
	names = slices.Compact(names)
	return orMeant(name, names, ": there is "+plan.Some(names, false))
}

// print writes the answer for a person.
func (a answer) print(out io.Writer, wide bool) error {
	text := ""
	switch {
	case a.listed && len(a.Pods) == 0:
		text = "No pod is waiting.\n"
	case a.listed:
		width := 0
		for _, p := range a.Pods {
			width = max(width, len(p.Namespace)+1+len(p.Name))
		}
		for _, p := range a.Pods {
			text += fmt.Sprintf("%-*s  %s\n", width, p.Namespace+"/"+p.Name, p.Line())
		}
	case a.Pod != nil:
		text = a.Pod.Text()
	case a.Nodes != nil:
		text = explain.RowsText(a.Nodes)
	case a.Node != nil:
		text = a.Node.Text(wide)
	case a.Pool != nil:
		text = a.Pool.Text()
	}
	_, err := io.WriteString(out, text)
	return err
}
