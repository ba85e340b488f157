package check

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	karpv1 "github.com/tenon-sh/tenon/api/karpenter/v1"
)

// counter counts pods of a selector over the domains of a key, once for each
// question that is asked.
type counter struct {
	byApp map[string][]running // by namespace and the label app
	memo  map[string]count
}

// running is a pod and where it runs.
type running struct {
	pod *corev1.Pod
	at  *host
}

// count is how many pods a selector finds.
type count struct {
	byDomain map[string]int
	total    int
}

func newCounter(hosts []*host) *counter {
	c := &counter{byApp: map[string][]running{}, memo: map[string]count{}}
	for _, h := range hosts {
		for _, p := range h.pods {
			app := p.Namespace + "/" + p.Labels["app"]
			c.byApp[app] = append(c.byApp[app], running{p, h})
		}
	}
	return c
}

// of counts pods of a namespace that s selects, over the domains of key. Worlds
// here select by the label app alone.
func (c *counter) of(key, namespace string, s *metav1.LabelSelector) count {
	app := namespace + "/" + s.MatchLabels["app"]
	id := key + " " + app
	if found, ok := c.memo[id]; ok {
		return found
	}
	out := count{byDomain: map[string]int{}}
	for _, r := range c.byApp[app] {
		if domain, ok := r.at.labels[key]; ok {
			out.byDomain[domain]++
			out.total++
		}
	}
	c.memo[id] = out
	return out
}

// byApp reports whether a selector is one that the counter can answer.
func byApp(s *metav1.LabelSelector) bool {
	return s != nil && len(s.MatchExpressions) == 0 && len(s.MatchLabels) == 1 && s.MatchLabels["app"] != ""
}

func matches(s *metav1.LabelSelector, p *corev1.Pod) bool {
	return s.MatchLabels["app"] == p.Labels["app"]
}

// groups judges spread and affinity of all pods, those that run already among
// them: new pods may not break what the old ones asked for.
func groups(c *checker) {
	n := newCounter(c.hosts)
	seen := map[string]bool{} // an application's spread is judged once
	for _, h := range c.hosts {
		for _, p := range h.pods {
			if p.Spec.Affinity == nil && len(p.Spec.TopologySpreadConstraints) == 0 {
				continue
			}
			c.spreads(n, p, seen)
			c.affinities(n, p, h)
		}
	}
}

// spreads judges hard spreads. A domain counts if a node of it could have the
// pod. The pods of an application here have the same spread and select each
// other, so one of them speaks for all.
func (c *checker) spreads(n *counter, p *corev1.Pod, seen map[string]bool) {
	for _, s := range p.Spec.TopologySpreadConstraints {
		id := p.Namespace + "/" + p.Labels["app"] + " " + s.TopologyKey
		if s.WhenUnsatisfiable != corev1.DoNotSchedule || seen[id] {
			continue
		}
		seen[id] = true
		if !byApp(s.LabelSelector) || !matches(s.LabelSelector, p) {
			c.fault("pods like %s: the checker cannot judge a spread of other pods", key(p))
			continue
		}
		found := n.of(s.TopologyKey, p.Namespace, s.LabelSelector)
		least := -1
		for _, other := range c.hosts {
			domain, ok := other.labels[s.TopologyKey]
			if k := found.byDomain[domain]; ok && (least < 0 || k < least) && nodeRefuses(p, other) == "" {
				least = k
			}
		}
		for domain, have := range found.byDomain {
			if have-least > int(s.MaxSkew) {
				c.fault("pods like %s: %d in %s, %d elsewhere, skew allowed %d", key(p), have, domain, least, s.MaxSkew)
			}
		}
	}
}

// affinities judges required terms, the anti ones from both sides by asking every pod.
func (c *checker) affinities(n *counter, p *corev1.Pod, h *host) {
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			others := n.of(t.TopologyKey, p.Namespace, t.LabelSelector).byDomain[h.labels[t.TopologyKey]]
			if matches(t.LabelSelector, p) {
				others--
			}
			if others > 0 {
				c.fault("pod %s shares %s %s with %d pods it keeps away from", key(p), t.TopologyKey, h.labels[t.TopologyKey], others)
			}
		}
	}
	if a.PodAffinity != nil {
		for _, t := range a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			found := n.of(t.TopologyKey, p.Namespace, t.LabelSelector)
			here, self := found.byDomain[h.labels[t.TopologyKey]], 0
			if matches(t.LabelSelector, p) {
				self = 1
			}
			alone := found.total == self && self == 1 // the first of its kind may go anywhere
			if here-self <= 0 && !alone {
				c.fault("pod %s is in %s %s without the pods it wants to be with", key(p), t.TopologyKey, h.labels[t.TopologyKey])
			}
		}
	}
}

// wishes counts soft terms, and those that the place honours. Host terms are
// judged on the host alone, which is all that is asked for here.
func (c *checker) wishes(p *corev1.Pod, h *host) {
	a := p.Spec.Affinity
	if a == nil {
		return
	}
	if a.NodeAffinity != nil {
		for _, t := range a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			c.report.Wishes++
			held := true
			for _, e := range t.Preference.MatchExpressions {
				held = held && holds(karpv1.Requirement{Key: e.Key, Operator: e.Operator, Values: e.Values}, h.labels)
			}
			if held {
				c.report.Soft++
			}
		}
	}
	if a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			if t.PodAffinityTerm.TopologyKey != corev1.LabelHostname {
				continue
			}
			c.report.Wishes++
			if !slices.ContainsFunc(h.pods, func(o *corev1.Pod) bool {
				return o != p && o.Namespace == p.Namespace && matches(t.PodAffinityTerm.LabelSelector, o)
			}) {
				c.report.Soft++
			}
		}
	}
}
