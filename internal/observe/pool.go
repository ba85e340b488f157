package observe

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/tenon-sh/tenon/api/condition"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/money"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
)

// What the API fills in; an object read from a file may be without it.
const (
	defaultExpiry = 720 * time.Hour
	defaultBudget = "10%"
)

// NodePool reads a NodePool.
func NodePool(p *v1.NodePool) world.Pool {
	t := p.Spec.Template
	out := world.Pool{
		ID:            world.PoolID{Kind: world.NodePool, Name: p.Name},
		Labels:        t.Labels,
		Taints:        taints(t.Spec.Taints),
		StartupTaints: taints(t.Spec.StartupTaints),
		Limits:        Amounts(p.Spec.Limits),
		Deleting:      p.DeletionTimestamp != nil,
		Disruption:    poolDisruption(p),
	}
	annotated(&out, p.Annotations)
	if p.Spec.Weight != nil {
		out.Weight = *p.Spec.Weight
	}
	if p.Spec.Replicas != nil {
		n := int(*p.Spec.Replicas)
		out.Replicas = &n
	}
	if ref := t.Spec.NodeClassRef; ref != nil {
		out.Template, out.Labels = TemplateOf(*ref, nil), ofClass(t.Labels, *ref)
	}
	out.Requirements, _ = requirements(t.Spec.Requirements) // what cannot be read is among the pool's problems
	out.NotReady = notReady(p)
	if c := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy); c != nil && c.Status == "False" && c.ObservedGeneration == p.Generation {
		out.Unhealthy = true
	}
	return out
}

// ofClass is the labels of a pool's nodes with the one that names their class, by which pods may choose.
func ofClass(labels map[string]string, ref v1.NodeClassReference) map[string]string {
	out := make(map[string]string, len(labels)+1)
	maps.Copy(out, labels)
	out[v1.LabelNodeClass(ref.Group, ref.Kind)] = ref.Name
	return out
}

// annotated sets what annotations of a pool say, whichever its kind. What cannot be read is among the pool's problems.
func annotated(p *world.Pool, annotations map[string]string) {
	s, _ := v1.SettingsOf(annotations)
	p.Disruption.Level = annotations[annotation.Level]
	if s.NodeCharge != nil {
		charge := money.Micro(*s.NodeCharge)
		p.Charge = &charge
	}
}

// problemsOf writes problems on a line; empty if there are none.
func problemsOf(errs field.ErrorList) string {
	out := make([]string, len(errs))
	for i, err := range errs {
		out[i] = err.Error()
	}
	return strings.Join(out, "; ")
}

// notReady says why a pool may not be used now. A pool that no controller has judged
// yet may: it can do nothing before its class is known.
func notReady(p *v1.NodePool) string {
	if wrong := problemsOf(p.Problems()); wrong != "" {
		return wrong
	}
	for _, kind := range []string{v1.ConditionValidationSucceeded, v1.ConditionNodeClassReady} {
		if c := p.Conditions().Get(kind); c != nil && c.Status == "False" {
			return c.Reason + ": " + c.Message
		}
	}
	if c := p.Conditions().Get(condition.Ready); c != nil && c.Status == "False" {
		return c.Reason + ": " + c.Message
	}
	return ""
}

func poolDisruption(p *v1.NodePool) world.PoolDisruption {
	d := p.Spec.Disruption
	var out world.PoolDisruption
	if after, ok := wait(d.ConsolidateAfter, 0); ok && !p.Static() {
		out.EmptyAfter = &after
		if d.ConsolidationPolicy != v1.WhenEmpty {
			out.MoveAfter = &after
		}
		out.Balanced = d.ConsolidationPolicy == v1.Balanced
	}
	if after, ok := wait(p.Spec.Template.Spec.ExpireAfter, defaultExpiry); ok {
		out.ExpireAfter = &after
	}
	if g := p.Spec.Template.Spec.TerminationGracePeriod; g != nil {
		s := int64(g.Duration / time.Second)
		out.DrainWithin = &s
	}
	if d.Budgets == nil {
		out.Budgets = []world.Budget{{Nodes: defaultBudget}}
	}
	for _, b := range d.Budgets {
		out.Budgets = append(out.Budgets, budget(b))
	}
	return out
}

func budget(b v1.Budget) world.Budget {
	out := world.Budget{Nodes: b.Nodes}
	for _, r := range b.Reasons {
		out.Reasons = append(out.Reasons, string(r))
	}
	if b.Schedule != nil {
		out.Schedule = *b.Schedule
	}
	if b.Duration != nil {
		out.Duration = int64(b.Duration.Duration / time.Second)
	}
	if out.Nodes == "" {
		out.Nodes = defaultBudget
	}
	return out
}

// wait is d in seconds; what is not said is ifUnset. It is false for Never.
func wait(d v1.NillableDuration, ifUnset time.Duration) (int64, bool) {
	if d == "" {
		return int64(ifUnset / time.Second), true
	}
	span, ok := d.Span()
	return int64(span / time.Second), ok
}

// Provisioner reads a Provisioner. What its API fills in is filled in here and
// never written back.
func Provisioner(p *v1alpha5.Provisioner) world.Pool {
	out := world.Pool{
		ID:            world.PoolID{Kind: world.Provisioner, Name: p.Name},
		Template:      TemplateOf(ClassOf(p), KubeletOf(p)),
		Labels:        ofClass(p.Spec.Labels, ClassOf(p)),
		Taints:        taints(p.Spec.Taints),
		StartupTaints: taints(p.Spec.StartupTaints),
		Deleting:      p.DeletionTimestamp != nil,
	}
	if p.Spec.Weight != nil {
		out.Weight = *p.Spec.Weight
	}
	if p.Spec.Limits != nil {
		out.Limits = Amounts(p.Spec.Limits.Resources)
	}
	annotated(&out, p.Annotations)
	out.Disruption.ExpireAfter = p.Spec.TTLSecondsUntilExpired
	out.Disruption.EmptyAfter = p.Spec.TTLSecondsAfterEmpty
	if p.Consolidates() {
		out.Disruption.EmptyAfter, out.Disruption.MoveAfter = new(int64), new(int64)
	}
	var in []v1.Requirement
	for _, r := range p.EffectiveRequirements() {
		in = append(in, v1.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values})
	}
	out.Requirements, _ = requirements(in)
	out.NotReady = problemsOf(p.Problems())
	return out
}

// ClassOf names the class of a Provisioner's machines: the object it refers
// to, or the Provisioner itself where it holds the settings of the cloud.
func ClassOf(p *v1alpha5.Provisioner) v1.NodeClassReference {
	if ref := p.Spec.ProviderRef; ref != nil {
		kind := ref.Kind
		if kind == "" {
			kind = "AWSNodeTemplate"
		}
		return v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: kind, Name: ref.Name}
	}
	return v1.NodeClassReference{Group: v1.Group, Kind: world.Provisioner, Name: p.Name}
}

// KubeletOf is a Provisioner's kubelet settings as JSON; nil if it has none.
func KubeletOf(p *v1alpha5.Provisioner) []byte {
	if p.Spec.KubeletConfiguration == nil {
		return nil
	}
	text, err := json.Marshal(p.Spec.KubeletConfiguration)
	if err != nil {
		return nil
	}
	return text
}
