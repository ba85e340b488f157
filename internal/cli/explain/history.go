package explain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/cli/page"
	"github.com/tenon-sh/tenon/internal/cli/snapshot"
	"github.com/tenon-sh/tenon/internal/cli/verb"
	"github.com/tenon-sh/tenon/internal/journal"
	"github.com/tenon-sh/tenon/internal/record"
)

// The sources of a pod's history.
const (
	ofPod      = "pod"
	ofClaim    = "claim"
	ofDecision = "decision"
	ofEvent    = "event"
)

// Moment is something that happened to a pod, or to the machine that it ran on.
type Moment struct {
	At   int64  `json:"at"`
	Of   string `json:"of"` // pod, claim, decision or event
	What string `json:"what"`

	order int // among those of a second
}

// story is what is known of one pod. Pods of the same name one after the other, as a StatefulSet has them, are one story.
type story struct {
	key     world.Key
	moments []Moment
	shown   map[string]bool   // what does not change and was shown
	last    map[string]string // what was shown last, by what it is about
	claims  map[string]bool   // that it was on
	entries int
}

func newStory(key world.Key) *story {
	return &story{key: key, shown: map[string]bool{}, last: map[string]string{}, claims: map[string]bool{}}
}

func (s *story) add(at int64, of, format string, args ...any) {
	s.moments = append(s.moments, Moment{At: at, Of: of, What: fmt.Sprintf(format, args...), order: len(s.moments)})
}

// once adds what is the same whenever it is seen.
func (s *story) once(at int64, of, what string) {
	if at > 0 && !s.shown[of+what] {
		s.shown[of+what] = true
		s.add(at, of, "%s", what)
	}
}

// changed adds what is otherwise than when it was shown last.
func (s *story) changed(at int64, of, about, what string) {
	if s.last[about] != what {
		s.last[about] = what
		if what != "" {
			s.add(at, of, "%s", what)
		}
	}
}

// take takes over a decision and the World that it was made of, the oldest first.
func (s *story) take(e journal.Entry) {
	s.entries++
	w, at := e.World, e.World.At()
	p := w.Pod(s.key)
	if p == nil {
		s.changed(at, ofPod, "there", map[bool]string{true: "it is gone"}[s.last["there"] == "there"])
		return
	}
	s.last["there"] = "there"
	s.once(p.Created, ofPod, "it was made (uid "+p.UID+")")
	if p.Node == "" && p.Waiting {
		s.changed(at, ofPod, "waits", "it waits: kube-scheduler found no place for it")
	} else if p.Node != "" {
		s.last["waits"] = ""
		s.changed(at, ofPod, "node", "it is seen on node "+p.Node)
		s.once(p.Started, ofPod, "it started ("+p.UID+")")
	}
	s.plan(e)
	s.machine(w, at, p)
}

// plan adds what a decision says of the pod.
func (s *story) plan(e journal.Entry) {
	at := e.World.At()
	by := map[bool]string{true: ", by a shadow"}[e.Shadow]
	has := func(pods []world.Key) bool { return slices.Contains(pods, s.key) }
	what := ""
	for _, a := range e.Plan.New {
		if has(a.Pods) {
			what = fmt.Sprintf("a node is bought for it and %d others: %s in %s, %s, of pool %s, %s%s", len(a.Pods)-1, a.Shape, a.Zone, a.CapacityType, a.Pool.Name, a.Price.PerHour(e.Plan.Currency), by)
		}
	}
	for _, f := range slices.Concat(e.Plan.Filled, e.Plan.Held) {
		if has(f.Pods) {
			what = "it is to run on " + cmp.Or(f.Node, "the machine of claim "+f.Claim) + by
		}
	}
	for _, r := range e.Plan.Refused {
		if r.Pod == s.key {
			what = "it finds no place: " + line(r.Why) + by
		}
	}
	if e.Kind == journal.Buy {
		s.changed(at, ofDecision, "placed", what)
	}
	for _, c := range e.Plan.Commands {
		for _, m := range c.Moves {
			if has(m.Pods) {
				s.changed(at, ofDecision, "moved", fmt.Sprintf("it is to move to %s, since %s is given back (%s)%s", cmp.Or(m.Node, m.Claim), strings.Join(c.Nodes(), ", "), c.Reason, by))
			}
		}
		for _, a := range c.New {
			if has(a.Pods) {
				s.changed(at, ofDecision, "moved", fmt.Sprintf("it is to move to a new %s in %s, since %s is given back (%s)%s", a.Shape, a.Zone, strings.Join(c.Nodes(), ", "), c.Reason, by))
			}
		}
	}
}

// line is a refusal on one line.
func line(w *reason.Why) string {
	if w == nil {
		return "no reason is kept"
	}
	return w.Line()
}

