package snapshot

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/world"
)

// tally counts what is said of several objects at once. It names the first.
type tally map[string]instance

type instance struct {
	n     int
	first string
}

func (t tally) add(what, of string, n int) {
	i, there := t[what]
	if !there {
		i.first = of
	}
	i.n += n
	t[what] = i
}

// say appends a note for each that was counted, in order.
func (t tally) say(notes []string, note func(what string, i instance) string) []string {
	for _, what := range slices.Sorted(maps.Keys(t)) {
		notes = append(notes, note(what, t[what]))
	}
	return notes
}

// leftOut says that objects of a kind count for nothing, and what may have been meant.
func leftOut(kind string, i instance) string {
	version, name, _ := strings.Cut(kind, " ")
	group, _, _ := strings.Cut(version, "/")
	say := fmt.Sprintf("skipped %d of kind %s", i.n, kind)
	switch {
	case version == resourcev1.SchemeGroupVersion.String() && allocating(name):
		return say + ": pods with resource claims are refused; with --ignore-dra-requests=false they are planned for"
	case group == resourcev1.GroupName && allocating(name):
		return fmt.Sprintf("%s: only those of %s are read", say, resourcev1.SchemeGroupVersion)
	}
	switch kind {
	case "batch/v1 CronJob":
		return say + ": its Jobs count once they are there"
	case "karpenter.k8s.aws/v1 EC2NodeClass", "karpenter.k8s.aws/v1beta1 EC2NodeClass", "karpenter.k8s.aws/v1alpha1 AWSNodeTemplate":
		return say + ": what machines offer to pods is as the catalogue has it"
	}
	for _, known := range slices.Sorted(maps.Keys(kinds())) {
		like, of, _ := strings.Cut(known, ".")
		switch {
		case !strings.EqualFold(like, name):
		case like != name:
			return fmt.Sprintf("%s: the kind is written %s", say, like)
		case of != group && (of == "apps" || of == "karpenter.sh" || of == "policy"):
			return fmt.Sprintf("%s: only those of the group %s are read", say, of)
		}
	}
	var names []string
	for known := range kinds() {
		like, _, _ := strings.Cut(known, ".")
		names = append(names, like)
	}
	slices.Sort(names)
	if meant := label.Meant(name, slices.Compact(names)); meant != "" {
		return fmt.Sprintf("%s: did you mean %s?", say, meant)
	}
	return say + ", which a plan does not depend on"
}

// readAs says that objects are read as if they were of another version.
func readAs(what string, i instance) string {
	kind, as, _ := strings.Cut(what, " as ")
	return fmt.Sprintf("%s: %d of kind %s read as %s: what differs between the two counts for nothing", i.first, i.n, kind, as)
}

// notOfClass says that settings of machines count for nothing.
func notOfClass(fields string, i instance) string {
	return fmt.Sprintf("%s: %s counts for nothing: machines are as the catalogue has them", i.first, fields)
}

// unknownField says that a field counts for nothing.
func unknownField(what string, i instance) string {
	kind, path, _ := strings.Cut(what, " ")
	times := ""
	if i.n > 1 {
		times = fmt.Sprintf(", and in %d more", i.n-1)
	}
	return fmt.Sprintf("%s: %s has no field %s: it is left out%s", i.first, kind, path, times)
}

// oddities are what the pods of the input have that is no mistake by any rule
// and yet is hardly meant.
type oddities struct {
	homeless  tally // bound to a node that is not there, by node
	unranked  tally // of a priority class that is not there, by class
	classless tally // of a runtime class that is not there, by class
	orphaned  tally // of a DaemonSet that is not there, by its name
	tiny      tally // asking for next to no memory, by how much
}

func newOddities() oddities { return oddities{tally{}, tally{}, tally{}, tally{}, tally{}} }

// look remembers what is odd about a pod of which there are n.
func (o oddities) look(p *world.Pod, n int, nodes map[string]bool) {
	if p.Node != "" && !nodes[p.Node] && !p.Done {
		o.homeless.add(p.Node, p.Key.String(), n)
	}
	const mebi = 1 << 20 * amount.Unit
	if memory := p.Requests.Value(amount.Memory); memory > 0 && memory < mebi && !p.Done {
		text := amount.Text(amount.Memory, memory)
		if memory%amount.Unit == 0 {
			text += " bytes"
		}
		o.tiny.add(text, p.Key.String(), n)
	}
}

func (o oddities) say(notes []string) []string {
	notes = o.homeless.say(notes, func(node string, i instance) string {
		return fmt.Sprintf("node %s is not in the input: %s for nothing", node, i.pods("counts", "count"))
	})
	notes = o.unranked.say(notes, func(class string, i instance) string {
		return fmt.Sprintf("PriorityClass %q is not in the input: %s as of priority 0", class, i.pods("counts", "count"))
	})
	notes = o.classless.say(notes, func(class string, i instance) string {
		return fmt.Sprintf("RuntimeClass %q is not in the input: %s without its overhead", class, i.pods("counts", "count"))
	})
	notes = o.orphaned.say(notes, func(set string, i instance) string {
		return fmt.Sprintf("DaemonSet %s is not in the input: %s for nothing", set, i.pods("counts", "count"))
	})
	return o.tiny.say(notes, func(memory string, i instance) string {
		return fmt.Sprintf("%s for %s of memory, less than 1Mi: is the unit right?", i.pods("asks", "ask"), memory)
	})
}

// pods begins a sentence about the pods that were counted.
func (i instance) pods(one, many string) string {
	if i.n == 1 {
		return "pod " + i.first + " " + one
	}
	return fmt.Sprintf("%d pods such as %s %s", i.n, i.first, many)
}
