package terminate_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/enginetest/chance"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/controller/terminate"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func pod(name string, change ...func(*world.Pod)) *world.Pod {
	p := &world.Pod{Key: world.Key{Namespace: "d", Name: name}, UID: name, Disruption: world.PodDisruption{Grace: 30}}
	for _, f := range change {
		f(p)
	}
	return p
}

func done(p *world.Pod)      { p.Done = true }
func daemon(p *world.Pod)    { p.DaemonSet = "agent" }
func critical(p *world.Pod)  { p.Disruption.Critical = true }
func forbidden(p *world.Pod) { p.Disruption.Forbidden = true }
func static(p *world.Pod)    { p.Static = true }
func tolerant(p *world.Pod)  { p.Tolerations = []world.Toleration{{Exists: true}} }
func ending(at time.Time) func(*world.Pod) {
	return func(p *world.Pod) { p.Terminating, p.Ends = true, at.Unix() }
}

func TestNext(t *testing.T) {
	long := noon.Add(-time.Minute)
	tests := map[string]struct {
		why  string
		node terminate.Node
		want terminate.Step
	}{
		"New":        {"Nothing else may come before pods are kept off.", terminate.Node{Ready: true, Pods: []*world.Pod{pod("p")}}, terminate.Taint},
		"Pods":       {"Pods leave before the machine ends.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p")}}, terminate.Drain},
		"Forbidden":  {"A pod that must not be moved is waited for.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p", forbidden)}}, terminate.Drain},
		"Settling":   {"A pod may have been bound just before the taint.", terminate.Node{Tainted: noon.Add(-4 * time.Second), Ready: true}, terminate.Drain},
		"Settled":    {"A pod that was bound before the taint would have been seen by now.", terminate.Node{Tainted: noon.Add(-5 * time.Second), Ready: true}, terminate.End},
		"Hurried":    {"After the deadline not even that is waited for.", terminate.Node{Tainted: noon.Add(-time.Second), Ready: true, Deadline: noon}, terminate.End},
		"Done":       {"A pod that has come to its end holds nothing.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p", done)}}, terminate.End},
		"EarlyPods":  {"A deadline that is to come cuts nothing short.", terminate.Node{Tainted: noon.Add(-time.Second), Ready: true, Deadline: noon.Add(time.Second)}, terminate.Drain},
		"Early":      {"Nor are volumes cut off before it.", terminate.Node{Tainted: long, Ready: true, Attached: 1, Deadline: noon.Add(time.Second)}, terminate.Detach},
		"Volumes":    {"A volume that is cut off may lose data.", terminate.Node{Tainted: long, Ready: true, Attached: 1}, terminate.Detach},
		"Late":       {"After the deadline nothing is waited for but the pods that were forced.", terminate.Node{Tainted: long, Ready: true, Attached: 1, Deadline: noon}, terminate.End},
		"Empty":      {"Pods that stay do not hold the machine.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("s", static), pod("t", tolerant)}}, terminate.End},
		"Stuck":      {"A pod that no kubelet ends is given up a minute after its grace.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p", ending(noon.Add(-61*time.Second)))}, Dead: map[string]bool{"p": true}}, terminate.End},
		"NotStuck":   {"Until then it may still end properly.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p", ending(noon.Add(-59*time.Second)))}}, terminate.Drain},
		"SetAhead":   {"The clock says that it should have ended an hour ago, and no minute has passed: it is waited for.", terminate.Node{Tainted: long, Ready: true, Pods: []*world.Pod{pod("p", ending(noon.Add(-time.Hour)))}}, terminate.Drain},
		"Ended":      {"When the machine is gone, so is the node.", terminate.Node{Tainted: long, Ready: true, Gone: true}, terminate.Release},
		"Crashed":    {"A node whose machine vanished is let go of at once, whatever ran there.", terminate.Node{Gone: true, Pods: []*world.Pod{pod("p")}}, terminate.Release},
		"Off":        {"A kubelet whose machine we ended may not have been missed yet.", terminate.Node{Ready: true, Gone: true, Ended: true, Pods: []*world.Pod{pod("p")}}, terminate.Release},
		"GoingOff":   {"Until its machine is off, the kubelet may still end pods.", terminate.Node{Tainted: long, Ready: true, Ended: true, Pods: []*world.Pod{pod("p")}}, terminate.Drain},
		"StillReady": {"A kubelet that still answers is believed more than a list.", terminate.Node{Tainted: long, Ready: true, Gone: true, Pods: []*world.Pod{pod("p")}}, terminate.Drain},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.node.Now = noon
			if got := terminate.Next(tc.node); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestLeave(t *testing.T) {
	tests := map[string]struct {
		why          string
		pods         []*world.Pod
		deadline     time.Time
		evict, force []string
		left         int
	}{
		"FirstTier":  {why: "Plain pods go first.", pods: []*world.Pod{pod("a"), pod("b", daemon), pod("c", critical), pod("d", daemon, critical)}, evict: []string{"a"}, left: 4},
		"SecondTier": {why: "Then daemons.", pods: []*world.Pod{pod("b", daemon), pod("c", critical), pod("d", daemon, critical)}, evict: []string{"b"}, left: 3},
		"ThirdTier":  {why: "Then what the cluster needs.", pods: []*world.Pod{pod("c", critical), pod("d", daemon, critical)}, evict: []string{"c"}, left: 2},
		"LastTier":   {why: "Last the daemons that it needs.", pods: []*world.Pod{pod("d", daemon, critical)}, evict: []string{"d"}, left: 1},
		"Waits":      {why: "A tier waits for the one before, also for pods that are on their way or refuse to go.", pods: []*world.Pod{pod("a", ending(noon.Add(time.Second))), pod("b", forbidden), pod("c", critical)}, left: 3},
		"Stays":      {why: "Pods that go down with the node are not asked.", pods: []*world.Pod{pod("a", static), pod("b", tolerant)}},
		"InTime":     {why: "There is grace enough left.", pods: []*world.Pod{pod("a")}, deadline: noon.Add(31 * time.Second), evict: []string{"a"}, left: 1},
		"Forced":     {why: "The grace would end after the deadline, whatever the pod says and whichever its tier.", pods: []*world.Pod{pod("a", forbidden), pod("c", critical)}, deadline: noon.Add(30 * time.Second), force: []string{"a", "c"}, left: 2},
		"Once":       {why: "One that is forced is not asked as well.", pods: []*world.Pod{pod("a")}, deadline: noon.Add(30 * time.Second), force: []string{"a"}, left: 1},
		"Done":       {why: "What has come to its end is left alone, and no tier waits for it.", pods: []*world.Pod{pod("a", done), pod("c", critical)}, evict: []string{"c"}, left: 1},
		"Shortened":  {why: "A pod that is on its way but would take too long is cut short.", pods: []*world.Pod{pod("a", ending(noon.Add(time.Hour)))}, deadline: noon.Add(time.Minute), force: []string{"a"}, left: 1},
		"Ends":       {why: "One that ends in time is left alone.", pods: []*world.Pod{pod("a", ending(noon.Add(time.Second)))}, deadline: noon.Add(-time.Minute), left: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := terminate.Leave(terminate.Node{Now: noon, Deadline: tc.deadline, Pods: tc.pods})
			if diff := cmp.Diff([][]string{tc.evict, tc.force}, [][]string{names(got.Evict), names(got.Force)}); diff != "" || got.Left != tc.left {
				t.Errorf("%s left %d, want %d\n-want +got\n%s", tc.why, got.Left, tc.left, diff)
			}
		})
	}
}

