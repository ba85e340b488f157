package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/sim/market"
	"github.com/tenon-sh/tenon/test/stage"
)

// goings are the checks of nodes that go by themselves.
func goings() []check {
	return []check{
		{name: "C13", run: func(s *story) { emptyGoes(s, 6*time.Second) }},
		{name: "C13Full", long: true, run: func(s *story) { emptyGoes(s, 30*time.Second) }},
		{name: "ConsolidateNever", run: neverConsolidated},
		{name: "Budget", run: budgetOfNothing},
		{name: "BudgetSchedule", long: true, run: budgetOfAnotherHour},
		{name: "BudgetReasons", long: true, run: budgetForAnotherReason},
		{name: "BudgetShare", run: budgetOfOneAtATime},
		{name: "NodeDoNotDisrupt", run: nodeMustStay},
		{name: "Sheltered", run: podStaysForAWhile},
		{name: "Expire", run: expires},
		{name: "ExpireReplaced", long: true, run: expiresInUse},
		{name: "SpotInterruption", run: interrupted},
		{name: "Rebalance", run: rebalanced},
		{name: "ScheduledChange", run: scheduled},
		{name: "StateChange", run: terminatedByHand},
	}
}

// emptying has nodes go that have been empty for a while, all at once.
func emptying(after time.Duration, budgets ...v1.Budget) func(*v1.NodePool) {
	if len(budgets) == 0 {
		budgets = []v1.Budget{{Nodes: "100%"}}
	}
	return func(p *v1.NodePool) {
		p.Spec.Disruption = v1.Disruption{ConsolidateAfter: v1.After(after), ConsolidationPolicy: v1.WhenEmpty, Budgets: budgets}
	}
}

// A node that has been empty for as long as its pool says goes, no sooner, and
// says why.
func emptyGoes(s *story, after time.Duration) {
	s.pool(emptying(after))
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	if c.Conditions().Is(v1.ConditionConsolidatable) {
		s.Error("it is consolidatable although it is young")
	}
	s.Drop(s.T, pod)
	s.gone(pod)
	empty, why := time.Now(), ""
	s.await(func() error {
		err := s.get(&c)
		if x := c.Conditions().Get(v1.ConditionDisruptionReason); err == nil && x != nil && x.Status == metav1.ConditionTrue {
			why = x.Reason
		}
		if err == nil && c.DeletionTimestamp == nil {
			err = fmt.Errorf("it is not deleted, and said %q", why)
		}
		return client.IgnoreNotFound(err)
	})
	took := time.Since(empty)
	s.Logf("it went %s after its last pod", took.Round(100*time.Millisecond))
	if took < after-time.Second {
		s.Errorf("it went %s after its last pod, want %s at least", took, after)
	}
	if why != "Empty" {
		s.Errorf("the claim said that it goes because of %q, want Empty", why)
	}
	s.event(&c, "DisruptionTerminating", "Empty")
	s.event(n, "DisruptionTerminating", "Empty")
	s.gone(&c, n)
	s.ended(&c)
}

// emptied is a story whose only pod has gone.
func (s *story) emptied(change ...func(*v1.NodePool)) (*v1.NodePool, *v1.NodeClaim) {
	s.Helper()
	p := s.pool(change...)
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	s.Drop(s.T, pod)
	s.gone(pod)
	return p, &c
}

// remains fails the story when a claim goes within a while.
func (s *story) remains(c *v1.NodeClaim, long time.Duration) {
	s.Helper()
	s.stays(long, func() error {
		err := s.get(c)
		if err == nil && c.DeletionTimestamp != nil {
			err = fmt.Errorf("claim %s goes", c.Name)
		}
		return err
	})
}

func neverConsolidated(s *story) {
	_, c := s.emptied()
	s.remains(c, 6*time.Second)
	if x := c.Conditions().Get(v1.ConditionConsolidatable); x != nil {
		s.Errorf("it says %+v", x)
	}
}

