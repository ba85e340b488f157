package pool_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/tenon-sh/tenon/api/condition"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/amount"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/pool"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func nodePool(change ...func(*v1.NodePool)) *v1.NodePool {
	p := &v1.NodePool{
		ObjectMeta: metav1.ObjectMeta{Name: "p", Generation: 2, CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour))},
		Spec: v1.NodePoolSpec{
			Disruption: v1.Disruption{ConsolidationPolicy: v1.WhenEmpty, ConsolidateAfter: "0s"},
			Template: v1.NodeClaimTemplate{Spec: v1.NodeClaimTemplateSpec{
				NodeClassRef: &v1.NodeClassReference{Group: "g", Kind: "K", Name: "n"}, Requirements: []v1.Requirement{},
			}},
		},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

func TestStatus(t *testing.T) {
	good := pool.Class{Ready: metav1.ConditionTrue}
	bad := func(p *v1.NodePool) {
		p.Spec.Template.Spec.Taints = []corev1.Taint{{Key: "not a key", Effect: corev1.TaintEffectNoSchedule}}
	}
	tests := map[string]struct {
		why    string
		pool   *v1.NodePool
		class  pool.Class
		status map[string]string // condition: status and reason
	}{
		"Fine": {"A pool whose parts are fine is Ready.", nodePool(), good, map[string]string{
			"Ready": "True Ready", "NodeClassReady": "True NodeClassReady", "ValidationSucceeded": "True ValidationSucceeded",
		}},
		"Invalid": {"What the API let through is said here, and the pool is not used.", nodePool(bad), good, map[string]string{
			"Ready": "False UnhealthyDependents", "ValidationSucceeded": "False NodePoolValidationFailed",
		}},
		"NoClass": {"The class may come later.", nodePool(), pool.Class{Missing: true}, map[string]string{
			"Ready": "False UnhealthyDependents", "NodeClassReady": "False NodeClassNotFound",
		}},
		"ClassGoes": {"Nothing new is bought of a class that is being deleted.", nodePool(), pool.Class{Ending: true, Ready: metav1.ConditionTrue}, map[string]string{
			"NodeClassReady": "False NodeClassTerminating",
		}},
		"ClassSilent": {"A class that no controller has looked at is no reason to refuse.", nodePool(), pool.Class{}, map[string]string{
			"Ready": "Unknown ReconcilingDependents", "NodeClassReady": "Unknown NodeClassReadinessUnknown",
		}},
		"ClassBroken": {"The class' own words are passed on.", nodePool(), pool.Class{Ready: metav1.ConditionFalse, Reason: "SubnetsNotFound"}, map[string]string{
			"NodeClassReady": "False SubnetsNotFound",
		}},
		"Moves": {"A user who asks for more than is done is told so, where no pods are moved.", nodePool(func(p *v1.NodePool) { p.Spec.Disruption.ConsolidationPolicy = v1.WhenEmptyOrUnderutilized }), good, map[string]string{
			"Ready": "True Ready", pool.ConditionConsolidation: "False OnlyEmptyNodes",
		}},
		"Never": {"It gives nothing back at all.", nodePool(func(p *v1.NodePool) {
			p.Spec.Disruption = v1.Disruption{ConsolidationPolicy: v1.WhenEmptyOrUnderutilized, ConsolidateAfter: v1.Never}
		}), good, nil},
		"Static": {"A static pool has no pods moved anyway.", nodePool(func(p *v1.NodePool) {
			n := int64(2)
			p.Spec.Replicas, p.Spec.Disruption.ConsolidationPolicy = &n, v1.WhenEmptyOrUnderutilized
		}), good, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			pool.Status(tc.pool, pool.Seen{Now: noon, Class: tc.class, Still: true})
			for kind, want := range tc.status {
				c := tc.pool.Conditions().Get(kind)
				if c == nil || string(c.Status)+" "+c.Reason != want {
					t.Errorf("%s\n%s is %+v, want %s", tc.why, kind, c, want)
				}
			}
			moving := tc.pool.DeepCopy()
			pool.Status(moving, pool.Seen{Now: noon, Class: tc.class})
			if c := moving.Conditions().Get(pool.ConditionConsolidation); c != nil {
				t.Errorf("pods are moved, and it goes on to say %+v", c)
			}
			if c := tc.pool.Conditions().Get(pool.ConditionConsolidation); c != nil && tc.status[pool.ConditionConsolidation] == "" {
				t.Errorf("%s\nit asks for no more than is done, and says %+v", tc.why, c)
			}
			again := tc.pool.DeepCopy()
			pool.Status(again, pool.Seen{Now: noon.Add(time.Hour), Class: tc.class, Still: true})
			if diff := cmp.Diff(tc.pool.Status, again.Status); diff != "" {
				t.Errorf("looking again an hour later wrote something:\n%s", diff)
			}
		})
	}
}

