package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/tenon-sh/tenon/api/aws/v1"
	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/internal/kubetest"
	"github.com/tenon-sh/tenon/test/stage"
)

// soon is how long anything may take that has no time of its own: many times
// what an idle computer needs, for checks run side by side, and not alone.
const soon = 3 * time.Minute

// story is what one check plays with. All that it makes bears its name.
type story struct {
	*testing.T
	*stage.Stage

	name string // of its pool
	ns   string
}

// tell begins a story.
func tell(t *testing.T, s *stage.Stage, name string) *story {
	t.Helper()
	return &story{T: t, Stage: s, name: strings.ToLower(name), ns: kubetest.Namespace(t)}
}

// pool makes the story's pool of small on-demand machines.
func (s *story) pool(change ...func(*v1.NodePool)) *v1.NodePool { return s.poolOf(s.name, change...) }

// poolOf makes a pool of another name, which is cleared away with the others.
func (s *story) poolOf(name string, change ...func(*v1.NodePool)) *v1.NodePool {
	s.Helper()
	p := stage.Pool(name)
	for _, f := range change {
		f(p)
	}
	s.create(p)
	return p
}

// only has a pool sell nothing but some types.
func only(names ...string) func(*v1.NodePool) {
	return func(p *v1.NodePool) {
		p.Spec.Template.Spec.Requirements[1].Values = names
	}
}

// pod makes a pod that can run on machines of the story's pool only. It asks for
// so much that two do not fit onto one of the small machines.
func (s *story) pod(name string, change ...func(*corev1.Pod)) *corev1.Pod {
	s.Helper()
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name, Labels: map[string]string{"app": name}},
		Spec: corev1.PodSpec{
			NodeSelector:                  map[string]string{v1.LabelNodePool: s.name},
			TerminationGracePeriodSeconds: new(int64),
			Containers: []corev1.Container{{Name: "a", Image: "a", Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("1")},
			}}},
		},
	}
	for _, f := range change {
		f(p)
	}
	s.create(p)
	return p
}

// create makes an object, and has it go after the test.
func (s *story) create(o client.Object) {
	s.Helper()
	s.Make(s.T, o)
	s.Cleanup(func() { _ = s.Client.Delete(context.Background(), o) })
}

// get reads an object again.
func (s *story) get(o client.Object) error {
	return s.Client.Get(s.Context(), client.ObjectKeyFromObject(o), o)
}

// patch changes an object by a merge patch.
func (s *story) patch(o client.Object, format string, args ...any) {
	s.Helper()
	if err := s.Client.Patch(s.Context(), o, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, format, args...))); err != nil {
		s.Fatalf("patch %s: %v", o.GetName(), err)
	}
}

// await waits until check has nothing to say.
func (s *story) await(check func() error) {
	s.Helper()
	kubetest.Within(s.T, soon, check)
}

// stays fails the story when check says something before a while has passed.
func (s *story) stays(long time.Duration, check func() error) {
	s.Helper()
	end := time.After(long)
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		if err := check(); err != nil {
			s.Fatalf("it did not stay so for %s: %v", long, err)
		}
		select {
		case <-end:
			return
		case <-tick.C:
		}
	}
}