// A budget of nothing keeps empty nodes, and says so about the pool; when it is
// lifted they go.
func budgetOfNothing(s *story) {
	p, c := s.emptied(emptying(0, v1.Budget{Nodes: "0"}))
	s.condition(c, v1.ConditionConsolidatable, metav1.ConditionTrue, v1.ConditionConsolidatable)
	s.event(p, "DisruptionBlocked")
	s.remains(c, 5*time.Second)
	s.patch(p, `{"spec":{"disruption":{"budgets":[{"nodes":"1"}]}}}`)
	s.gone(c)
}

// Budgets hold while their schedule says so, in UTC.
func budgetOfAnotherHour(s *story) {
	hour, now, later := time.Hour, "* * * * *", fmt.Sprintf("0 %d * * *", (time.Now().UTC().Hour()+4)%24)
	p, c := s.emptied(emptying(0, v1.Budget{Nodes: "0", Schedule: &now, Duration: &metav1.Duration{Duration: hour}}))
	s.remains(c, 5*time.Second)
	s.patch(p, `{"spec":{"disruption":{"budgets":[{"nodes":"0","schedule":%q,"duration":"1h"},{"nodes":"1"}]}}}`, later)
	s.gone(c)
}

// A budget for another reason keeps nothing.
func budgetForAnotherReason(s *story) {
	_, c := s.emptied(emptying(0, v1.Budget{Nodes: "0", Reasons: []v1.DisruptionReason{v1.Drifted, v1.Underutilized}}, v1.Budget{Nodes: "1"}))
	s.gone(c)
}

// A budget of one lets one go at a time.
func budgetOfOneAtATime(s *story) {
	s.pool(emptying(time.Second, v1.Budget{Nodes: "1"}))
	d := stage.Apart(s.ns, "web", 4)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	s.ready(4)
	s.Runs(s.T, soon, s.ns, 4)
	s.Drop(s.T, d)
	s.await(func() error {
		claims := s.claims(s.name)
		going := slices.DeleteFunc(slices.Clone(claims), func(c v1.NodeClaim) bool { return c.DeletionTimestamp == nil })
		if len(going) > 1 {
			s.Fatalf("%d of %d nodes go at once", len(going), len(claims))
		}
		if len(claims) > 2 {
			return fmt.Errorf("%d claims", len(claims))
		}
		return nil
	})
}

// A node that must not be disrupted stays although it is empty.
func nodeMustStay(s *story) {
	s.pool(emptying(2*time.Second), func(p *v1.NodePool) {
		p.Spec.Template.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "true"}
	})
	pod := s.pod("web")
	s.runs(pod)
	c := s.ready(1)[0]
	n := s.nodeOf(&c)
	s.Drop(s.T, pod)
	s.gone(pod)
	s.remains(&c, 6*time.Second)
	s.patch(n, `{"metadata":{"annotations":{"karpenter.sh/do-not-disrupt":null}}}`)
	s.gone(&c)
}

// A pod that must not be disrupted for a while is told until when, and one that
// says so in no way that can be read is told that.
func podStaysForAWhile(s *story) {
	s.pool(emptying(0))
	other := s.pod("other", func(p *corev1.Pod) { p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "two hours"} })
	if e := s.event(other, "InvalidDoNotDisruptAnnotation", "two hours"); e.Type != corev1.EventTypeWarning {
		s.Errorf("the event is %s", e.Type)
	}
	pod := s.pod("web", func(p *corev1.Pod) { p.Annotations = map[string]string{v1.AnnotationDoNotDisrupt: "2h"} })
	s.runs(pod)
	e := s.event(pod, "DoNotDisruptUntil")
	if until := pod.Status.StartTime.Add(2 * time.Hour).UTC().Format(time.RFC3339); e.Type != corev1.EventTypeNormal || !strings.Contains(e.Message, until) {
		s.Errorf("the %s event says %q, want it to name %s", e.Type, e.Message, until)
	}
}