func TestHealth(t *testing.T) {
	failed, fine := pool.Outcome{Failed: true, Reason: "RegistrationFailed"}, pool.Outcome{}
	tests := map[string]struct {
		why      string
		outcomes []pool.Outcome
		want     string
	}{
		"Nothing": {"It is not known.", nil, "Unknown"},
		"Came":    {"It came up.", []pool.Outcome{fine}, "True"},
		"One":     {"One failure may be chance.", []pool.Outcome{failed}, "Unknown"},
		"Two":     {"Two of the last four are not.", []pool.Outcome{failed, fine, failed}, "False"},
		"Fine":    {"One of three is none too many.", []pool.Outcome{fine, failed, fine}, "True"},
		"Latest":  {"The newest count.", []pool.Outcome{fine, fine, fine, failed, failed}, "False"},
		"Four":    {"The last four count, not three.", []pool.Outcome{failed, fine, fine, failed}, "False"},
		"Past":    {"Only the last four count.", []pool.Outcome{failed, failed, fine, fine, fine}, "True"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := nodePool()
			var h pool.Health
			pool.Status(p, pool.Seen{Now: noon})
			for _, o := range tc.outcomes {
				h = h.With(o)
				if o.Failed { // a failure says something only when it is one too many
					if healthy, _ := h.Verdict(); healthy {
						continue
					}
				}
				pool.Status(p, pool.Seen{Now: noon, Health: h})
			}
			if c := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy); string(c.Status) != tc.want {
				t.Errorf("%s, want %s: %s", c.Status, tc.want, tc.why)
			}
			other := p.DeepCopy()
			pool.Status(other, pool.Seen{Now: noon, Health: h, Class: pool.Class{Generation: 9}})
			if c := other.Conditions().Get(v1.ConditionNodeRegistrationHealthy); c.Status != metav1.ConditionUnknown || other.Status.NodeClassObservedGeneration != 9 {
				t.Errorf("with another generation of its class it is %s", c.Status)
			}
			p.Generation++
			pool.Status(p, pool.Seen{Now: noon, Health: h})
			if c := p.Conditions().Get(v1.ConditionNodeRegistrationHealthy); c.Status != metav1.ConditionUnknown {
				t.Errorf("a new generation is %s", c.Status)
			}
		})
	}
}