// A node that waits says for how many pods, and names those that only their annotation keeps.
func TestWaiting(t *testing.T) {
	for want, pods := range map[string][]*world.Pod{
		"Failed to drain node, 1 pod(s) are waiting to be evicted": {pod("a")},
		"Failed to drain node, 4 pod(s) are waiting to be evicted; annotated karpenter.sh/do-not-disrupt: " + pod("b").String() + ", " + pod("c").String(): {
			pod("a", ending(noon.Add(time.Second)), forbidden), pod("c", forbidden), pod("b", forbidden, critical), pod("d"), pod("e", static, forbidden),
		},
	} {
		if got := terminate.Leave(terminate.Node{Now: noon, Pods: pods}).Waiting(); got != want {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
}

func names(pods []*world.Pod) []string {
	var out []string
	for _, p := range pods {
		out = append(out, p.Name)
	}
	return out
}

// However pods behave, a node with a deadline is let go of, and none without
// one ever kills a pod.
func TestDrainsComeToAnEnd(t *testing.T) {
	kinds := []func(*world.Pod){daemon, critical, forbidden, static, tolerant}
	chance.Check(t, func(t *rapid.T) {
		n := terminate.Node{Now: noon, Ready: true, Tainted: noon}
		if rapid.Bool().Draw(t, "deadline") {
			n.Deadline = noon.Add(time.Duration(rapid.IntRange(-100, 300).Draw(t, "at")) * time.Second)
		}
		deaf := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(t, "pods") {
			p := pod(string(rune('a' + i)))
			p.Disruption.Grace = int64(rapid.IntRange(0, 200).Draw(t, "grace"))
			for _, k := range kinds {
				if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
					k(p)
				}
			}
			deaf[p.Name] = rapid.Bool().Draw(t, "deaf")
			n.Pods = append(n.Pods, p)
		}
		for range 2000 {
			if terminate.Next(n) != terminate.Drain {
				return
			}
			step(t, &n, deaf)
			n.Now, n.Dead = n.Now.Add(time.Second), map[string]bool{}
			for _, p := range n.Pods {
				n.Dead[p.UID] = p.Terminating && n.Now.Sub(time.Unix(p.Ends, 0)) > terminate.Stuck
			}
		}
		if !n.Deadline.IsZero() {
			t.Fatalf("%d pods hold a node past its deadline", len(n.Pods))
		}
	})
}

// step lets one second pass as an API server and a kubelet would.
func step(t *rapid.T, n *terminate.Node, deaf map[string]bool) {
	l := terminate.Leave(*n)
	for _, p := range l.Evict {
		if p.Disruption.Forbidden {
			t.Fatalf("%s was evicted although it forbids it", p.Name)
		}
		if !deaf[p.Name] {
			p.Terminating, p.Ends = true, n.Now.Unix()+p.Disruption.Grace
		}
	}
	for _, p := range l.Force {
		if n.Deadline.IsZero() {
			t.Fatalf("%s was killed although there is no deadline", p.Name)
		}
		p.Terminating, p.Ends = true, n.Now.Unix()+int64(max(terminate.Grace(p, n.Now, n.Deadline), time.Second)/time.Second)
	}
	var left []*world.Pod
	for _, p := range n.Pods {
		if !p.Terminating || p.Ends > n.Now.Unix() || deaf[p.Name] {
			left = append(left, p)
		}
	}
	n.Pods = left
}

// A pod that is forced has what is left until the deadline, and never more than it asks for.
func TestGrace(t *testing.T) {
	for left, want := range map[time.Duration]time.Duration{time.Hour: 30 * time.Second, 30 * time.Second: 30 * time.Second, 10 * time.Second: 10 * time.Second, 0: 0, -time.Minute: 0} {
		if got := terminate.Grace(pod("a"), noon, noon.Add(left)); got != want {
			t.Errorf("granted %s, %s before the deadline, want %s", got, left, want)
		}
	}
}

func TestDeadline(t *testing.T) {
	plain := func(grace time.Duration, annotation string) *v1.NodeClaim {
		c := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}, Annotations: map[string]string{}}}
		if grace >= 0 {
			c.Spec.TerminationGracePeriod = &metav1.Duration{Duration: grace}
		}
		if annotation != "" {
			c.Annotations[v1.AnnotationTerminationTime] = annotation
		}
		return c
	}
	staying := plain(time.Hour, "")
	staying.DeletionTimestamp = nil
	tests := map[string]struct {
		why   string
		claim *v1.NodeClaim
		want  time.Time
	}{
		"None":      {"Without a grace period a drain takes as long as it takes.", plain(-1, ""), time.Time{}},
		"NoClaim":   {"A node without a claim has no grace period.", nil, time.Time{}},
		"Grace":     {"The grace counts from the deletion.", plain(time.Hour, ""), noon.Add(time.Hour)},
		"Zero":      {"A grace of nothing is a deadline that has passed.", plain(0, ""), noon},
		"Annotated": {"What is written wins: a repair may be in a hurry.", plain(time.Hour, "2026-01-01T12:00:05Z"), noon.Add(5 * time.Second)},
		"NotGoing":  {"Nothing is being deleted: no time runs.", staying, time.Time{}},
		"Garbage":   {"What cannot be read does not.", plain(time.Hour, "soon"), noon.Add(time.Hour)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := terminate.Deadline(tc.claim); !got.Equal(tc.want) {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}

func TestNextOfClaim(t *testing.T) {
	tests := map[string]struct {
		why   string
		claim terminate.Claim
		want  terminate.Step
	}{
		"Registered":   {"Its node drains first.", terminate.Claim{Registered: true, Nodes: 1, Machine: true}, terminate.DeleteNodes},
		"Unregistered": {"Nothing of the cluster runs there yet.", terminate.Claim{Nodes: 1, Machine: true}, terminate.End},
		"NodeGone":     {"Somebody deleted the node: the machine still has to end.", terminate.Claim{Registered: true, Machine: true}, terminate.End},
		"Leftover":     {"A node that never registered goes with its machine.", terminate.Claim{Nodes: 1, Machine: true, Gone: true}, terminate.SweepNodes},
		"Ended":        {"All is gone.", terminate.Claim{Registered: true, Machine: true, Gone: true}, terminate.Release},
		"Ordered":      {"A machine may have been bought for it: word of that is waited for.", terminate.Claim{Ordered: true}, terminate.Wait},
		"NeverBought":  {"There is nothing to end.", terminate.Claim{}, terminate.Release},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := terminate.NextOfClaim(tc.claim); got != tc.want {
				t.Errorf("%s, want %s: %s", got, tc.want, tc.why)
			}
		})
	}
}
