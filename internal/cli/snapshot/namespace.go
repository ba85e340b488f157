package snapshot

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/observe"
)

// spaces are the namespaces of the input.
type spaces struct {
	written map[string]bool // that are objects of the input
	used    map[string]bool // that objects of the input are in
	asked   bool            // some pod's term selects namespaces by another label than their name
}

func newSpaces() spaces { return spaces{written: map[string]bool{}, used: map[string]bool{}} }

// withNameLabel is a namespace with the label that the API server gives to each.
func withNameLabel(n *corev1.Namespace) *corev1.Namespace {
	metav1.SetMetaDataLabel(&n.ObjectMeta, corev1.LabelMetadataName, n.Name)
	return n
}

func (in *input) setNamespace(n *corev1.Namespace) error {
	in.spaces.written[n.Name] = true
	return in.builder.SetNamespace(observe.Namespace(withNameLabel(n)))
}

// selects remembers whether the pod selects namespaces by labels that only their objects say.
func (s *spaces) selects(p *world.Pod) {
	other := func(r label.Requirement) bool { return r.Key != corev1.LabelMetadataName }
	for _, t := range p.PodTerms {
		s.asked = s.asked || slices.ContainsFunc(t.Within.Set, other)
	}
}

// imply sets the namespaces that objects of the input are in and that are not known otherwise, each with the label of its name.
func (in *input) imply(known map[string]bool) error {
	var silent []string
	for _, name := range slices.Sorted(maps.Keys(in.spaces.used)) {
		if in.spaces.written[name] || known[name] {
			continue
		}
		n := withNameLabel(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		if err := in.builder.SetNamespace(observe.Namespace(n)); err != nil {
			return err
		}
		silent = append(silent, name)
	}
	if len(silent) > 0 && in.spaces.asked {
		in.notes = append(in.notes, fmt.Sprintf("pods select namespaces by label, and these are not in the input: %s: they count as without labels other than their names", some(silent)))
	}
	return nil
}

// some are the first of several names.
func some(names []string) string {
	const shown = 3
	text := ""
	for i, n := range names[:min(len(names), shown)] {
		if i > 0 {
			text += ", "
		}
		text += n
	}
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