func TestOutcome(t *testing.T) {
	claim := func(change func(*v1.NodeClaim)) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
		change(c)
		return c
	}
	at := func(d time.Duration) time.Time { return noon.Add(d) }
	deleted := func(c *v1.NodeClaim, d time.Duration) { c.DeletionTimestamp = &metav1.Time{Time: at(d)} }
	tests := map[string]struct {
		why    string
		claim  *v1.NodeClaim
		want   string
		failed bool
	}{
		"Waiting":    {"Nothing is decided yet.", claim(func(*v1.NodeClaim) {}), "", false},
		"Registered": {"It came up.", claim(func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", at(time.Minute)) }), "counted", false},
		"Before":     {"An earlier process has counted it.", claim(func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", at(-time.Minute)) }), "", false},
		"Unwanted": {"Somebody deleted it before its time was over.", claim(func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionLaunched, v1.ReasonLaunchFailed, "", at(0))
			deleted(c, time.Minute)
		}), "", true},
		"NotLaunched": {"Its launch took too long.", claim(func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionLaunched, v1.ReasonLaunchFailed, "", at(0))
			deleted(c, 5*time.Minute)
		}), "counted", true},
		"Early": {"It had a moment left to launch.", claim(func(c *v1.NodeClaim) {
			c.Conditions().Unknown(v1.ConditionLaunched, v1.ReasonLaunchFailed, "", at(0))
			deleted(c, 5*time.Minute-time.Second)
		}), "", true},
		"InTime": {"It had a moment left to register.", claim(func(c *v1.NodeClaim) {
			c.Conditions().True(v1.ConditionLaunched, "", "", at(time.Minute))
			deleted(c, 16*time.Minute-time.Second)
		}), "", true},
		"Stays":    {"It is given up by what gives up, not by the clock.", claim(func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionLaunched, "", "", at(-time.Hour)) }), "", false},
		"Silent":   {"It went before anything was tried.", claim(func(c *v1.NodeClaim) { deleted(c, time.Hour) }), "", false},
		"JustCame": {"It came up as this process began.", claim(func(c *v1.NodeClaim) { c.Conditions().True(v1.ConditionRegistered, "", "", at(0)) }), "counted", false},
		"NotRegistered": {"It was launched and did not register.", claim(func(c *v1.NodeClaim) {
			c.Conditions().True(v1.ConditionLaunched, "", "", at(time.Minute))
			deleted(c, 16*time.Minute)
		}), "counted", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			now := noon
			if tc.claim.DeletionTimestamp != nil {
				now = tc.claim.DeletionTimestamp.Time
			}
			o, known := pool.OutcomeOf(tc.claim, noon, now)
			if known != (tc.want != "") || known && o.Failed != tc.failed {
				t.Errorf("%+v %t: %s", o, known, tc.why)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	b := world.NewBuilder()
	id := world.PoolID{Kind: world.NodePool, Name: "p"}
	empty := world.PoolID{Kind: world.Provisioner, Name: "p"}
	node := func(name string, deleting bool) world.Node {
		return world.Node{Name: name, Pool: id, Deleting: deleting, Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: 2 * amount.Unit})}
	}
	for _, err := range []error{
		b.SetPool(world.Pool{ID: id}), b.SetPool(world.Pool{ID: empty}),
		b.SetNode(node("a", false)), b.SetNode(node("b", false)), b.SetNode(node("going", true)),
		b.SetClaim(world.Claim{Name: "coming", Pool: id, Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: 2 * amount.Unit})}),
		b.SetNode(world.Node{Name: "foreign", Capacity: amount.Of(amount.Entry{Name: amount.CPU, Value: amount.Unit})}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(noon.Unix())
	if all := pool.Usage(w); len(all) != 2 {
		t.Errorf("what is of no pool is told: %v", all)
	}
	p := nodePool()
	pool.Status(p, pool.Seen{Now: noon, Used: pool.Usage(w)[id]})
	got := map[string]string{}
	for k, q := range p.Status.Resources {
		got[string(k)] = q.String()
	}
	want := map[string]string{"cpu": "4", "memory": "0", "pods": "0", "ephemeral-storage": "0", "nodes": "2"}
	if diff := cmp.Diff(want, got); diff != "" || *p.Status.Nodes != 2 {
		t.Errorf("%d nodes, -want +got\n%s", *p.Status.Nodes, diff)
	}
	old := &v1alpha5.Provisioner{}
	pool.StatusOfProvisioner(old, pool.Usage(w)[empty], pool.Obstacle{}, pool.Scaled(w, empty), noon)
	old.Status.Conditions = nil // of an object without a class
	if diff := cmp.Diff(v1alpha5.ProvisionerStatus{}, old.Status); diff != "" {
		t.Errorf("a Provisioner without nodes has something to say:\n%s", diff)
	}
}

// A Provisioner whose class sells nothing says why, until it does.
func TestAProvisionerSaysWhyItBuysNothing(t *testing.T) {
	p := &v1alpha5.Provisioner{Spec: v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "nowhere"}}}
	pool.StatusOfProvisioner(p, nil, pool.Obstacle{Ready: `AWSNodeTemplate "nowhere" does not exist`}, time.Time{}, noon)
	if c := p.Status.Conditions; len(c) != 1 || c[0].Status != metav1.ConditionFalse || c[0].Message != `AWSNodeTemplate "nowhere" does not exist` {
		t.Errorf("it says %+v", c)
	}
	pool.StatusOfProvisioner(p, nil, pool.Obstacle{}, time.Time{}, noon)
	if c := p.Status.Conditions; len(c) != 0 {
		t.Errorf("it goes on to say %+v", c)
	}
}

func TestClassOf(t *testing.T) {
	o := &metav1.ObjectMeta{Generation: 3}
	said := []metav1.Condition{{Type: condition.Ready, Status: metav1.ConditionTrue, ObservedGeneration: 2}}
	if got := pool.ClassOf(o, said); got.Ready != "" {
		t.Errorf("what was said of another generation counts: %+v", got)
	}
	said[0].ObservedGeneration = 0
	if got := pool.ClassOf(o, said); got.Ready != metav1.ConditionTrue {
		t.Errorf("what was said of no generation does not count: %+v", got)
	}
	if got := pool.ClassOf(o, []metav1.Condition{{Type: "Other", Status: metav1.ConditionTrue, ObservedGeneration: 3}}); got.Ready != "" || got.Ending || got.Generation != 3 {
		t.Errorf("another condition counts: %+v", got)
	}
	if got := pool.ClassOf(&metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}, said); !got.Ending {
		t.Errorf("it is being deleted: %+v", got)
	}
	said[0].ObservedGeneration = 3
	if got := pool.ClassOf(o, said); got.Ready != metav1.ConditionTrue {
		t.Errorf("what was said of this generation does not count: %+v", got)
	}
}

