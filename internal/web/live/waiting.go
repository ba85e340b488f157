package live

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tenon-sh/tenon/engine/explain"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/journal"
)

// The states of a Group.
const (
	Refused  = "refused"
	Planned  = "planned"
	HeldBack = "held back" // by scheduling gates
	Waiting  = "waiting"   // nothing has been decided yet
)

// maxPodsNamed is how many pods of a Group are named.
const maxPodsNamed = 20

// Group is pods of one workload that wait for the same reason.
type Group struct {
	State    string      `json:"state"`
	Workload string      `json:"workload"` // namespace/name as far as names of pods show it
	Text     string      `json:"text"`
	Hint     string      `json:"hint,omitempty"` // what would make them fit
	Why      *reason.Why `json:"why,omitempty"`
	Count    int         `json:"count"`
	Pods     []string    `json:"pods"` // the first of them
	Since    int64       `json:"since"`
	Decision string      `json:"decision,omitempty"` // the digest of the one that said so
}

// verdict is what the latest decision says of a pod.
type verdict struct {
	state, text, decision string
	why                   *reason.Why
}

// verdicts are what the latest decisions say of pods. decided is latest first.
func verdicts(decided []journal.Entry) map[world.Key]verdict {
	out := map[world.Key]verdict{}
	for _, e := range slices.Backward(decided) {
		digest := e.World.Digest()
		for _, r := range e.Plan.Refused {
			out[r.Pod] = verdict{Refused, explain.Briefly(r.Why), digest, r.Why}
		}
		for _, a := range e.Plan.Asks() {
			for _, k := range a.Pods {
				out[k] = verdict{state: Planned, text: "to go to a new " + a.Shape + " in " + a.Zone, decision: digest}
			}
		}
		for _, f := range e.Plan.Filled {
			for _, k := range f.Pods {
				out[k] = verdict{state: Planned, text: "to go to " + cmp.Or(f.Node, f.Claim), decision: digest}
			}
		}
	}
	return out
}

// Groups are the waiting pods by workload and reason: those that are refused first, then those of most pods.
func Groups(w *world.World, decided []journal.Entry) []Group {
	said := verdicts(decided)
	type alike struct{ workload, text string }
	at := map[alike]int{}
	var out []Group
	for _, p := range w.Waiting() {
		if p.Virtual { // no pod: the status of its CapacityBuffer says how it stands
			continue
		}
		v := said[p.Key]
		switch {
		case p.Gated:
			v = verdict{state: HeldBack, text: "until their scheduling gates are removed"}
		case w.Ends(p):
			v = verdict{state: Waiting, text: "to be deleted, with their Job or their namespace"}
		case v.state == "":
			v = verdict{state: Waiting, text: "no decision yet"}
		}
		a := alike{p.Namespace + "/" + workload(p), v.text}
		i, ok := at[a]
		if !ok {
			i = len(out)
			at[a] = i
			out = append(out, Group{State: v.state, Workload: a.workload, Text: v.text, Hint: explain.Advice(v.why), Why: v.why, Since: p.Created, Decision: v.decision})
		}
		g := &out[i]
		g.Count++
		g.Since = min(g.Since, p.Created)
		if len(g.Pods) < maxPodsNamed {
			g.Pods = append(g.Pods, p.String())
		}
	}
	slices.SortStableFunc(out, func(a, b Group) int {
		return cmp.Or(cmp.Compare(Urgency(a.State), Urgency(b.State)), cmp.Compare(b.Count, a.Count))
	})
	return out
}

// Urgency is the place of a state of a Group among the others: what needs a person first.
func Urgency(state string) int {
	return slices.Index([]string{Refused, Waiting, HeldBack, Planned}, state)
}

// workload is the name of what made a pod, as far as its own name and labels show it.
func workload(p *world.Pod) string {
	if p.DaemonSet != "" {
		return p.DaemonSet
	}
	if hash := p.Labels["pod-template-hash"]; hash != "" {
		if name, _, ok := strings.Cut(p.Name, "-"+hash+"-"); ok {
			return name
		}
	}
	i := strings.LastIndex(p.Name, "-")
	if i <= 0 {
		return p.Name
	}
	if rest := p.Name[i+1:]; p.StatefulOwner || len(rest) == 5 {
		return p.Name[:i]
	}
	return p.Name
}
