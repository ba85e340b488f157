// Package terminate ends nodes and claims that are being deleted: it keeps pods off, drains in tiers, waits for volumes, ends the machine, and only then lets go of the objects.
package terminate

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/engine/fit"
	"github.com/tenon-sh/tenon/engine/plan"
	"github.com/tenon-sh/tenon/engine/world"
)

// settle is how long a node is drained at least, so that a pod that was bound
// to it just before the taint is seen.
const settle = 5 * time.Second

// Stuck is how long after its grace is over a pod is waited for. Then its kubelet is dead.
const Stuck = time.Minute

// Node is all that the end of a node depends on.
type Node struct {
	Now      time.Time
	Tainted  time.Time // since when it is known to be tainted; zero: it is not
	Ready    bool
	Gone     bool      // its machine is no more
	Ended    bool      // it was we who ended it
	Deadline time.Time // when it goes, drained or not; zero: it waits as long as it takes
	Pods     []*world.Pod
	Dead     map[string]bool // pods, by UID, that no kubelet ends any more
	Attached int             // volumes that have to be detached before the machine ends
}

// Step is what is to be done next.
type Step string

// The steps, in order.
const (
	Taint   Step = "taint"   // keep pods off
	Drain   Step = "drain"   // have pods leave
	Detach  Step = "detach"  // wait for volumes
	End     Step = "end"     // end the machine, and wait until it is gone
	Release Step = "release" // let go of the object
)

// Next decides what is to be done with a node that is being deleted.
func Next(n Node) Step {
	switch {
	case n.Gone && (n.Ended || !n.Ready):
		return Release // no kubelet is left to end pods properly
	case n.Tainted.IsZero():
		return Taint
	case len(n.remaining()) > 0:
		return Drain
	case n.Now.Sub(n.Tainted) < settle && !n.late():
		return Drain
	case n.Attached > 0 && !n.late():
		return Detach
	case !n.Gone:
		return End
	}
	return Release
}

// late reports whether the deadline has passed.
func (n Node) late() bool { return !n.Deadline.IsZero() && !n.Now.Before(n.Deadline) }

// Leaving says which pods have to go now, and how.
type Leaving struct {
	Evict []*world.Pod // asked, as their budgets allow
	Force []*world.Pod // deleted: there is no time to ask
	Held  []*world.Pod // not asked: they are annotated do-not-disrupt
	Left  int          // pods that must be gone before the machine may end
}

// Waiting says how many pods a node waits for, and which of them nothing but a change of their annotation moves.
func (l Leaving) Waiting() string {
	text := fmt.Sprintf("Failed to drain node, %d pod(s) are waiting to be evicted", l.Left)
	if len(l.Held) == 0 {
		return text
	}
	held := make([]string, len(l.Held))
	for i, p := range l.Held {
		held[i] = p.String()
	}
	slices.Sort(held)
	return text + "; annotated karpenter.sh/do-not-disrupt: " + plan.Some(held, false)
}

// Leave decides which pods go now. The tiers go one after another: what runs
// everywhere and what the cluster cannot be without leave last.
func Leave(n Node) Leaving {
	pods := n.remaining()
	out := Leaving{Left: len(pods)}
	var tiers [4][]*world.Pod
	for _, p := range pods {
		if forced(p, n.Now, n.Deadline) {
			out.Force = append(out.Force, p)
		} else if !p.Terminating && p.Forbids(n.Now.Unix()) {
			out.Held = append(out.Held, p)
		}
		tiers[tier(p)] = append(tiers[tier(p)], p)
	}
	for _, t := range tiers {
		if len(t) == 0 {
			continue
		}
		for _, p := range t {
			if !p.Terminating && !slices.Contains(out.Held, p) && !slices.Contains(out.Force, p) {
				out.Evict = append(out.Evict, p)
			}
		}
		break
	}
	return out
}

// remaining are the pods that a machine waits for: not those that stay wherever
// a node goes, and not those that no kubelet ends any more.
func (n Node) remaining() []*world.Pod {
	var out []*world.Pod
	for _, p := range n.Pods {
		if !p.Done && !n.Dead[p.UID] && !Stays(p) {
			out = append(out, p)
		}
	}
	return out
}

// Stays reports whether a pod goes down with its machine: the node runs it by
// itself, or it tolerates that the node goes.
func Stays(p *world.Pod) bool {
	return p.Static || fit.Tolerated(p.Tolerations, world.Taint{Key: v1.TaintDisrupted, Effect: world.NoSchedule})
}

func tier(p *world.Pod) int {
	t := 0
	if p.DaemonSet != "" {
		t++
	}
	if p.Disruption.Critical {
		t += 2
	}
	return t
}

// forced reports whether a pod can no longer have its whole grace before the
// deadline. One that ends in time anyway is left alone.
func forced(p *world.Pod, now, deadline time.Time) bool {
	if deadline.IsZero() {
		return false
	}
	if p.Terminating {
		return p.Ends > max(deadline.Unix(), now.Unix()+1)
	}
	return now.Unix() >= deadline.Unix()-p.Disruption.Grace
}

// Grace is what is left of a pod's grace before the deadline.
func Grace(p *world.Pod, now, deadline time.Time) time.Duration {
	return min(max(deadline.Sub(now), 0), time.Duration(p.Disruption.Grace)*time.Second)
}

// Deadline is when the node of a claim that is being deleted goes, drained or
// not; zero if it may take as long as it takes.
func Deadline(c *v1.NodeClaim) time.Time {
	if c == nil {
		return time.Time{}
	}
	if at, err := time.Parse(time.RFC3339, c.Annotations[v1.AnnotationTerminationTime]); err == nil {
		return at
	}
	if c.Spec.TerminationGracePeriod != nil && c.DeletionTimestamp != nil {
		return c.DeletionTimestamp.Add(c.Spec.TerminationGracePeriod.Duration)
	}
	return time.Time{}
}

// Claim is all that the end of a claim depends on.
type Claim struct {
	Registered bool
	Nodes      int  // of its machine
	Open       int  // among them that take pods
	Machine    bool // it has one
	Gone       bool // and that is no more
	Ordered    bool // one may have been bought that it does not know of yet
}

// The steps of a claim beside End and Release.
const (
	DeleteNodes Step = "delete nodes" // which drains them and ends the machine
	SweepNodes  Step = "sweep nodes"  // objects whose machine is gone
	Wait        Step = "wait"         // for word of its machine
)

// NextOfClaim decides what is to be done with a claim that is being deleted. A
// machine that has not registered runs no pods, unless a node of it takes them
// all the same: without either it ends at once.
func NextOfClaim(c Claim) Step {
	switch {
	case c.Registered && c.Nodes > 0, c.Open > 0:
		return DeleteNodes
	case c.Machine && !c.Gone:
		return End
	case c.Nodes > 0:
		return SweepNodes
	case c.Ordered:
		return Wait
	}
	return Release
}

// open reports whether a node takes pods before it is matched with its claim, as
// adopted ones do, and those of Provisioners.
func open(n *corev1.Node) bool {
	return !slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == v1.TaintUnregistered && t.Effect == corev1.TaintEffectNoExecute
	})
}

// tainted reports whether a node carries the mark of one that goes.
func tainted(n *corev1.Node) bool {
	return n.Labels[v1.LabelExcludeBalancers] != "" && slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == v1.TaintDisrupted && t.Effect == corev1.TaintEffectNoSchedule
	})
}