// What is said of a wait, of a long list of problems and of what a Provisioner has is what there is to say.
func TestWords(t *testing.T) {
	p := nodePool()
	pool.Status(p, pool.Seen{Now: noon, Waits: "the third in a row came to nothing"})
	if c := p.Conditions().Get("BackOff"); c == nil || c.Status != metav1.ConditionTrue || c.Message != "the third in a row came to nothing" {
		t.Errorf("of its wait it is said %+v", c)
	}
	pool.Status(p, pool.Seen{Now: noon})
	if c := p.Conditions().Get("BackOff"); c != nil {
		t.Errorf("it waits no more, and it is said %+v", c)
	}
	for i := range 100 {
		p.Spec.Template.Spec.Taints = append(p.Spec.Template.Spec.Taints, corev1.Taint{Key: "not a key " + string(rune('a'+i%26)), Effect: corev1.TaintEffectNoSchedule})
	}
	pool.Status(p, pool.Seen{Now: noon})
	if c := p.Conditions().Get(v1.ConditionValidationSucceeded); c == nil || len(c.Message) != 1024+len("...") {
		t.Errorf("a hundred problems are told as %+v", c)
	}
	old := &v1alpha5.Provisioner{Spec: v1alpha5.ProvisionerSpec{ProviderRef: &v1alpha5.ProviderRef{Name: "n"}}}
	used := amount.Of(amount.Entry{Name: amount.CPU, Value: 2 * amount.Unit}, amount.Entry{Name: amount.Memory}, amount.Entry{Name: amount.Nodes, Value: amount.Unit})
	pool.StatusOfProvisioner(old, used, pool.Obstacle{Yet: "the third"}, noon.Add(-time.Hour), noon)
	if len(old.Status.Resources) != 1 || old.Status.Resources.Cpu().Value() != 2 {
		t.Errorf("of what it has it is said %v", old.Status.Resources)
	}
	if c := old.Status.Conditions; len(c) != 1 || c[0].Message != "the third" {
		t.Errorf("of its wait it is said %+v", c)
	}
	for _, scaled := range []time.Time{noon.Add(-2 * time.Hour), {}} {
		if pool.StatusOfProvisioner(old, used, pool.Obstacle{Yet: "the fourth"}, scaled, noon); !old.Status.LastScaleTime.Time.Equal(noon.Add(-time.Hour)) {
			t.Errorf("it is said to have been scaled at %s, before it was", old.Status.LastScaleTime)
		}
	}
	if c := old.Status.Conditions; len(c) != 1 || c[0].Message != "the fourth" {
		t.Errorf("of its wait it is said %+v", c)
	}
	if pool.StatusOfProvisioner(old, nil, pool.Obstacle{}, noon, noon); !old.Status.LastScaleTime.Time.Equal(noon) || len(old.Status.Resources) != 1 || len(old.Status.Conditions) != 0 {
		t.Errorf("an hour later it is said %+v", old.Status)
	}
}

// A pool was scaled when its newest node was made.
func TestScaled(t *testing.T) {
	b := world.NewBuilder()
	p, q := world.PoolID{Kind: world.NodePool, Name: "p"}, world.PoolID{Kind: world.NodePool, Name: "q"}
	for _, err := range []error{
		b.SetNode(world.Node{Name: "a", Pool: p, Created: 100}), b.SetNode(world.Node{Name: "b", Pool: p, Created: 300}), b.SetNode(world.Node{Name: "c", Pool: p, Created: 200}),
		b.SetNode(world.Node{Name: "d", Pool: q, Created: 900}), b.SetClaim(world.Claim{Name: "e", Pool: p}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := b.Snapshot(1000)
	if got := pool.Scaled(w, p); got.Unix() != 300 {
		t.Errorf("it was scaled at %d, want 300", got.Unix())
	}
	if got := pool.Scaled(w, world.PoolID{Kind: world.NodePool, Name: "r"}); !got.IsZero() {
		t.Errorf("one without nodes was scaled at %s", got)
	}
}