// claims are those of a pool, by name.
func (s *story) claims(pool string) []v1.NodeClaim {
	s.Helper()
	var list v1.NodeClaimList
	if err := s.Client.List(s.Context(), &list, client.MatchingLabels{v1.LabelNodePool: pool}); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// nodes are those of a pool.
func (s *story) nodes(pool string) []corev1.Node {
	s.Helper()
	var list corev1.NodeList
	if err := s.Client.List(s.Context(), &list, client.MatchingLabels{v1.LabelNodePool: pool}); err != nil {
		s.Fatal(err)
	}
	return list.Items
}

// has waits until the story's pool has so many claims, and none is leaving.
func (s *story) has(n int) []v1.NodeClaim {
	s.Helper()
	var claims []v1.NodeClaim
	s.await(func() error {
		claims = s.claims(s.name)
		for _, c := range claims {
			if c.DeletionTimestamp != nil {
				return fmt.Errorf("claim %s is leaving", c.Name)
			}
		}
		if len(claims) != n {
			return fmt.Errorf("%d claims of pool %s, want %d", len(claims), s.name, n)
		}
		return nil
	})
	return claims
}

// ready waits until the story's pool has so many claims that are ready, and
// returns them.
func (s *story) ready(n int) []v1.NodeClaim {
	s.Helper()
	var claims []v1.NodeClaim
	s.await(func() error {
		claims = s.claims(s.name)
		is := 0
		for i := range claims {
			if claims[i].Conditions().Is("Ready") && claims[i].DeletionTimestamp == nil {
				is++
			}
		}
		if is != n || len(claims) != n {
			return fmt.Errorf("%d of %d claims of pool %s are ready, want %d: %s", is, len(claims), s.name, n, said(claims))
		}
		return nil
	})
	return claims
}

// said is what claims say of themselves, for people.
func said(claims []v1.NodeClaim) string {
	var out []string
	for _, c := range claims {
		text := c.Name
		for _, x := range c.Status.Conditions {
			if x.Status != metav1.ConditionTrue {
				text += fmt.Sprintf(" %s=%s(%s %s)", x.Type, x.Status, x.Reason, x.Message)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "; ")
}

// nodeOf is the node of a claim.
func (s *story) nodeOf(c *v1.NodeClaim) *corev1.Node {
	s.Helper()
	n := &corev1.Node{}
	if err := s.Client.Get(s.Context(), client.ObjectKey{Name: c.Status.NodeName}, n); err != nil {
		s.Fatalf("node %q of claim %s: %v", c.Status.NodeName, c.Name, err)
	}
	return n
}

// runs waits until a pod runs, and returns the name of its node.
func (s *story) runs(p *corev1.Pod) string {
	s.Helper()
	s.await(func() error {
		if err := s.get(p); err != nil {
			return err
		}
		if p.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s is %s on node %q", p.Name, p.Status.Phase, p.Spec.NodeName)
		}
		return nil
	})
	return p.Spec.NodeName
}

// gone waits until objects are gone.
func (s *story) gone(objects ...client.Object) {
	s.Helper()
	s.await(func() error {
		for _, o := range objects {
			err := s.get(o)
			if err == nil {
				return fmt.Errorf("%T %s is still there, deleted %v, finalizers %v", o, o.GetName(), o.GetDeletionTimestamp(), o.GetFinalizers())
			}
			if client.IgnoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	})
}

// event waits for an event about an object with a reason and some words, and returns it.
func (s *story) event(o client.Object, reason string, words ...string) corev1.Event {
	s.Helper()
	var found corev1.Event
	s.await(func() error {
		all := s.events(o)
		var seen []string
	next:
		for _, e := range all {
			seen = append(seen, e.Reason+": "+e.Message)
			for _, w := range words {
				if !strings.Contains(e.Message, w) {
					continue next
				}
			}
			if e.Reason == reason {
				found = e
				return nil
			}
		}
		return fmt.Errorf("no event %s about %s that says %q, only %q", reason, o.GetName(), words, seen)
	})
	return found
}

// events are the controller's about an object; kube-scheduler's are its own.
func (s *story) events(o client.Object) []corev1.Event {
	s.Helper()
	var list corev1.EventList
	if err := s.Client.List(s.Context(), &list); err != nil {
		s.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(e corev1.Event) bool {
		return e.InvolvedObject.UID != o.GetUID() && (e.InvolvedObject.Name != o.GetName() || e.InvolvedObject.Namespace != o.GetNamespace()) ||
			cmp.Or(e.Source.Component, e.ReportingController) != "karpenter"
	})
}

// condition waits until an object of ours has a condition with a status and a reason.
func (s *story) condition(o client.Object, kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
	s.Helper()
	var out metav1.Condition
	s.await(func() error {
		if err := s.get(o); err != nil {
			return err
		}
		c := conditionOf(o, kind)
		if c == nil || c.Status != status || c.Reason != reason {
			return fmt.Errorf("%s of %s is %+v, want %s with reason %s", kind, o.GetName(), c, status, reason)
		}
		if c.ObservedGeneration != o.GetGeneration() {
			return fmt.Errorf("%s of %s speaks of generation %d, it is %d", kind, o.GetName(), c.ObservedGeneration, o.GetGeneration())
		}
		out = *c
		return nil
	})
	return out
}

func conditionOf(o client.Object, kind string) *metav1.Condition {
	switch o := o.(type) {
	case *v1.NodePool:
		return o.Conditions().Get(kind)
	case *v1.NodeClaim:
		return o.Conditions().Get(kind)
	case *awsv1.EC2NodeClass:
		return o.Conditions(false).Get(kind)
	}
	return nil
}

// isnt fails a check that something is as it is not, all at once.
type isnt struct{ errs []error }

// is notes that something differs from what it should be.
func (i *isnt) is(ok bool, format string, args ...any) {
	if !ok {
		i.errs = append(i.errs, fmt.Errorf(format, args...))
	}
}

func (i *isnt) err() error { return errors.Join(i.errs...) }

// tainted reports whether a node has a taint.
func tainted(n *corev1.Node, key string, effect corev1.TaintEffect) bool {
	return slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key && t.Effect == effect })
}

// machine is the instance of a claim.
func (s *story) machine(c *v1.NodeClaim) string {
	return c.Status.ProviderID[strings.LastIndex(c.Status.ProviderID, "/")+1:]
}

// ended waits until the machine of a claim is no more.
func (s *story) ended(c *v1.NodeClaim) {
	s.Helper()
	s.await(func() error {
		for _, i := range s.Alive() {
			if i.ID == s.machine(c) {
				return fmt.Errorf("machine %s of claim %s is %s", i.ID, c.Name, i.State)
			}
		}
		return nil
	})
}
