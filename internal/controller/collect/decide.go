// Package collect brings machines, nodes and claims together again when one of them is left alone.
//
// A node of ours without a claim is adopted first: it gets one. Whose it is says
// the list of machines; a node's labels can be anyone's. Only then is a machine
// that has neither claim nor node ended, and a claim let go whose machine is gone,
// or has lost its node for good. All wait until two complete lists agree, for a machine with some time between
// them, and when much looks lost at once, nothing is ended or let go that the
// cloud does not know to have ended: then more likely the list is wrong.
package collect

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "github.com/tenon-sh/tenon/api/karpenter/v1"
	"github.com/tenon-sh/tenon/api/karpenter/v1alpha5"
	"github.com/tenon-sh/tenon/engine/world"
	"github.com/tenon-sh/tenon/internal/annotation"
	"github.com/tenon-sh/tenon/internal/cloud"
	"github.com/tenon-sh/tenon/internal/observe"
)

// grown is how old a machine or a launch must be to be missed by anyone.
const grown = 5 * time.Minute

// settled is how old a node must be to be adopted, or how long ago one must have
// registered for its claim to miss it.
const settled = 30 * time.Second

// maxLost is how many machines, or claims, may look lost at once, or one in maxLostShare, whichever is more.
const (
	maxLost      = 5
	maxLostShare = 10
)

// Seen is one look at all three: the machines first, then what the API server has.
type Seen struct {
	Machines []cloud.Machine
	Claims   []v1.NodeClaim
	Nodes    []corev1.Node
	At       time.Time
}

// Verdict is what a look comes to.
type Verdict struct {
	Adopt    []*corev1.Node                // nodes that need a claim
	Finish   []*v1.NodeClaim               // adoptions that were not written to their end
	Suspects map[cloud.MachineID]time.Time // machines that look lost, and since when
	End      []cloud.Machine               // those that have looked lost for long enough
	Missing  map[string]bool               // claims whose machine is not there
	Lost     []*v1.NodeClaim               // those that missed it the last time as well
	TooMany  bool                          // so many look lost that nothing is ended
	TooFew   bool                          // so many claims miss their machine that the list proves nothing
	Nodeless map[string]time.Time          // claims whose machine runs and whose node, which had joined, is not there, and since when
	Deserted []*v1.NodeClaim               // those that have been without it for long enough
	Strange  []*corev1.Node                // nodes that look like ours and have no machine of ours
	Unsure   int                           // how many looks in a row a claim has missed its machine that the next look may decide about
}

// Judge compares a look with the one before.
func Judge(s Seen, before Verdict) Verdict {
	v := Verdict{Suspects: map[cloud.MachineID]time.Time{}, Missing: map[string]bool{}, Nodeless: map[string]time.Time{}}
	o := v.owners(s)
	v.strangers(s, o)
	there := v.suspects(s, o, before)
	v.lost(s, there, o.joined, before)
	v.deserted(s, there, o.joined, before)
	return v
}

// owners are what machines belong to, by their provider IDs but for orders.
type owners struct {
	claims map[string]bool
	orders map[string]bool // that claims still wait for
	joined map[string]*corev1.Node
}

