package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/label"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/reason"
	"github.com/tenon-sh/tenon/engine/world"
)

// refused begins the event of a pod that found no place.
const refused = "Failed to schedule pod, "

// maxEventBytes is how many bytes such an event has at most: what is longer is not read in a list of events.
const maxEventBytes = 200

// Event is Refusal for an event of the pod: the pools that the pod selects first, then the nearest,
// and no longer than a line of a list. The log has all of it, and `tenon explain pod` what nodes have against it as well.
func Event(w *world.World, r plan.Refusal) string {
	return refused + nearest(w, r, maxEventBytes-len(refused))
}

// nearest says why a pod found no place, in at most so many bytes: what is nearest to being mended first.
func nearest(w *world.World, r plan.Refusal, longest int) string {
	if text := Refusal(w, r); len(text) <= longest && (r.Why == nil || len(r.Why.Causes) <= 1) {
		return text
	}
	clauses := near(w, r)
	if len(clauses) == 0 {
		return cut(Refusal(w, r), longest)
	}
	text := clauses[0]
	for i, c := range clauses[1:] {
		next := text + "; " + c
		if others := len(clauses) - 2 - i; len(next)+len(more(others)) > longest {
			return cut(text, longest-len(more(others+1))) + more(others+1)
		}
		text = next
	}
	return cut(text, longest)
}

// more says that there are other pools.
func more(pools int) string {
	switch pools {
	case 0:
		return ""
	case 1:
		return "; and 1 more pool"
	}
	return fmt.Sprintf("; and %d more pools", pools)
}

// near are the clauses of Refusal: those of the pools first that the pod's own
// selector and affinity leave to it, and of these the ones that could take it
// if the least were different. What a pool requires of instance types is left
// out: it is long, and stands in the pool.
func near(w *world.World, r plan.Refusal) []string {
	if r.Why == nil || r.Why.Code != reason.NoPlace {
		return nil
	}
	var units []string
	for _, c := range r.Why.Causes {
		if c.Code == reason.UnitMixUp {
			units = append(units, c.Subject+" "+c.Detail+": "+c.Hint)
		}
	}
	type objection struct {
		clause string
		rank   int // 0: the pod selects the pool
		causes []reason.Code
		weight int
	}
	var found []objection
	t := phrasing{world: w, pod: w.Pod(r.Pod), brief: true}
	for _, p := range w.Pools() {
		if p.Replicas != nil {
			continue
		}
		if why := of(r.Why, p.ID); why != nil {
			o := objection{clause: t.poolClause(p, why), causes: reason.Objections(why), weight: int(p.Weight)}
			if !selects(t.pod, p) {
				o.rank = 1
			}
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b objection) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), reason.Nearer(a.causes, b.causes), cmp.Compare(b.weight, a.weight))
	})
	for _, o := range found {
		units = append(units, o.clause)
	}
	return units
}

// selects reports whether the pod's node selector and affinity leave the pool to it: its name and
// the labels of its template. A label that nodes may get from elsewhere excludes no pool that does not name it.
func selects(pod *world.Pod, p *world.Pool) bool {
	if pod == nil {
		return true
	}
	own := p.Requirements.And(label.Is(fit.PoolLabel(p.ID), p.ID.Name)).Meet(label.Exactly(p.Labels))
	if !own.Compatible(pod.NodeSelector, standard) {
		return false
	}
	return len(pod.NodeTerms) == 0 || slices.ContainsFunc(pod.NodeTerms, func(t world.NodeTerm) bool { return own.Compatible(t.Labels, standard) })
}

// standard reports whether the label is one that Kubernetes, Karpenter or the
// cloud puts on nodes of any pool.
func standard(key string) bool {
	if key == label.NodePool || key == label.Provisioner {
		return false
	}
	domain, _, _ := strings.Cut(key, "/")
	return slices.ContainsFunc([]string{"kubernetes.io", "k8s.io", "k8s.aws", "karpenter.sh"}, func(of string) bool {
		return domain == of || strings.HasSuffix(domain, "."+of)
	})
}

// cut shortens a text to so many bytes, between two words.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := most - len("…")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if i := strings.LastIndexAny(text[:end], " "); i > end/2 {
		end = i
	}
	return strings.TrimRight(text[:end], " ,;") + "…"
}

// Kept says why a machine stays that is to be replaced. pod is the one for
// which there is no place; nil if it is another reason. Of limits it says
// nothing that changes with every machine.
func Kept(w *world.World, pod *world.Pod, why *reason.Why) string {
	if pod == nil || why.Code != reason.NoPlace || len(why.Causes) != 1 {
		return why.Said()
	}
	return fmt.Sprintf("%s: %s: %s", why.Subject, why.Detail, nearest(w, plan.Refusal{Pod: pod.Key, Why: why.Causes[0]}, maxEventBytes-len(refused)))
}