// machine adds how the machine stands that the pod is on, or on its way to.
func (s *story) machine(w *world.World, at int64, p *world.Pod) {
	place := w.Place(cmp.Or(p.Node, p.Planned, p.Nominated))
	if place == nil || place.Claim == nil {
		return
	}
	c := place.Claim
	s.claims[c.Name] = true
	of := func(what string) string { return "claim " + c.Name + " " + what }
	s.once(c.Created, ofClaim, of("was made in pool "+c.Pool.Name))
	for _, stage := range []struct {
		is   bool
		what string
	}{{c.Launched, "is launched"}, {c.Registered, "is registered as node " + c.Node}, {c.Initialized, "is initialized"}, {c.Deleting, "is deleted"}} {
		since := at
		switch done := c.InitializedAt > 0 && c.InitializedAt < at; {
		case !stage.is:
			continue
		case stage.what == "is initialized" && done:
			since = c.InitializedAt
		case stage.what != "is deleted" && done: // when it was is not known any more
			continue
		}
		s.once(since, ofClaim, of(stage.what))
	}
}

// history writes a pod's story by decisions that were kept, and by the events and claims of the cluster.
func (o *options) history(cmd *cobra.Command, q question) error {
	key, err := o.pod(q.name)
	if err != nil {
		return err
	}
	s := newStory(key)
	each := func(e journal.Entry) error { s.take(e); return nil }
	for _, from := range o.decisions {
		if err := snapshot.Decisions(cmd.Context(), from, cmd.InOrStdin(), each); err != nil && !record.IsDamage(err) {
			return verb.BadInput(err)
		} else if err != nil {
			cmd.PrintErrf("note: %v\n", err)
		}
	}
	if len(o.decisions) == 0 {
		if err := o.live(cmd, s, each); err != nil {
			return err
		}
	}
	if len(s.moments) == 0 {
		return fmt.Errorf("nothing is kept of pod %s: %d decisions do not know it, and there is no event about it; a recording (tenon record) or --journal-dir keeps more, to be named with --decisions", key, s.entries)
	}
	slices.SortStableFunc(s.moments, func(a, b Moment) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.order, b.order)) })
	if o.format.Is(verb.JSON) {
		return verb.WriteJSON(cmd.OutOrStdout(), answer{Format: explain.Format, History: s.moments})
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Pod %s\n", key)
	for _, m := range s.moments {
		fmt.Fprintf(&b, "  %s  %-8s  %s\n", time.Unix(m.At, 0).UTC().Format(time.DateTime), m.Of, strings.ReplaceAll(m.What, "\n", " "))
	}
	_, err = cmd.OutOrStdout().Write([]byte(page.Printable(b.String())))
	return err
}

// live asks the controller for what it has kept, and the cluster for events.
func (o *options) live(cmd *cobra.Command, s *story, each func(journal.Entry) error) error {
	ctx := cmd.Context()
	doors, err := o.source.Doors(ctx)
	if err != nil {
		return err
	}
	body, err := snapshot.Open(ctx, doors, "recording/live", url.Values{"follow": {"false"}, "from": {"leader"}})
	if err == nil {
		err = errors.Join(record.Read(body, each), body.Close())
	}
	if err != nil && !record.IsDamage(err) {
		cmd.PrintErrf("note: the controller could not be asked for what it decided: %v\n", err)
	}
	if o.source.ByURL() { // then there need not be a kubeconfig
		return nil
	}
	config, err := (verb.Cluster{Kubeconfig: o.source.Kubeconfig, Context: o.source.Context}).Connect("")
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return verb.BadInput(err)
	}
	if err := s.events(ctx, client, s.key.Namespace, "Pod", s.key.Name); err != nil {
		cmd.PrintErrf("note: events cannot be read: %v\n", err)
		return nil
	}
	for _, claim := range slices.Sorted(maps.Keys(s.claims)) {
		if err := s.events(ctx, client, metav1.NamespaceDefault, "NodeClaim", claim); err != nil {
			cmd.PrintErrf("note: events of claim %s cannot be read: %v\n", claim, err)
		}
	}
	return nil
}

// mostEvents is how many events of an object are shown.
const mostEvents = 200

// events adds the events of an object.
func (s *story) events(ctx context.Context, client kubernetes.Interface, namespace, kind, name string) error {
	list, err := client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=" + kind + ",involvedObject.name=" + name, Limit: mostEvents})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range list.Items {
		at := when(e)
		about := ""
		if kind != "Pod" {
			about = strings.ToLower(kind) + " " + name + ": "
		}
		times := ""
		if e.Count > 1 {
			times = fmt.Sprintf(" (%d times)", e.Count)
		}
		s.add(at, ofEvent, "%s%s: %s%s (%s)", about, e.Reason, strings.TrimSpace(e.Message), times, cmp.Or(e.Source.Component, e.ReportingController, "unknown"))
	}
	return nil
}

// when is when an event happened first.
func when(e corev1.Event) int64 {
	for _, at := range []time.Time{e.FirstTimestamp.Time, e.EventTime.Time, e.CreationTimestamp.Time} {
		if !at.IsZero() {
			return at.Unix()
		}
	}
	return 0
}