// owners finds them, and the claims whose adoption is to be finished.
func (v *Verdict) owners(s Seen) owners {
	o := owners{claims: map[string]bool{}, orders: map[string]bool{}, joined: map[string]*corev1.Node{}}
	for i := range s.Claims {
		c := &s.Claims[i]
		switch {
		case c.Status.ProviderID != "":
			o.claims[c.Status.ProviderID] = true
		case c.Annotations[annotation.Adopts] != "":
			o.claims[c.Annotations[annotation.Adopts]] = true
			if c.DeletionTimestamp == nil {
				v.Finish = append(v.Finish, c)
			}
		case c.Annotations[v1.AnnotationOrder] != "":
			o.orders[c.Annotations[v1.AnnotationOrder]] = true
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; n.Spec.ProviderID != "" {
			o.joined[n.Spec.ProviderID] = n
		}
	}
	return o
}

// strangers finds the nodes that have no claim: those whose machine is ours are adopted.
func (v *Verdict) strangers(s Seen, o owners) {
	bought := map[string]bool{} // provider IDs of machines that a claim still waits for
	own := map[string]bool{}
	for _, m := range s.Machines {
		bought[m.ProviderID] = o.orders[m.Order]
		own[m.ProviderID] = ours(m) && !m.Ending
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		switch id := n.Spec.ProviderID; {
		case !alone(n, s.At) || o.claims[id] || bought[id]:
		case own[id]:
			v.Adopt = append(v.Adopt, n)
		default:
			v.Strange = append(v.Strange, n)
		}
	}
}

// suspects finds the machines that have no owner, and ends those that had none at an earlier look either. It returns
// the provider IDs of all machines that are there.
func (v *Verdict) suspects(s Seen, o owners, before Verdict) (there map[string]bool) {
	there = map[string]bool{}
	var again []cloud.Machine
	for _, m := range s.Machines {
		if m.Ending {
			continue
		}
		there[m.ProviderID] = true
		if o.claims[m.ProviderID] || o.joined[m.ProviderID] != nil || o.orders[m.Order] || !ours(m) || s.At.Sub(m.Launched) < grown {
			continue
		}
		since, suspect := before.Suspects[m.ID]
		if !suspect {
			since = s.At
		}
		v.Suspects[m.ID] = since
		if s.At.Sub(since) >= listEvery {
			again = append(again, m)
		}
	}
	if v.TooMany = many(len(v.Suspects), len(s.Machines)); !v.TooMany {
		v.End = again
	}
	return there
}

// many reports whether so many of all look lost that something else is wrong.
func many(lost, all int) bool { return lost >= max(maxLost, (all+maxLostShare-1)/maxLostShare) }

// The waits between two looks: the common one, and the first after a look that
// is not sure of something. Which nodes are ill is asked no more often than pace.
const (
	listEvery      = 2 * time.Minute
	listAgainAfter = 15 * time.Second
	pace           = time.Second
)

// After is how long after a look the next one is. What stays unsure is looked at
// less and less often.
func (v Verdict) After() time.Duration {
	if v.Unsure == 0 {
		return listEvery
	}
	return min(listAgainAfter<<min(v.Unsure-1, 10), listEvery)
}

// Ill are the nodes of claims that have been in use and are not ready.
func Ill(w *world.World) map[string]bool {
	out := map[string]bool{}
	for _, p := range w.Places() {
		if p.Node != nil && p.Claim != nil && p.Claim.Initialized && !p.Node.Ready && !p.Deleting() {
			out[p.Node.Name] = true
		}
	}
	return out
}

// alone reports whether a node is one of ours that may need a claim. One that
// has only just joined may have a claim that does not show it yet.
func alone(n *corev1.Node, now time.Time) bool {
	return n.Spec.ProviderID != "" && observe.PoolOf(n.Labels) != (world.PoolID{}) && n.DeletionTimestamp == nil && now.Sub(n.CreationTimestamp.Time) >= settled
}

// lost finds claims whose machine is gone while their node does not say that it
// is well. It is unsure of the others: a kubelet may be dead without having been noticed.
func (v *Verdict) lost(s Seen, there map[string]bool, joined map[string]*corev1.Node, before Verdict) {
	missing, all := 0, 0
	defer func() { v.TooFew = many(missing, all) }()
	for i := range s.Claims {
		c := &s.Claims[i]
		id := c.Status.ProviderID
		if id != "" {
			all++
		}
		if id == "" || there[id] || c.DeletionTimestamp != nil || !missed(c, s.At, joined[id] != nil) {
			continue
		}
		missing++
		switch n := joined[id]; {
		case n != nil && ready(n):
			v.Unsure = before.Unsure + 1
		case before.Missing[c.Name]:
			v.Missing[c.Name], v.Lost = true, append(v.Lost, c)
		default:
			v.Missing[c.Name], v.Unsure = true, before.Unsure+1
		}
	}
}

// deserted finds claims whose machine runs although its node, which had joined, has been deleted: by a person who took its
// finalizers off. The kubelet makes no new one, Kubernetes deletes the pods that were there, and no other pod can come. Where much looks
// like that at once, nodes are more likely to have been lost in another way, and may be back.
func (v *Verdict) deserted(s Seen, there map[string]bool, joined map[string]*corev1.Node, before Verdict) {
	names := map[string]bool{}
	for i := range s.Nodes {
		names[s.Nodes[i].Name] = true
	}
	all := 0
	var again []*v1.NodeClaim
	for i := range s.Claims {
		c := &s.Claims[i]
		registered := c.Conditions().Get(v1.ConditionRegistered)
		if !there[c.Status.ProviderID] || c.Status.NodeName == "" || registered == nil || registered.Status != metav1.ConditionTrue {
			continue
		}
		all++
		if joined[c.Status.ProviderID] != nil || names[c.Status.NodeName] || c.DeletionTimestamp != nil || s.At.Sub(registered.LastTransitionTime.Time) < settled {
			continue
		}
		since, known := before.Nodeless[c.Name]
		if !known {
			since = s.At
		}
		v.Nodeless[c.Name] = since
		if s.At.Sub(since) >= listEvery {
			again = append(again, c)
		}
	}
	if !many(len(v.Nodeless), all) {
		v.Deserted = again
	}
}

// missed reports whether the machine of a claim would be seen by now if it were
// there. One that has joined was there; one that was only launched may not be listed yet.
func missed(c *v1.NodeClaim, now time.Time, joined bool) bool {
	launched, registered := c.Conditions().Get(v1.ConditionLaunched), c.Conditions().Get(v1.ConditionRegistered)
	switch {
	case launched == nil:
		return false
	case joined:
		return true
	case registered != nil && registered.Status == metav1.ConditionTrue:
		return now.Sub(registered.LastTransitionTime.Time) >= settled
	}
	return now.Sub(launched.LastTransitionTime.Time) >= grown
}

// ours reports whether a machine says that we or Karpenter made it for this cluster.
func ours(m cloud.Machine) bool {
	return m.Order != "" || m.Tags[v1.LabelNodePool] != "" || m.Tags[v1alpha5.LabelProvisioner] != ""
}

func ready(n *corev1.Node) bool {
	return slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

// Adopted is the claim for a node that has none, made from its pool's template;
// nil if the class of its machine is not known. What its machine is says the
// machine, and the node only what that does not. The name is the first of the
// node's that is not another's.
func Adopted(n *corev1.Node, m cloud.Machine, template *v1.NodeClaim, taken func(name string) bool) *v1.NodeClaim {
	pool := observe.PoolOf(n.Labels)
	c := &v1.NodeClaim{}
	if template != nil {
		c = template.DeepCopy()
	} else {
		c.Labels = map[string]string{}
		c.Spec.ExpireAfter = v1.Never // it is not said how old it may grow
		c.Spec.NodeClassRef = classOf(n)
	}
	if c.Spec.NodeClassRef == nil {
		return nil
	}
	c.GenerateName, c.Name = "", pool.Name+"-"+short(n.Spec.ProviderID)
	for i := 1; taken(c.Name); i++ {
		c.Name = pool.Name + "-" + short(n.Spec.ProviderID+"/"+strconv.Itoa(i))
	}
	c.Finalizers = []string{v1.Finalizer}
	// Hashes say what a machine was made from. That is not known of this one.
	c.Annotations = map[string]string{annotation.Adopts: n.Spec.ProviderID}
	c.Spec.Taints, c.Spec.StartupTaints = nil, nil
	c.Spec.Requirements = []v1.Requirement{}
	facts := map[string]string{v1.LabelInstanceType: m.Shape, v1.LabelZone: m.Zone, v1.LabelCapacityType: m.CapacityType}
	for _, key := range []string{v1.LabelInstanceType, v1.LabelZone, v1.LabelCapacityType, v1.LabelArch, v1.LabelOS, v1.LabelRegion} {
		if value := cmp.Or(facts[key], n.Labels[key]); value != "" {
			c.Labels[key] = value
			c.Spec.Requirements = append(c.Spec.Requirements, v1.Requirement{Key: key, Operator: corev1.NodeSelectorOpIn, Values: []string{value}})
		}
	}
	for key, value := range n.Labels {
		if key == v1.LabelNodePool || key == v1alpha5.LabelProvisioner || strings.HasPrefix(key, ofMachine) {
			c.Labels[key] = value
		}
	}
	if key, name, ok := className(c); ok && c.Labels[key] == "" {
		c.Labels[key] = name
	}
	return c
}

// ofMachine begins the labels by which a node says what machine it has.
const ofMachine = "karpenter.k8s.aws/"

// className is the label by which a claim and its node say of which class they
// are; false if no label can say it.
func className(c *v1.NodeClaim) (key, name string, ok bool) {
	ref := c.Spec.NodeClassRef
	if ref == nil || len(validation.IsValidLabelValue(ref.Name)) > 0 {
		return "", "", false
	}
	return v1.LabelNodeClass(ref.Group, ref.Kind), ref.Name, true
}

// classOf is the class that labels of a node name.
func classOf(n *corev1.Node) *v1.NodeClassReference {
	if name := n.Labels["karpenter.k8s.aws/ec2nodeclass"]; name != "" {
		return &v1.NodeClassReference{Group: "karpenter.k8s.aws", Kind: "EC2NodeClass", Name: name}
	}
	return nil
}

// Taken reports for each name whether it is a claim's of another machine.
func Taken(claims []v1.NodeClaim, providerID string) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(claims, func(c v1.NodeClaim) bool {
			return c.Name == name && c.Status.ProviderID != providerID && c.Annotations[annotation.Adopts] != providerID
		})
	}
}

// Write writes to the status of an adopting claim what its node shows of the machine.
func Write(c *v1.NodeClaim, n *corev1.Node, image string, now time.Time) {
	c.Status.ProviderID, c.Status.ImageID = n.Spec.ProviderID, image
	c.Status.Capacity, c.Status.Allocatable = n.Status.Capacity, n.Status.Allocatable
	c.Status.LastPodEventTime = metav1.NewTime(now.Truncate(time.Second)) // when its pods came is not known: it is quiet from now
	c.Conditions().True(v1.ConditionLaunched, "", "", now)
}

// short is five letters that belong to a provider ID.
func short(id string) string {
	h := fnv.New32a()
	h.Write([]byte(id))
	s := "0000" + strconv.FormatUint(uint64(h.Sum32()), 36)
	return s[len(s)-5:]
}