// A node goes when its time is over, whichever pool it is of.
func expires(s *story) {
	const age = 10 * time.Second
	c := s.byHand("default", func(c *v1.NodeClaim) { c.Spec.ExpireAfter = v1.After(age) })
	s.await(func() error {
		err := s.get(c)
		if err == nil && c.DeletionTimestamp == nil {
			err = fmt.Errorf("it is not deleted")
		}
		return client.IgnoreNotFound(err)
	})
	if at := c.DeletionTimestamp; at != nil && at.Sub(c.CreationTimestamp.Time) < age {
		s.Errorf("it went at an age of %s, want %s at least", at.Sub(c.CreationTimestamp.Time), age)
	}
	s.gone(c)
	s.ended(c)
}

// Budgets do not keep it, and its pods get another.
func expiresInUse(s *story) {
	const age = 40 * time.Second
	s.pool(func(p *v1.NodePool) {
		p.Spec.Template.Spec.ExpireAfter = v1.After(age)
		p.Spec.Disruption.Budgets = []v1.Budget{{Nodes: "0"}}
	})
	d := stage.Apart(s.ns, "web", 1)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	s.Runs(s.T, soon, s.ns, 1)
	c := s.ready(1)[0]
	s.await(func() error {
		err := s.get(&c)
		if err == nil && c.DeletionTimestamp == nil {
			err = fmt.Errorf("it is not deleted")
		}
		return client.IgnoreNotFound(err)
	})
	if at := c.DeletionTimestamp; at != nil && at.Sub(c.CreationTimestamp.Time) < age {
		s.Errorf("it went at an age of %s, want %s at least", at.Sub(c.CreationTimestamp.Time), age)
	}
	s.gone(&c)
	s.Runs(s.T, soon, s.ns, 1)
}

// onSpot is a story with a workload on a machine of its own, of spot.
func (s *story) onSpot() *v1.NodeClaim {
	s.Helper()
	s.pool(func(p *v1.NodePool) { p.Spec.Template.Spec.Requirements[0].Values = []string{"spot"} })
	d := stage.Apart(s.ns, "web", 1)
	d.Spec.Template.Spec.NodeSelector = map[string]string{v1.LabelNodePool: s.name}
	s.create(d)
	s.Runs(s.T, soon, s.ns, 1)
	c := s.ready(1)[0]
	if c.Labels[v1.LabelCapacityType] != "spot" {
		s.Fatalf("the claim's labels are %v", c.Labels)
	}
	return &c
}

// A spot machine that the cloud takes back is drained and replaced.
func interrupted(s *story) {
	c := s.onSpot()
	n := s.nodeOf(c)
	began := time.Now()
	if err := s.Account.Market.Interrupt(s.machine(c)); err != nil {
		s.Fatal(err)
	}
	s.event(c, "SpotInterrupted")
	s.event(n, "TerminatingOnInterruption")
	s.gone(c, n)
	s.Runs(s.T, soon, s.ns, 1)
	s.ready(1)
	s.Logf("its pod runs elsewhere after %s", time.Since(began).Round(100*time.Millisecond))
}

// A recommendation is passed on, and nothing is done.
func rebalanced(s *story) {
	c := s.onSpot()
	if err := s.Account.Market.Rebalance(s.machine(c)); err != nil {
		s.Fatal(err)
	}
	s.event(c, "SpotRebalanceRecommendation")
	s.remains(c, 4*time.Second)
}

// A machine that is to be retired is replaced.
func scheduled(s *story) {
	c := s.onSpot()
	err := s.Account.Market.Schedule(s.machine(c), market.ScheduledEvent{
		Code: "instance-retirement", Description: "the host is degraded", NotBefore: time.Now().Add(time.Hour), NotAfter: time.Now().Add(2 * time.Hour),
	})
	if err != nil {
		s.Fatal(err)
	}
	s.gone(c)
	s.Runs(s.T, soon, s.ns, 1)
}

// A machine that somebody ends behind our back is noticed at once and replaced.
func terminatedByHand(s *story) {
	c := s.onSpot()
	if err := s.Account.Market.Kill(s.machine(c)); err != nil {
		s.Fatal(err)
	}
	s.gone(c)
	s.Runs(s.T, soon, s.ns, 1)
	if n := len(s.nodes(s.name)); n != 1 {
		s.Errorf("%d nodes", n)
	}
}
